//! What a column that is not one of numbers can hold.

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
pub(super) const PAIRS: [[&str; 2]; 4] = [["false", "true"], ["no", "yes"], ["f", "t"], ["n", "y"]];

/// Whether a word is the yes of one of the pairs; none where it is in no pair.
pub(super) fn truth(word: &str) -> Option<bool> {
    let place = |pair: &[&str; 2]| pair.iter().position(|own| own.eq_ignore_ascii_case(word));
    PAIRS.iter().find_map(place).map(|place| place == 1)
}
