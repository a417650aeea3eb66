//! Tables as text with one separator: .csv and .tsv.

use std::collections::HashMap;
use std::path::Path;

use ::csv::{ByteRecord, ReaderBuilder};

use super::error::shorten;
use super::{ReadOptions, Table, TableError, numbered, roles};

const TEXT_SHOWN: usize = 32;

enum Cell {
    Number(f64),
    Missing,
    Infinite,
    Text,
}

pub(super) fn parse(path: &Path, bytes: &[u8], delimiter: u8, options: &ReadOptions) -> Result<Table, TableError> {
    let file = || path.to_path_buf();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let place = Place { path, bytes };
    let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(bytes);
    let mut record = ByteRecord::new();
    let mut advance = |record: &mut ByteRecord| {
        reader
            .read_byte_record(record)
            .map_err(|error| TableError::Unreadable { file: path.to_path_buf(), reason: error.to_string() })
    };

    if !advance(&mut record)? {
        return Err(TableError::Empty { file: file() });
    }
    let width = record.len();
    let named = !is_data(&record);
    let columns = if named { place.header(&record)? } else { numbered(width) };
    let unnamed_ids = named && columns[0].is_empty();
    let roles = roles(path, &columns, named, unnamed_ids, options)?;

    let mut table = Table {
        path: file(),
        columns: roles.numeric.iter().map(|&p| columns[p].clone()).collect(),
        ids: Vec::new(),
        labels: roles.labels.map(|_| Vec::new()),
        rows: 0,
        values: Vec::new(),
        named,
    };
    let mut more = if named { advance(&mut record)? } else { true };
    while more {
        let row = table.rows + 1;
        if record.len() != width {
            return Err(TableError::Ragged {
                file: file(),
                row,
                line: place.line(&record),
                expected: width,
                found: record.len(),
                remedy: if row == 1 && named && record.len() == width + 1 {
                    "if each row begins with its name, put a name for that column first on the first line"
                } else {
                    "look for a separator too many or too few, or a quotation mark that is not closed"
                },
            });
        }
        let text = |position: usize| {
            std::str::from_utf8(&record[position])
                .map(|t| t.trim().to_string())
                .map_err(|_| place.not_utf8(&record, Some(row), &columns[position], position))
        };
        table.ids.push(match roles.id {
            Some(position) => text(position)?,
            None => row.to_string(),
        });
        if let (Some(labels), Some(position)) = (&mut table.labels, roles.labels) {
            labels.push(text(position)?);
        }
        for &position in &roles.numeric {
            table.values.push(match classify(&record[position]) {
                Cell::Number(value) => value,
                Cell::Missing => f64::NAN,
                Cell::Infinite => {
                    return Err(TableError::Infinite {
                        file: file(),
                        row,
                        line: place.line(&record),
                        column: shorten(&columns[position], TEXT_SHOWN),
                        text: shorten(&text(position)?, TEXT_SHOWN),
                    });
                }
                Cell::Text => {
                    let text = text(position)?;
                    return Err(place.not_a_number(&record, row, &columns[position], &text, delimiter));
                }
            });
        }
        table.rows = row;
        more = advance(&mut record)?;
    }
    if table.rows == 0 {
        return Err(TableError::NoRows { file: file() });
    }
    Ok(table)
}

/// Finds lines and phrases errors; only consulted when something is wrong.
struct Place<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl Place<'_> {
    fn header(&self, record: &ByteRecord) -> Result<Vec<String>, TableError> {
        let mut names: Vec<String> = Vec::with_capacity(record.len());
        let mut seen = HashMap::new();
        for (position, cell) in record.iter().enumerate() {
            let name = std::str::from_utf8(cell).map_err(|_| self.not_utf8(record, None, "", position))?.trim();
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
                    line: self.line(record),
                    column: shorten(name, TEXT_SHOWN),
                    first: first + 1,
                    second: position + 1,
                });
            }
            names.push(name.to_string());
        }
        Ok(names)
    }

    /// The line on which a record begins, counted here because the reader's own count is for
    /// where it looked next, before skipped blank lines.
    fn line(&self, record: &ByteRecord) -> usize {
        let reached = record.position().and_then(|p| usize::try_from(p.byte()).ok()).unwrap_or(0).min(self.bytes.len());
        let blank = self.bytes[reached..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let before = &self.bytes[..reached + blank];
        let breaks = before
            .iter()
            .enumerate()
            .filter(|&(i, &byte)| byte == b'\n' || (byte == b'\r' && before.get(i + 1) != Some(&b'\n')));
        1 + breaks.count()
    }

    fn not_utf8(&self, record: &ByteRecord, row: Option<usize>, column: &str, position: usize) -> TableError {
        let line = self.line(record);
        TableError::NotUtf8 {
            file: self.path.to_path_buf(),
            place: match row {
                Some(row) => format!("row {row} (line {line}), column `{}`", shorten(column, TEXT_SHOWN)),
                None => format!("line {line}, name of column {}", position + 1),
            },
            text: shorten(&String::from_utf8_lossy(&record[position]), TEXT_SHOWN),
        }
    }

    fn not_a_number(&self, record: &ByteRecord, row: usize, column: &str, text: &str, delimiter: u8) -> TableError {
        let file = self.path.to_path_buf();
        let line = self.line(record);
        let other = [(',', "commas"), ('\t', "tabs"), (';', "semicolons")]
            .into_iter()
            .find(|(separator, _)| text.contains(*separator));
        match other {
            // With one column only, another separator inside the cell is the likely cause.
            Some((_, found)) if record.len() == 1 => TableError::Separator {
                file,
                row,
                line,
                column: shorten(column, TEXT_SHOWN),
                text: shorten(text, TEXT_SHOWN),
                expected: if delimiter == b',' { "commas" } else { "tabs" },
                found,
            },
            _ => TableError::Text {
                file,
                row,
                line,
                column: shorten(column, TEXT_SHOWN),
                text: shorten(text, TEXT_SHOWN),
            },
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
