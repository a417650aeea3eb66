//! How a text table seems to be written, where that differs from what its name implies.

use std::io::Read;
use std::path::Path;

use ::csv::{ByteRecord, ReaderBuilder};

use super::dialect::{Cell, Decimal, Dialect, Separator};
use super::written::Written;
use super::{TableError, text};

/// How much is examined: the start of the file.
const BYTES: u64 = 1 << 18;
const LINES: usize = 50;

/// Examines the start of a file for a way of reading it that yields more numbers. Options given by the user are kept.
pub(super) fn sniff(
    path: &Path,
    dialect: &Dialect,
    separator_given: bool,
    decimal_given: bool,
) -> Result<Option<Written>, TableError> {
    let start = start(path)?;
    let own = Sample::of(&start, dialect);
    let separators = [dialect.separator, b';', b'\t', b'|', b','];
    let mut best: Option<(Sample, Written)> = None;
    for separator in separators.into_iter().filter(|s| !separator_given || *s == dialect.separator) {
        for decimal in [Decimal::Point, Decimal::Comma].into_iter().filter(|d| !decimal_given || *d == dialect.decimal)
        {
            let sample = Sample::of(&start, &Dialect { separator, decimal, ..dialect.clone() });
            let is_better = |other: &Sample| sample.numbers > other.numbers || !other.is_table;
            if sample.is_table && is_better(&own) && best.as_ref().is_none_or(|(best, _)| is_better(best)) {
                let written = Written {
                    separator: (separator != dialect.separator).then_some(Separator(separator)),
                    decimal: (decimal != dialect.decimal).then_some(decimal),
                };
                best = Some((sample, written));
            }
        }
    }
    Ok(best.map(|(_, written)| written))
}

/// The first lines of a file.
pub(super) fn records(path: &Path, dialect: &Dialect) -> Result<Vec<ByteRecord>, TableError> {
    Ok(parsed(&start(path)?, dialect))
}

fn start(path: &Path) -> Result<Vec<u8>, TableError> {
    let mut start = Vec::new();
    text::open(path)?.take(BYTES).read_to_end(&mut start).map_err(|e| text::failed(path, &e))?;
    // The last line may be cut off.
    if start.len() as u64 == BYTES {
        let end = start.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        start.truncate(end.unwrap_or(0));
    }
    Ok(start)
}

fn parsed(start: &[u8], dialect: &Dialect) -> Vec<ByteRecord> {
    let mut reader =
        ReaderBuilder::new().delimiter(dialect.separator).has_headers(false).flexible(true).from_reader(start);
    reader.byte_records().take(LINES).map_while(Result::ok).collect()
}

/// The start of a file, read in one way.
struct Sample {
    /// Whether all lines have the same number of cells, and more than one.
    is_table: bool,
    /// Fraction of the cells that are numbers.
    numbers: f64,
}

impl Sample {
    fn of(start: &[u8], dialect: &Dialect) -> Self {
        let records = parsed(start, dialect);
        let width = records.first().map_or(0, ByteRecord::len);
        let cells = || records.iter().flat_map(|record| record.iter());
        // With commas as separators, 1,234 in quotation marks is probably a number with a thousands separator.
        let plain = Dialect { decimal: Decimal::Point, ..dialect.clone() };
        let has_thousands = |cell: &[u8]| {
            let text = std::str::from_utf8(cell.trim_ascii()).unwrap_or_default();
            dialect.separator == b',' && dialect.decimal == Decimal::Comma && plain.has_thousands(text)
        };
        let is_number = |cell: &&[u8]| matches!(dialect.cell(cell), Cell::Number(_)) && !has_thousands(cell);
        let numbers = cells().filter(is_number).count();
        Sample {
            is_table: width > 1 && records.iter().all(|record| record.len() == width),
            numbers: numbers as f64 / cells().count().max(1) as f64,
        }
    }
}
