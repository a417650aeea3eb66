//! Tables as text with one separator: .csv and .tsv.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::draft::Draft;
use super::room::Room;
use super::words::shorten;
use super::{ReadOptions, Table, TableError, numbered, text};
use crate::cells::unprotected;

const TEXT_SHOWN: usize = 32;

enum Cell {
    Number(f64),
    Missing,
    Infinite,
    Text,
}

pub(super) fn read(room: Room, delimiter: u8, options: &ReadOptions) -> Result<Table, TableError> {
    let (path, size) = (room.path.clone(), room.size);
    let file = || path.clone();
    let place = Place { path: &path };
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(text::open(&path)?);
    let mut record = ByteRecord::new();
    // Says how far the file has been read, or that it is at its end.
    let mut advance = |record: &mut ByteRecord| match reader.read_byte_record(record) {
        Ok(more) => Ok(more.then(|| reader.position().byte())),
        Err(error) => Err(match error.into_kind() {
            ErrorKind::Io(error) => text::failed(&path, &error),
            other => TableError::Unreadable { file: file(), reason: format!("{other:?}") },
        }),
    };

    let Some(first) = advance(&mut record)? else {
        return Err(TableError::Empty { file: file() });
    };
    let width = record.len();
    let named = !is_data(&record);
    let names = if named { place.header(&record)? } else { numbered(width) };
    let index = (named && names[0].is_empty()).then_some(0);
    let mut draft = Draft::new(room, names, named, index, options)?;
    let (start, mut next) = if named { (first, advance(&mut record)?) } else { (0, Some(first)) };
    while let Some(reached) = next {
        if record.len() != width {
            return Err(TableError::Ragged {
                file: file(),
                row: draft.rows + 1,
                line: place.line(&record),
                expected: width,
                found: record.len(),
                remedy: if draft.rows == 0 && named && record.len() == width + 1 {
                    "if each row begins with its name, put a name for that column first on the first line"
                } else {
                    "look for a separator too many or too few, or a quotation mark that is not closed"
                },
            });
        }
        let bytes_per_row = (reached - start) as f64 / (draft.rows + 1) as f64;
        let expected = if text::is_gzip(&path) { 0.0 } else { 1.02 * size as f64 / bytes_per_row };
        draft.reserve(1, expected as usize)?;
        add(&mut draft, &record, &place, delimiter)?;
        next = advance(&mut record)?;
    }
    draft.finish()
}

/// Adds one row.
fn add(draft: &mut Draft, record: &ByteRecord, place: &Place, delimiter: u8) -> Result<(), TableError> {
    let Draft { rows, names, numeric, values, offset, texts, .. } = draft;
    let row = *rows + 1;
    let text = |position: usize| {
        std::str::from_utf8(&record[position])
            .map(str::trim)
            .map_err(|_| place.not_utf8(record, Some(row), &names[position], position))
    };
    for &position in numeric.iter() {
        values.push(match classify(&record[position]) {
            Cell::Number(value) => value,
            Cell::Missing => f64::NAN,
            Cell::Infinite => {
                return Err(TableError::Infinite {
                    file: place.path.to_path_buf(),
                    place: place.cell(record, row, &names[position]),
                    text: shorten(text(position)?, TEXT_SHOWN),
                });
            }
            Cell::Text => {
                let text = text(position)?;
                return Err(place.not_a_number(record, row, &names[position], text, delimiter));
            }
        });
    }
    if let Some((position, offsets)) = offset {
        let Cell::Number(value) = classify(&record[*position]) else {
            return Err(TableError::Offset {
                file: place.path.to_path_buf(),
                place: place.cell(record, row, &names[*position]),
                text: shorten(text(*position)?, TEXT_SHOWN),
            });
        };
        offsets.push(value);
    }
    for column in texts.iter_mut().flatten() {
        column.cells.push(unprotected(text(column.position)?).to_string());
    }
    *rows = row;
    Ok(())
}

/// Finds lines and phrases errors; only consulted when something is wrong.
struct Place<'a> {
    path: &'a Path,
}

impl Place<'_> {
    fn header(&self, record: &ByteRecord) -> Result<Vec<String>, TableError> {
        let mut names: Vec<String> = Vec::with_capacity(record.len());
        let mut seen = HashMap::new();
        for (position, cell) in record.iter().enumerate() {
            let name = std::str::from_utf8(cell).map_err(|_| self.not_utf8(record, None, "", position))?;
            let name = unprotected(name.trim());
            // A lone nameless column leaves nothing to be a feature, so only one of several is ids.
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

    /// The line on which a record begins, counted by reading again because the reader's own count is for where it looked
    /// next, before skipped blank lines, and does not know every line end.
    fn line(&self, record: &ByteRecord) -> usize {
        let reached = record.position().map_or(0, |p| p.byte());
        let (mut line, mut last) = (1, 0);
        let Ok(text) = text::open(self.path) else { return line };
        for (at, byte) in (0..).zip(text.bytes().map_while(Result::ok)) {
            if at >= reached && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            line += usize::from(byte == b'\r' || (byte == b'\n' && last != b'\r'));
            last = byte;
        }
        line
    }

    fn cell(&self, record: &ByteRecord, row: usize, column: &str) -> String {
        format!("row {row} (line {}), column `{}`", self.line(record), shorten(column, TEXT_SHOWN))
    }

    fn not_utf8(&self, record: &ByteRecord, row: Option<usize>, column: &str, position: usize) -> TableError {
        TableError::NotUtf8 {
            file: self.path.to_path_buf(),
            place: match row {
                Some(row) => self.cell(record, row, column),
                None => format!("line {}, name of column {}", self.line(record), position + 1),
            },
            text: shorten(&String::from_utf8_lossy(&record[position]), TEXT_SHOWN),
        }
    }

    fn not_a_number(&self, record: &ByteRecord, row: usize, column: &str, text: &str, delimiter: u8) -> TableError {
        let (file, place) = (self.path.to_path_buf(), self.cell(record, row, column));
        let other = [(',', "commas"), ('\t', "tabs"), (';', "semicolons")]
            .into_iter()
            .find(|(separator, _)| text.contains(*separator));
        let text = shorten(text, TEXT_SHOWN);
        match other {
            // With one column only, another separator inside the cell is the likely cause.
            Some((_, found)) if record.len() == 1 => {
                let expected = if delimiter == b',' { "commas" } else { "tabs" };
                TableError::Separator { file, place, text, expected, found }
            }
            _ => TableError::Text { file, place, text },
        }
    }
}

/// Whether a first line is data and not names; an empty first cell is how pandas heads its index.
fn is_data(record: &ByteRecord) -> bool {
    let mut numbers = 0;
    for cell in record {
        match classify(cell) {
            Cell::Number(_) | Cell::Infinite => numbers += 1,
            Cell::Missing => {}
            Cell::Text => return false,
        }
    }
    numbers > 0 && !record[0].trim_ascii().is_empty()
}

fn classify(cell: &[u8]) -> Cell {
    let cell = cell.trim_ascii();
    let missing: [&[u8]; 5] = [b"", b"na", b"n/a", b"nan", b"null"];
    if missing.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
        return Cell::Missing;
    }
    let Ok(text) = std::str::from_utf8(cell) else {
        return Cell::Text;
    };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Cell::Number(value),
        Ok(value) if value.is_nan() => Cell::Missing,
        Ok(_) => Cell::Infinite,
        Err(_) => Cell::Text,
    }
}
