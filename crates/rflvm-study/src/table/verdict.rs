//! What a column of text holds, judged by its texts, and how it can be used.

use super::holds::{Holds, PAIRS};
use super::levels::{Levels, MOST};
use crate::message::{listed, with_value};
use crate::moment::looks_like_a_date;

impl Holds {
    /// What a column holds, in a table with this many rows.
    pub(super) fn of(levels: &Levels, rows: usize) -> Self {
        let texts = levels.in_order();
        match levels.said {
            Some(Holds::Category) if levels.known => Holds::Category,
            Some(Holds::Category) if levels.full => Holds::Names,
            Some(Holds::Category) if texts.len() < 2 => Holds::Constant,
            Some(said) => said,
            None if levels.numbers == 0 && !levels.full && are_truths(&texts) => Holds::Truth,
            None if levels.numbers >= levels.texts => Holds::Numbers,
            // A long daily series has more dates than are kept.
            None if !texts.is_empty() && texts.iter().all(|text| looks_like_a_date(text)) => Holds::Dates,
            None if !levels.full && texts.len() == 1 && levels.numbers == 0 => Holds::Constant,
            None if levels.full || 2 * texts.len() > rows => Holds::Names,
            None => Holds::Category,
        }
    }

    /// Why a column cannot be fitted, and which flag or family suits it; `levels` are its texts, in `rows` rows.
    pub(super) fn remedy(self, column: &str, levels: &Levels, rows: usize) -> String {
        let count = levels.len();
        let [labels, id, time] = ["labels", "id", "time"].map(|name| with_value(name, column));
        let [without, covariates] = ["without", "covariates"].map(|name| with_value(name, &listed(column)));
        let leave_out = format!("exclude it with {without}");
        match self {
            Holds::Truth => "write yes and no, or true and false".into(),
            Holds::Category => format!(
                "its column holds {count} different texts: fit it as a category with ⟨likelihood=auto⟩ (⟨doctor-blocks⟩ lists families to edit), colour the picture by it with {labels}, correct for its effects with {covariates}, or {leave_out}"
            ),
            Holds::Names => {
                let more = if levels.full { format!("more than {MOST}") } else { count.to_string() };
                format!(
                    "its column holds {more} different texts in {rows} rows, which look like row names: use them as such with {id}, colour the picture by them with {labels}, or {leave_out}"
                )
            }
            Holds::Constant => {
                format!("its column holds the same text in every row, which carries no information: {leave_out}")
            }
            Holds::Numbers => {
                // A text that was shortened, or that contains a comma, cannot be typed as a value of this flag.
                let text = levels.first.as_ref().map_or("", |(_, text)| text.as_str());
                let na = match text.contains([',', '…']) {
                    true => String::new(),
                    false => format!(", or treat every such cell as missing with {}", with_value("na", text)),
                };
                format!(
                    "correct it, leave the cell empty if it is missing{na}; if its column holds text, name it with ⟨labels⟩ or ⟨id⟩"
                )
            }
            Holds::Thousands => "it looks like a number with thousands separators: remove the separators".into(),
            Holds::Dates => format!("its column holds dates: use them with {time}, or {leave_out}"),
            Holds::Other(kind) => format!("its column holds {kind}, which cannot be fitted: {leave_out}"),
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
    use super::super::holds::truth;
    use super::*;

    fn holds(cells: &[&str]) -> Holds {
        let mut levels = Levels::default();
        for cell in cells {
            levels.code(cell, cell.parse::<f64>().is_ok());
        }
        Holds::of(&levels, cells.len())
    }

    #[test]
    fn a_column_is_judged_by_its_texts() {
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
