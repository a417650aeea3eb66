//! The kinds of non-numeric columns.

/// What a column of text, or of another non-numeric type, holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Two words for yes and no.
    Truth,
    /// A few texts that repeat.
    Category,
    /// A different text in almost every row.
    Names,
    /// The same text everywhere.
    Constant,
    /// Numbers, except for a few cells.
    Numbers,
    /// Numbers with thousands separators.
    Thousands,
    /// Dates.
    Dates,
    /// Something that cannot be fitted.
    Other(&'static str),
}

/// Words for no and yes. Of single letters both must occur, since F and N have many other meanings.
pub(super) const PAIRS: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["f", "t"], ["n", "y"]];

/// Whether a word is the yes of one of the pairs; `None` if it is in no pair.
pub(super) fn truth(word: &str) -> Option<bool> {
    let place = |pair: &[&str; 2]| pair.iter().position(|own| own.eq_ignore_ascii_case(word));
    PAIRS.iter().find_map(place).map(|place| place == 1)
}
