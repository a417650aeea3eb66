//! What a column that is not one of numbers holds, and what to do with it.

use super::levels::{Levels, MOST};
use crate::times;
use crate::wording::with_value;

/// What a column of text, or of another kind than numbers, holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Two words for yes and no.
    Truth,
    /// A few texts that come again and again.
    Category,
    /// A different text in almost every row.
    Names,
    /// The same text everywhere.
    Constant,
    /// Numbers, but for a few cells.
    Numbers,
    /// Numbers whose thousands are set apart.
    Thousands,
    /// Dates.
    Dates,
    /// What no fit can use.
    Other(&'static str),
}

/// Words for no and yes. Single letters need both to be there, since F and N stand for much else.
const PAIRS: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["f", "t"], ["n", "y"]];

/// Whether a word is the yes of one of the pairs; none where it is in no pair.
pub(super) fn truth(word: &str) -> Option<bool> {
    let place = |pair: &[&str; 2]| pair.iter().position(|own| own.eq_ignore_ascii_case(word));
    PAIRS.iter().find_map(place).map(|place| place == 1)
}

impl Holds {
    /// What a column of so many rows holds.
    pub(super) fn of(levels: &Levels, rows: usize) -> Self {
        let texts = levels.in_order();
        match levels.said {
            Some(Holds::Category) if levels.known => Holds::Category,
            Some(Holds::Category) if levels.full => Holds::Names,
            Some(Holds::Category) if texts.len() < 2 => Holds::Constant,
            Some(said) => said,
            None if levels.numbers == 0 && !levels.full && are_truths(&texts) => Holds::Truth,
            None if levels.numbers >= levels.texts => Holds::Numbers,
            None if !levels.full && texts.iter().all(|text| times::looks_like_a_date(text)) => Holds::Dates,
            None if !levels.full && texts.len() == 1 && levels.numbers == 0 => Holds::Constant,
            None if levels.full || 2 * texts.len() > rows => Holds::Names,
            None => Holds::Category,
        }
    }

    /// Why a fit cannot take a column, and which flag or family suits it; `levels` are its texts in so many rows.
    pub(super) fn remedy(self, column: &str, levels: &Levels, rows: usize) -> String {
        let count = levels.len();
        let [without, labels, id, time] = ["without", "labels", "id", "time"].map(|name| with_value(name, column));
        let leave_out = format!("leave it out with {without}");
        match self {
            Holds::Truth => "write yes and no, or true and false".into(),
            Holds::Category => format!(
                "its column holds {count} different texts: fit it as a category with ⟨likelihood=auto⟩ (⟨doctor-blocks⟩ lists families to edit), colour the picture by it with {labels}, or {leave_out}"
            ),
            Holds::Names => {
                let more = if levels.full { format!("more than {MOST}") } else { count.to_string() };
                format!(
                    "its column holds {more} different texts in {rows} rows, which look like names of the rows: name them with {id}, colour the picture by them with {labels}, or {leave_out}"
                )
            }
            Holds::Constant => {
                format!("its column holds the same text in every row, which carries no information: {leave_out}")
            }
            Holds::Numbers => {
                // A text that was cut short, or that a list of words would take apart, cannot be typed.
                let text = levels.first.as_ref().map_or("", |(_, text)| text.as_str());
                let na = match text.contains([',', '…']) {
                    true => String::new(),
                    false => format!(", or have every such cell read as missing with {}", with_value("na", text)),
                };
                format!(
                    "correct it, leave the cell empty if it is missing{na}; if its column holds text, name it with ⟨labels⟩ or ⟨id⟩"
                )
            }
            Holds::Thousands => {
                "it looks like a number whose thousands are set apart: remove what sets them apart".into()
            }
            Holds::Dates => format!("its column holds dates: use them with {time}, or {leave_out}"),
            Holds::Other(kind) => format!("its column holds {kind}, which no fit can use: {leave_out}"),
        }
    }
}

/// Whether some texts are the words of one pair.
fn are_truths(texts: &[&str]) -> bool {
    let is_of = |pair: &[&str; 2], text: &str| pair.iter().any(|word| word.eq_ignore_ascii_case(text));
    PAIRS.iter().any(|pair| {
        let has_both = pair.iter().all(|word| texts.iter().any(|text| word.eq_ignore_ascii_case(text)));
        !texts.is_empty() && texts.iter().all(|text| is_of(pair, text)) && (has_both || pair[0].len() > 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(cells: &[&str]) -> Holds {
        let mut levels = Levels::default();
        for cell in cells {
            levels.code(cell, cell.parse::<f64>().is_ok());
        }
        Holds::of(&levels, cells.len())
    }

    #[test]
    fn a_column_is_known_by_its_texts() {
        for cells in ["yes no Yes", "TRUE False true", "y N y", "true true true", "T F F"] {
            assert_eq!(holds(&cells.split(' ').collect::<Vec<_>>()), Holds::Truth, "{cells}");
        }
        assert_eq!(holds(&["F", "F", "F", "F"]), Holds::Constant);
        assert_eq!(holds(&["F", "M", "F", "M"]), Holds::Category);
        assert_eq!(holds(&["yes", "true", "yes", "true"]), Holds::Category);
        assert_eq!(holds(&["yes", "1", "yes", "no"]), Holds::Names);
        assert_eq!(holds(&["a", "b", "c"]), Holds::Names);
        assert_eq!(holds(&["1", "2", "oops"]), Holds::Numbers);
        assert_eq!(holds(&["2001-05-30", "2001-05-31"]), Holds::Dates);
        assert_eq!(holds(&["30.05.2001", "2001/05/31 12:00"]), Holds::Dates);
        assert_eq!(truth("Yes").zip(truth("f")), Some((true, false)));
    }
}
