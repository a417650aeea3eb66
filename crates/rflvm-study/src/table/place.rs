//! Places in a text table, for messages.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use ::csv::ByteRecord;

use super::words::shorten;
use super::{TableError, text};

/// Characters of a text or a name that a message shows.
pub(super) const TEXT_SHOWN: usize = 32;

/// Finds lines and builds errors; only used when something is wrong, or a column turns out to hold text.
pub(super) struct Place<'a> {
    pub path: &'a Path,
    /// The last byte that was looked up, and its line.
    last: Cell<(u64, usize)>,
}

impl<'a> Place<'a> {
    pub fn new(path: &'a Path) -> Self {
        Place { path, last: Cell::new((0, 1)) }
    }

    pub fn header(&self, record: &ByteRecord) -> Result<Vec<String>, TableError> {
        let mut names: Vec<String> = Vec::with_capacity(record.len());
        let mut seen = HashMap::new();
        for (position, cell) in record.iter().enumerate() {
            let name = std::str::from_utf8(cell).map_err(|_| self.not_utf8(record, None, "", position))?;
            let name = name.trim();
            // A single nameless column cannot be ids, because nothing would be left to fit.
            if name.is_empty() && (position > 0 || record.len() == 1) {
                return Err(TableError::UnnamedColumn {
                    file: self.path.to_path_buf(),
                    line: self.line(record),
                    position: position + 1,
                });
            }
            if let Some(first) = seen.insert(name.to_string(), position) {
                return Err(TableError::DuplicateColumn {
                    file: self.path.to_path_buf(),
                    place: format!("line {}: ", self.line(record)),
                    column: shorten(name, TEXT_SHOWN),
                    first: first + 1,
                    second: position + 1,
                });
            }
            names.push(name.to_string());
        }
        Ok(names)
    }

    /// The line on which a record begins. It is counted by reading again, because the reader's own count points to where it looked
    /// next, before skipped blank lines, and does not recognise every line end.
    pub fn line(&self, record: &ByteRecord) -> usize {
        let reached = record.position().map_or(0, |p| p.byte());
        let (known, line) = self.last.get();
        if known == reached && reached > 0 {
            return line;
        }
        let (mut line, mut last) = (1, 0);
        let Ok(text) = text::open(self.path) else { return line };
        for (at, byte) in (0..).zip(text.bytes().map_while(Result::ok)) {
            if at >= reached && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            line += usize::from(byte == b'\r' || (byte == b'\n' && last != b'\r'));
            last = byte;
        }
        self.last.set((reached, line));
        line
    }

    pub fn cell(&self, record: &ByteRecord, row: usize, column: &str) -> String {
        format!("row {row} (line {}), column `{}`", self.line(record), shorten(column, TEXT_SHOWN))
    }

    pub fn not_utf8(&self, record: &ByteRecord, row: Option<usize>, column: &str, position: usize) -> TableError {
        TableError::NotUtf8 {
            file: self.path.to_path_buf(),
            place: match row {
                Some(row) => self.cell(record, row, column),
                None => format!("line {}, name of column {}", self.line(record), position + 1),
            },
            text: shorten(&String::from_utf8_lossy(&record[position]), TEXT_SHOWN),
        }
    }
}
