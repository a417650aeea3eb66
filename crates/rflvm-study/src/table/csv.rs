//! Text tables with a separator: .csv and .tsv.

use std::path::Path;

use ::csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::allowance::Allowance;
use super::bounded::{self, Bounded, Mark};
use super::builder::TableBuilder;
use super::dialect::{Cell, Dialect};
use super::heading::{Heading, judge, shown};
use super::holds::{Holds, truth};
use super::levels::Levels;
use super::limit::Limit;
use super::place::{Place, TEXT_SHOWN};
use super::words::{list, shorten};
use super::{ReadOptions, TableError, Texts, numbered, sniff, text};
use crate::note::Note;

/// Where text is an error, reading stops after this many rows: they show what the text is.
const ENOUGH: usize = 4096;

/// Reads a table whose cells are separated by `separator` unless the options say otherwise.
pub(super) fn read(allowance: Allowance, separator: u8, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let dialect = Dialect {
        separator: options.separator.map_or(separator, |given| given.0),
        decimal: options.decimal.unwrap_or_default(),
        na: options.na.clone(),
    };
    let given = (options.separator.is_some(), options.decimal.is_some());
    if let Some(written) = sniff::sniff(&allowance.path, &dialect, given.0, given.1)? {
        return Err(TableError::Written { file: allowance.path, written });
    }
    let builder = pass(allowance.clone(), &dialect, options, &[])?;
    let late: Vec<usize> = (0..builder.width())
        .filter(|&slot| match &builder.levels[slot] {
            Some(levels) => levels.late && levels.texts > levels.numbers,
            // Where no cell is a number, limits are the names of classes.
            None => builder.has_only_limits(slot),
        })
        .map(|slot| builder.numeric[slot])
        .collect();
    if late.is_empty() || options.texts == Texts::Refuse {
        return Ok(builder);
    }
    // Columns of text that begin with numbers must be read again, as text.
    drop(builder);
    pass(allowance, &dialect, options, &late)
}

/// Reads the file once; the columns at `texts` hold text.
fn pass(
    allowance: Allowance,
    dialect: &Dialect,
    options: &ReadOptions,
    texts: &[usize],
) -> Result<TableBuilder, TableError> {
    let (path, size) = (allowance.path.clone(), allowance.size);
    let file = || path.clone();
    let place = Place::new(&path);
    let mark = Mark::default();
    let mut reader = ReaderBuilder::new()
        .delimiter(dialect.separator)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(1 << 16)
        .from_reader(Bounded::new(text::open(&path)?, mark.clone(), bounded::LIMIT));
    let mut record = ByteRecord::new();
    // How far the file has been read, or that it is at its end.
    let mut advance = |record: &mut ByteRecord, row: usize| match reader.read_byte_record(record) {
        Ok(more) => {
            mark.set(reader.position().byte());
            Ok(more.then(|| reader.position().byte()))
        }
        Err(error) => Err(match error.into_kind() {
            ErrorKind::Io(error) if bounded::is_too_long(&error) => {
                TableError::TooLong { file: file(), row, megabytes: bounded::LIMIT >> 20 }
            }
            ErrorKind::Io(error) => text::failed(&path, &error),
            other => TableError::Unreadable { file: file(), reason: format!("{other:?}") },
        }),
    };

    let Some(first) = advance(&mut record, 0)? else {
        return Err(TableError::Empty { file: file() });
    };
    let width = record.len();
    // A name takes the allowance of about eight cells.
    allowance.cells(1, 8 * width as u64)?;
    let mut note = None;
    let named = !is_data(&record, dialect) || is_heading(&record, &path, dialect, options, &mut note)?;
    let names = if named { place.header(&record)? } else { numbered(width) };
    let index = (named && names[0].is_empty()).then_some(0);
    let mut builder = TableBuilder::new(allowance, names, named, index, options)?;
    builder.notes.extend(note);
    for slot in texts.iter().filter_map(|&position| builder.slots[position]) {
        builder.levels[slot] = Some(Box::default());
    }
    let (start, mut next) = if named { (first, advance(&mut record, 0)?) } else { (0, Some(first)) };
    while let Some(reached) = next {
        if record.len() != width {
            return Err(TableError::Ragged {
                file: file(),
                row: builder.rows + 1,
                line: place.line(&record),
                expected: width,
                found: record.len(),
                remedy: if builder.rows == 0 && named && record.len() == width + 1 {
                    "if each row begins with its name, put a name for that column first on the first line"
                } else {
                    "look for an extra or missing separator, or an unclosed quotation mark"
                },
            });
        }
        let bytes_per_row = (reached - start) as f64 / (builder.rows + 1) as f64;
        let expected = if text::is_gzip(&path) { 0.0 } else { 1.02 * size as f64 / bytes_per_row };
        builder.reserve(1, expected as usize)?;
        add(&mut builder, &record, &place, dialect)?;
        if options.texts == Texts::Refuse && builder.rows % ENOUGH == 0 && has_text(&builder) {
            break;
        }
        next = advance(&mut record, builder.rows)?;
    }
    Ok(builder)
}

/// Whether a column holds a text that is neither a number, nor a word for yes or no, nor one of its known levels.
fn has_text(builder: &TableBuilder) -> bool {
    let is_truth = |levels: &Levels| levels.numbers == 0 && levels.in_order().iter().all(|text| truth(text).is_some());
    builder.levels.iter().flatten().any(|levels| !levels.asked && !is_truth(levels))
}

/// Adds one row.
fn add(builder: &mut TableBuilder, record: &ByteRecord, place: &Place, dialect: &Dialect) -> Result<(), TableError> {
    let row = builder.rows + 1;
    let width = builder.width();
    let text = |names: &[String], position: usize| {
        std::str::from_utf8(&record[position])
            .map(str::trim)
            .map_err(|_| place.not_utf8(record, Some(row), &names[position], position))
    };
    for slot in 0..width {
        let position = builder.numeric[slot];
        let cell = dialect.cell(&record[position]);
        let value = match (cell, &mut builder.levels[slot]) {
            (Cell::Number(value), None) => value,
            (Cell::Missing, _) => f64::NAN,
            (Cell::Limit(value, is_above), None) => {
                builder.limits.push(Limit { row: row - 1, column: slot, is_above });
                value
            }
            (Cell::Rounded, None) => {
                return Err(TableError::Rounded {
                    file: place.path.to_path_buf(),
                    place: place.cell(record, row, &builder.names[position]),
                    text: shorten(text(&builder.names, position)?, TEXT_SHOWN),
                });
            }
            (Cell::Infinite, None) => {
                return Err(TableError::Infinite {
                    file: place.path.to_path_buf(),
                    place: place.cell(record, row, &builder.names[position]),
                    text: shorten(text(&builder.names, position)?, TEXT_SHOWN),
                });
            }
            (cell, _) => {
                let text = text(&builder.names, position)?;
                let at = |name: &str| place.cell(record, row, name);
                code(builder, slot, (text, !matches!(cell, Cell::Text | Cell::Limit(..))), dialect, at)?
            }
        };
        builder.values.push(value);
    }
    if let Some((position, offsets)) = &mut builder.offset {
        let Cell::Number(value) = dialect.cell(&record[*position]) else {
            return Err(TableError::Offset {
                file: place.path.to_path_buf(),
                place: place.cell(record, row, &builder.names[*position]),
                text: shorten(text(&builder.names, *position)?, TEXT_SHOWN),
            });
        };
        offsets.push(value);
    }
    for column in builder.texts.iter_mut().flatten() {
        column.cells.push(text(&builder.names, column.position)?.to_string());
    }
    builder.rows = row;
    Ok(())
}

/// The code of a text in a column that may have held only numbers so far; `at` gives its place from the column's name.
fn code(
    builder: &mut TableBuilder,
    slot: usize,
    (text, is_number): (&str, bool),
    dialect: &Dialect,
    at: impl Fn(&str) -> String,
) -> Result<f64, TableError> {
    let (width, name) = (builder.width(), &builder.names[builder.numeric[slot]]);
    let levels = builder.levels[slot].get_or_insert_with(|| {
        let before = builder.values.iter().skip(slot).step_by(width);
        Box::new(Levels::after(before.filter(|v| !v.is_nan()).count()))
    });
    if levels.first.is_none() && !levels.known {
        levels.first = Some((at(name), shorten(text, TEXT_SHOWN)));
        if levels.said.is_none() && dialect.has_thousands(text) {
            levels.said = Some(Holds::Thousands);
        }
    }
    let before = levels.len();
    let code = levels.code(text, is_number);
    if levels.len() > before {
        builder.text_bytes += text.len() as u128 + 64;
        builder.allowance.bytes(builder.text_bytes, || "texts".to_string())?;
    }
    code.ok_or_else(|| TableError::UnknownLevel {
        file: builder.allowance.path.clone(),
        place: at(name),
        text: shorten(text, TEXT_SHOWN),
        known: list(&levels.in_order()),
    })
}

/// Whether a first line of numbers names the columns all the same.
fn is_heading(
    first: &ByteRecord,
    path: &Path,
    dialect: &Dialect,
    options: &ReadOptions,
    note: &mut Option<Note>,
) -> Result<bool, TableError> {
    if let Some(like) = &options.like {
        let is_known = |cell: &[u8]| like.columns.iter().any(|name| name.as_bytes() == cell.trim_ascii());
        return Ok(like.named && first.iter().all(is_known));
    }
    let records = sniff::records(path, dialect)?;
    match judge(first, records.get(1..).unwrap_or_default(), dialect) {
        Heading::Row => Ok(false),
        Heading::Names => {
            *note = Some(Note::warn(format!(
                "the first line ({}) is read as the names of the columns, since its numbers count up and are unlike those below; \
                 if it is a row, put a line of names above it",
                shown(first)
            )));
            Ok(true)
        }
        Heading::Unclear => Err(TableError::Heading { file: path.to_path_buf(), shown: shown(first) }),
    }
}

/// Whether a first line is data rather than names; pandas heads its index with an empty first cell.
fn is_data(record: &ByteRecord, dialect: &Dialect) -> bool {
    let mut numbers = 0;
    for cell in record {
        match dialect.cell(cell) {
            Cell::Number(_) | Cell::Infinite | Cell::Rounded | Cell::Limit(..) => numbers += 1,
            Cell::Missing => {}
            Cell::Text => return false,
        }
    }
    numbers > 0 && !record[0].trim_ascii().is_empty()
}
