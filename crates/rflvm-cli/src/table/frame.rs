//! Arrow columns as parts of a table, for the formats that come as Arrow record batches.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Schema};

use super::draft::Draft;
use super::room::Room;
use super::words::shorten;
use super::{ReadOptions, TableError};

/// What pandas calls an index without name.
const PANDAS_INDEX: &str = "__index_level_0__";

/// A table with the columns of `schema`, refused if one that is to be numeric is not.
pub(super) fn draft(room: Room, schema: &Schema, options: &ReadOptions) -> Result<Draft, TableError> {
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let mut seen = HashMap::new();
    for (position, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, position) {
            return Err(TableError::DuplicateColumn {
                file: room.path,
                place: String::new(),
                column: shorten(name, 32),
                first: first + 1,
                second: position + 1,
            });
        }
    }
    let index = names.iter().position(|n| n == PANDAS_INDEX);
    let draft = Draft::new(room, names, true, index, options)?;
    let refuse = |position: usize, (kind, remedy)| {
        let column = shorten(&draft.names[position], 32);
        Err(TableError::Column { file: draft.room.path.clone(), column, kind, remedy })
    };
    let kind = |position: usize| Kind::of(schema.field(position).data_type());
    for &position in draft.numeric.iter().chain(draft.offset.as_ref().map(|(p, _)| p)) {
        match kind(position) {
            Kind::Number => {}
            Kind::Text => {
                refuse(
                    position,
                    ("text", "name it with --labels, --id, --time or --sequence or leave it out with --columns"),
                )?;
            }
            Kind::Time => refuse(position, ("dates or times", "name it with --time or leave it out with --columns"))?,
            Kind::Other(kind) => refuse(position, (kind, "leave it out with --columns"))?,
        }
    }
    for text in draft.texts.iter().flatten() {
        if let Kind::Other(kind) = kind(text.position) {
            refuse(text.position, (kind, "name a column of text or numbers instead"))?;
        }
    }
    Ok(draft)
}

/// Writes `batch`, the columns of the file at `positions`, into the rows from `start` on, which are there already.
pub(super) fn fill(draft: &mut Draft, batch: &RecordBatch, positions: &[usize], start: usize) -> Result<(), Failure> {
    for (column, &position) in batch.columns().iter().zip(positions) {
        if let Some(slot) = draft.slots[position] {
            let width = draft.width();
            for (row, value) in (start..).zip(numbers(column)?) {
                if value.is_infinite() {
                    let (file, place) = (draft.room.path.clone(), draft.place(row, position));
                    return Err(TableError::Infinite { file, place, text: value.to_string() }.into());
                }
                draft.values[row * width + slot] = value;
            }
        }
        if draft.offset.as_ref().is_some_and(|(p, _)| *p == position) {
            for (row, value) in (start..).zip(numbers(column)?) {
                if !value.is_finite() {
                    let (file, place) = (draft.room.path.clone(), draft.place(row, position));
                    let text = if value.is_nan() { "null".to_string() } else { value.to_string() };
                    return Err(TableError::Offset { file, place, text }.into());
                }
                draft.offset.iter_mut().for_each(|(_, offsets)| offsets.push(value));
            }
        }
        for text in draft.texts.iter_mut().flatten().filter(|t| t.position == position) {
            add_texts(&draft.room, &mut text.cells, column)?;
        }
    }
    Ok(())
}

/// A wrong table, or one that the reader of the format cannot make sense of.
pub(super) enum Failure {
    Table(TableError),
    Arrow(ArrowError),
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Failure::Table(error)
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Failure::Arrow(error)
    }
}

/// Null becomes NaN.
fn numbers(column: &ArrayRef) -> Result<impl Iterator<Item = f64>, ArrowError> {
    let floats = cast(column, &DataType::Float64)?.as_primitive::<Float64Type>().clone();
    Ok((0..floats.len()).map(move |i| if floats.is_valid(i) { floats.value(i) } else { f64::NAN }))
}

/// Null becomes an empty text, as an empty cell of a .csv file does.
fn add_texts(room: &Room, cells: &mut Vec<String>, column: &ArrayRef) -> Result<(), Failure> {
    let (column, zone) = match column.data_type() {
        // Arrow stores such times in UTC, which needs no table of zones to write.
        DataType::Timestamp(unit, Some(_)) => {
            let plain = DataType::Timestamp(*unit, None);
            (make_array(column.to_data().into_builder().data_type(plain).build()?), "Z")
        }
        _ => (column.clone(), ""),
    };
    let options = FormatOptions::new().with_null("");
    let formatter = ArrayFormatter::try_new(&column, &options)?;
    // A dictionary repeats a long text at the price of a number.
    let mut bytes = 0;
    for row in 0..column.len() {
        let mut cell = formatter.value(row).try_to_string()?;
        if column.is_valid(row) {
            cell.push_str(zone);
        }
        bytes += cell.len() as u128;
        room.bytes(bytes, || "texts".to_string())?;
        cells.push(cell);
    }
    Ok(())
}

/// What a column can be used for.
enum Kind {
    Number,
    Text,
    Time,
    Other(&'static str),
}

impl Kind {
    fn of(data_type: &DataType) -> Self {
        use DataType::*;
        match data_type {
            Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => Kind::Number,
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
