//! Arrow columns as parts of a table, for formats that are read as Arrow record batches.

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};

use super::allowance::Allowance;
use super::builder::TableBuilder;
use super::cells::{each_text, numbers};
use super::dialect::WHOLE;
use super::holds::Holds;
use super::levels::Levels;
use super::words::shorten;
use super::{ReadOptions, TableError, Texts};

const DATES: &str = "dates or times";
const NO_OFFSET: &str = "name a column of numbers with ⟨offset⟩ instead";
/// The name that pandas gives to an unnamed index.
const PANDAS_INDEX: &str = "__index_level_0__";

/// A table with the columns of `schema`. Columns that cannot be fitted are an error, or are marked when the table is only inspected.
pub(super) fn builder(
    allowance: Allowance,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<TableBuilder, TableError> {
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let mut seen = HashMap::new();
    for (position, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, position) {
            return Err(TableError::DuplicateColumn {
                file: allowance.path,
                place: String::new(),
                column: shorten(name, 32),
                first: first + 1,
                second: position + 1,
            });
        }
    }
    let index = names.iter().position(|n| n == PANDAS_INDEX);
    let mut builder = TableBuilder::new(allowance, names, true, index, options)?;
    let file = builder.allowance.path.clone();
    let refuse = |name: &str, (kind, remedy)| {
        Err(TableError::Column { file: file.clone(), column: shorten(name, 32), kind, remedy })
    };
    let kind = |position: usize| Kind::of(schema.field(position).data_type());
    for slot in 0..builder.width() {
        let position = builder.numeric[slot];
        let is_dictionary = matches!(schema.field(position).data_type(), DataType::Dictionary(..));
        let holds = match kind(position) {
            Kind::Number => continue,
            Kind::Truth => {
                builder.truths.push(slot);
                continue;
            }
            Kind::Text if builder.levels[slot].is_some() => continue,
            Kind::Text => is_dictionary.then_some(Holds::Category),
            Kind::Time => Some(Holds::Dates),
            Kind::Other(kind) => Some(Holds::Other(kind)),
        };
        match holds {
            Some(Holds::Dates) if options.texts != Texts::Look => {
                refuse(&builder.names[position], (DATES, "use it with ⟨time⟩ or exclude it with ⟨without⟩"))?;
            }
            Some(Holds::Other(kind)) if options.texts != Texts::Look => {
                refuse(&builder.names[position], (kind, "exclude it with ⟨without⟩"))?;
            }
            Some(holds) => builder.levels[slot] = Some(Box::new(Levels::said(holds))),
            None => builder.levels[slot] = Some(Box::default()),
        }
    }
    if let Some((position, _)) = builder.offset {
        match kind(position) {
            Kind::Number | Kind::Truth => {}
            Kind::Text => refuse(&builder.names[position], ("text", NO_OFFSET))?,
            Kind::Time => refuse(&builder.names[position], (DATES, NO_OFFSET))?,
            Kind::Other(kind) => refuse(&builder.names[position], (kind, NO_OFFSET))?,
        }
    }
    for text in builder.texts.iter().flatten() {
        if let Kind::Other(kind) = kind(text.position) {
            refuse(&builder.names[text.position], (kind, "name a column of text or numbers instead"))?;
        }
    }
    Ok(builder)
}

/// Writes `batch`, the columns of the file at `positions`, into the existing rows from `start` on.
pub(super) fn fill(
    builder: &mut TableBuilder,
    batch: &RecordBatch,
    positions: &[usize],
    start: usize,
) -> Result<(), Error> {
    for (column, &position) in batch.columns().iter().zip(positions) {
        if let Some(slot) = builder.slots[position]
            && builder.levels[slot].is_some()
        {
            code(builder, column, slot, start)?;
        } else if let Some(slot) = builder.slots[position] {
            let (width, is_long) = (builder.width(), matches!(column.data_type(), DataType::Int64 | DataType::UInt64));
            for (row, value) in (start..).zip(numbers(column)?) {
                if is_long && value.abs() >= WHOLE {
                    let (file, place) = (builder.allowance.path.clone(), builder.place(row, position));
                    return Err(TableError::Rounded { file, place, text: value.to_string() }.into());
                }
                if value.is_infinite() {
                    let (file, place) = (builder.allowance.path.clone(), builder.place(row, position));
                    return Err(TableError::Infinite { file, place, text: value.to_string() }.into());
                }
                builder.values[row * width + slot] = value;
            }
        }
        if builder.offset.as_ref().is_some_and(|(p, _)| *p == position) {
            for (row, value) in (start..).zip(numbers(column)?) {
                if !value.is_finite() {
                    let (file, place) = (builder.allowance.path.clone(), builder.place(row, position));
                    let text = if value.is_nan() { "null".to_string() } else { value.to_string() };
                    return Err(TableError::Offset { file, place, text }.into());
                }
                builder.offset.iter_mut().for_each(|(_, offsets)| offsets.push(value));
            }
        }
        for text in builder.texts.iter_mut().flatten().filter(|t| t.position == position) {
            add_texts(&builder.allowance, &mut text.cells, column)?;
        }
    }
    Ok(())
}

/// Writes the codes of a column's texts. Dates, lists and the like are left alone, because they are never fitted.
fn code(builder: &mut TableBuilder, column: &ArrayRef, slot: usize, start: usize) -> Result<(), Error> {
    let (width, position) = (builder.width(), builder.numeric[slot]);
    let Some(mut levels) = builder.levels[slot].take() else { return Ok(()) };
    let mut cells = Vec::new();
    if levels.said.is_none_or(|said| said == Holds::Category) {
        add_texts(&builder.allowance, &mut cells, column)?;
    }
    for (row, cell) in (start..).zip(&cells) {
        let text = cell.trim();
        // Like an empty cell of a .csv file.
        let value = if text.is_empty() {
            f64::NAN
        } else {
            if levels.first.is_none() && !levels.known {
                levels.first = Some((builder.place(row, position), shorten(text, 32)));
            }
            let place = || builder.place(row, position);
            levels.code(text, false).ok_or_else(|| builder.unknown_level(place(), text, &levels))?
        };
        builder.values[row * width + slot] = value;
    }
    builder.levels[slot] = Some(levels);
    Ok(())
}

/// An error of the table, or of the reader of its format.
pub(super) enum Error {
    Table(TableError),
    Arrow(ArrowError),
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Error::Table(error)
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Error::Arrow(error)
    }
}

/// Null becomes an empty text, like an empty cell of a .csv file.
fn add_texts(allowance: &Allowance, cells: &mut Vec<String>, column: &ArrayRef) -> Result<(), Error> {
    // A dictionary repeats a long text for the cost of an integer.
    let mut bytes = 0;
    each_text(column, &mut |text| {
        bytes += text.len() as u128;
        allowance.bytes(bytes, || "texts".to_string())?;
        cells.push(text.to_string());
        Ok(())
    })
}

/// What a column can be used for.
enum Kind {
    Number,
    Truth,
    Text,
    Time,
    Other(&'static str),
}

impl Kind {
    fn of(data_type: &DataType) -> Self {
        use DataType::*;
        match data_type {
            Boolean => Kind::Truth,
            Null | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Kind::Number,
            Float16 | Float32 | Float64 | Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => {
                Kind::Number
            }
            Utf8 | LargeUtf8 | Utf8View => Kind::Text,
            Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) => Kind::Time,
            Dictionary(_, values) if !matches!(**values, Dictionary(..) | Timestamp(..)) => Kind::of(values),
            Duration(_) | Interval(_) => Kind::Other("durations"),
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => Kind::Other("bytes"),
            _ => Kind::Other("lists or records"),
        }
    }
}
