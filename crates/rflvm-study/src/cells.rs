//! Cells of CSV files that the program writes. Texts are written as they are: what is read again must be what was written.

/// Cells as CSV text, quoted where necessary.
pub fn csv_text(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all rows are as long as the header.
    let _ = writer.write_record(header);
    rows.for_each(|row| drop(writer.write_record(row)));
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// A number as a cell; empty if it is unknown.
pub fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}
