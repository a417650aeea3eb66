//! How a text table is written: its separator, its decimal mark, its words for missing cells.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::limit;

/// Words that always mean a missing cell, in upper or lower case.
const MISSING: [&str; 5] = ["", "na", "n/a", "nan", "null"];

/// Named separators, and their plurals for messages.
const NAMED: [(u8, &str, &str); 5] = [
    (b',', "comma", "commas"),
    (b';', "semicolon", "semicolons"),
    (b'\t', "tab", "tabs"),
    (b'|', "pipe", "vertical bars"),
    (b' ', "space", "spaces"),
];

/// The separator of the cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Separator(pub u8);

impl Separator {
    /// For messages: "semicolons".
    pub(super) fn plural(self) -> String {
        let named = NAMED.iter().find(|(byte, ..)| *byte == self.0);
        named.map_or_else(|| format!("`{}`", self.0 as char), |(_, _, plural)| (*plural).to_string())
    }
}

impl FromStr for Separator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((byte, ..)) = NAMED.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(text)) {
            return Ok(Separator(*byte));
        }
        match text.as_bytes() {
            b"\\t" => Ok(Separator(b'\t')),
            // Characters of numbers and of quoted cells cannot be separators.
            [byte] if byte.is_ascii_punctuation() && !b"\"+-.".contains(byte) => Ok(Separator(*byte)),
            [b'\t' | b' '] => Ok(Separator(text.as_bytes()[0])),
            _ => Err("it must be one character such as ',' or ';', or comma, semicolon, tab, pipe or space".into()),
        }
    }
}

/// As a user types it.
impl fmt::Display for Separator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.write_str("tab"),
            b' ' => f.write_str("space"),
            byte => write!(f, "{}", byte as char),
        }
    }
}

impl TryFrom<String> for Separator {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Separator> for String {
    fn from(separator: Separator) -> Self {
        separator.to_string()
    }
}

/// The decimal mark of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Decimal {
    /// `.`
    #[default]
    #[serde(rename = ".")]
    Point,
    /// `,`
    #[serde(rename = ",")]
    Comma,
}

impl FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "." | "point" => Ok(Decimal::Point),
            "," | "comma" => Ok(Decimal::Comma),
            _ => Err("it must be '.' or ','".into()),
        }
    }
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Missing,
    Infinite,
    /// A whole number that cannot be held exactly.
    Rounded,
    /// Only a limit, and whether the cell is above it.
    Limit(f64, bool),
    Text,
}

/// From here on, not all whole numbers can be held exactly.
pub(super) const WHOLE: f64 = 9_007_199_254_740_992.0;

/// How a text table is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dialect {
    pub separator: u8,
    pub decimal: Decimal,
    /// Further words for a missing cell, as given.
    pub na: Vec<String>,
}

impl Dialect {
    pub fn cell(&self, bytes: &[u8]) -> Cell {
        let bytes = bytes.trim_ascii();
        // With an empty word the list of words is complete: NA is a name then, such as that of Namibia.
        let usual = if self.na.iter().any(String::is_empty) { &MISSING[..1] } else { &MISSING };
        if usual.iter().any(|word| bytes.eq_ignore_ascii_case(word.as_bytes())) {
            return Cell::Missing;
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Cell::Text;
        };
        let number = self.number(text);
        // -999 may also be written -999.0.
        let is_na = |word: &String| text == word || number.is_some() && number == self.number(word);
        if !self.na.is_empty() && self.na.iter().any(is_na) {
            return Cell::Missing;
        }
        match number {
            Some(value) if is_rounded(text, value) => Cell::Rounded,
            Some(value) if value.is_finite() => Cell::Number(value),
            Some(value) if value.is_nan() => Cell::Missing,
            Some(_) => Cell::Infinite,
            None => limit::parse(text, |text| self.number(text))
                .map_or(Cell::Text, |(value, above)| Cell::Limit(value, above)),
        }
    }

    fn number(&self, text: &str) -> Option<f64> {
        match self.decimal {
            Decimal::Point => text.parse().ok(),
            // A point among commas separates thousands, which the caller handles.
            Decimal::Comma if text.contains('.') => None,
            Decimal::Comma if text.contains(',') => text.replacen(',', ".", 1).parse().ok(),
            Decimal::Comma => text.parse().ok(),
        }
    }

    /// Whether a text is a number with thousands separators, such as 1,234,567.8.
    pub fn has_thousands(&self, text: &str) -> bool {
        let (mark, apart) = match self.decimal {
            Decimal::Point => ('.', [',', '\'', ' ', '\u{a0}', '\u{202f}']),
            Decimal::Comma => (',', ['.', '\'', ' ', '\u{a0}', '\u{202f}']),
        };
        let whole = text.split(mark).next().unwrap_or_default().trim_start_matches(['-', '+']);
        let groups: Vec<&str> = whole.split(apart).collect();
        let is_digits = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
        let are_threes = groups[1..].iter().all(|group| group.len() == 3);
        groups.len() > 1 && groups[0].len() <= 3 && are_threes && groups.iter().all(is_digits)
    }
}

/// Whether a text is a whole number that its value does not have exactly.
fn is_rounded(text: &str, value: f64) -> bool {
    value.abs() >= WHOLE && text.parse::<i128>().is_ok_and(|whole| value as i128 != whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(decimal: Decimal, na: &[&str]) -> Dialect {
        Dialect { separator: b';', decimal, na: na.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn separators_are_characters_or_names() {
        for (text, byte) in [
            (";", b';'),
            ("TAB", b'\t'),
            ("\\t", b'\t'),
            ("\t", b'\t'),
            ("|", b'|'),
            ("semicolon", b';'),
            ("space", b' '),
        ] {
            assert_eq!(text.parse(), Ok(Separator(byte)), "{text}");
        }
        for text in ["", "ab", "\"", "1", "a", ".", "-", "é", "\n"] {
            assert!(text.parse::<Separator>().is_err(), "{text}");
        }
        for byte in [b',', b';', b'\t', b' ', b':'] {
            assert_eq!(String::from(Separator(byte)).parse(), Ok(Separator(byte)));
        }
    }

    #[test]
    fn numbers_use_the_decimal_mark_of_the_table() {
        let (point, comma) = (dialect(Decimal::Point, &[]), dialect(Decimal::Comma, &[]));
        assert_eq!((point.cell(b" 1.5 "), point.cell(b"1,5")), (Cell::Number(1.5), Cell::Text));
        assert_eq!((comma.cell(b"-1,5e3"), comma.cell(b"7")), (Cell::Number(-1500.0), Cell::Number(7.0)));
        assert_eq!(
            (comma.cell(b"1.5"), comma.cell(b"1.234,5"), comma.cell(b"1,2,3")),
            (Cell::Text, Cell::Text, Cell::Text)
        );
        assert!(point.has_thousands("-1,234,567.8") && point.has_thousands("12 345") && comma.has_thousands("1.234,5"));
        for text in ["1,5", "1,23", "1234,567", "a,bcd", "1,2345", "12", ""] {
            assert!(!point.has_thousands(text), "{text}");
        }
    }

    #[test]
    fn words_for_missing_cells_add_to_the_usual_ones() {
        let dialect = dialect(Decimal::Point, &["-999", "?"]);
        for text in ["", " NA ", "n/a", "NaN", "NULL", "-999", "-999.0", "?"] {
            assert_eq!(dialect.cell(text.as_bytes()), Cell::Missing, "{text}");
        }
        assert_eq!((dialect.cell(b"999"), dialect.cell(b"??")), (Cell::Number(999.0), Cell::Text));
        assert_eq!(dialect.cell(b"1e999"), Cell::Infinite);
    }

    #[test]
    fn an_empty_word_replaces_the_usual_ones() {
        let dialect = dialect(Decimal::Point, &["", "-9"]);
        assert_eq!((dialect.cell(b" "), dialect.cell(b"-9")), (Cell::Missing, Cell::Missing));
        assert_eq!((dialect.cell(b"NA"), dialect.cell(b"null")), (Cell::Text, Cell::Text));
    }

    #[test]
    fn whole_numbers_that_would_be_rounded_are_recognised() {
        let dialect = dialect(Decimal::Point, &[]);
        for text in ["9007199254740993", "-9007199254740993", "1234567890123456789"] {
            assert_eq!(dialect.cell(text.as_bytes()), Cell::Rounded, "{text}");
        }
        for text in ["9007199254740992", "100000000000000000000", "1e300", "0.1234567890123456789"] {
            assert!(matches!(dialect.cell(text.as_bytes()), Cell::Number(_)), "{text}");
        }
    }
}
