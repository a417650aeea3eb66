//! Protects CSV cells from being run as formulas by spreadsheets.
//!
//! Spreadsheets treat any cell that begins with `=`, `+`, `-`, `@`, a tab or a line end as a formula. The remedy is
//! OWASP's ("CSV injection"): a leading apostrophe, which spreadsheets do not show. Numbers are left unchanged.

use std::borrow::Cow;
use std::io::Write;

const APOSTROPHE: char = '\'';

/// The cell as it is written.
fn protected(text: &str) -> Cow<'_, str> {
    if is_formula(text) { format!("{APOSTROPHE}{text}").into() } else { text.into() }
}

/// Writes one line of protected cells.
pub fn write_line<C: AsRef<str>>(
    writer: &mut csv::Writer<impl Write>,
    cells: impl IntoIterator<Item = C>,
) -> csv::Result<()> {
    cells.into_iter().try_for_each(|cell| writer.write_field(protected(cell.as_ref()).as_bytes()))?;
    writer.write_record(None::<&[u8]>)
}

/// Cells as CSV text, quoted where necessary, without anything that a spreadsheet would run.
pub fn csv_text(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all rows are as long as the header.
    let _ = write_line(&mut writer, header);
    rows.for_each(|row| drop(write_line(&mut writer, row)));
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// A number as a cell; empty if it is unknown.
pub fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

/// The text of a cell that was written by `protected`.
pub fn unprotected(cell: &str) -> &str {
    cell.strip_prefix(APOSTROPHE).filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Whether a spreadsheet would run the text, also after leading apostrophes are removed, so that reading exactly undoes writing.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches(APOSTROPHE);
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_protected_and_numbers_are_not() {
        for text in ["=1+1", "+cmd", "-a", "@SUM(A1)", "\tx", "\rx", "-", "--1", "-1.5.2", "-2001-05-30", "'=x"] {
            assert_eq!(protected(text), format!("'{text}"));
        }
        for text in ["-1.5", "+3", "-1e-300", "-inf", "a=b", "", " =x", "'", "it's", "'-1.5", "2001-05-30"] {
            assert_eq!(protected(text), text);
        }
    }

    #[test]
    fn reading_undoes_exactly_what_writing_did() {
        for text in ["=x", "'=x", "''=x", "-1.5", "'-1.5", "''-a", "'a", "'", "", "@", "-", "\n"] {
            assert_eq!(unprotected(&protected(text)), text, "{text:?}");
        }
    }
}
