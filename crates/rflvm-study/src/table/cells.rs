//! The cells of an Arrow column as numbers or as texts. `arrow-cast` does this for every pair of types, and takes long to compile.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::{ArrowError, DataType, TimeUnit};

/// The numbers of a column. Null becomes NaN.
pub(super) fn numbers(column: &ArrayRef) -> Result<Vec<f64>, ArrowError> {
    use DataType::*;
    Ok(match column.data_type() {
        Null => vec![f64::NAN; column.len()],
        Boolean => column.as_boolean().iter().map(|v| v.map_or(f64::NAN, f64::from)).collect(),
        Int8 => primitive::<Int8Type>(column, f64::from),
        Int16 => primitive::<Int16Type>(column, f64::from),
        Int32 => primitive::<Int32Type>(column, f64::from),
        Int64 => primitive::<Int64Type>(column, |v| v as f64),
        UInt8 => primitive::<UInt8Type>(column, f64::from),
        UInt16 => primitive::<UInt16Type>(column, f64::from),
        UInt32 => primitive::<UInt32Type>(column, f64::from),
        UInt64 => primitive::<UInt64Type>(column, |v| v as f64),
        Float16 => primitive::<Float16Type>(column, |v| v.to_f64()),
        Float32 => primitive::<Float32Type>(column, f64::from),
        Float64 => primitive::<Float64Type>(column, |v| v),
        Decimal32(..) => decimal::<Decimal32Type>(column),
        Decimal64(..) => decimal::<Decimal64Type>(column),
        Decimal128(..) => decimal::<Decimal128Type>(column),
        Decimal256(..) => decimal::<Decimal256Type>(column),
        Dictionary(..) => {
            let values = numbers(column.as_any_dictionary().values())?;
            places(column).into_iter().map(|place| place.map_or(f64::NAN, |place| values[place])).collect()
        }
        other => return Err(unreadable(other)),
    })
}

/// Calls `take` with the text of each cell in turn. Null becomes an empty text.
pub(super) fn each_text<E: From<ArrowError>>(
    column: &ArrayRef,
    take: &mut dyn FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    use DataType::*;
    if let Dictionary(..) = column.data_type() {
        let mut values = Vec::new();
        each_text::<E>(column.as_any_dictionary().values(), &mut |text| {
            values.push(text.to_string());
            Ok(())
        })?;
        return places(column).into_iter().try_for_each(|place| take(place.map_or("", |place| &values[place])));
    }
    for row in 0..column.len() {
        let text = if column.is_valid(row) { text(column, row)? } else { String::new() };
        take(&text)?;
    }
    Ok(())
}

fn text(column: &ArrayRef, row: usize) -> Result<String, ArrowError> {
    use DataType::*;
    Ok(match column.data_type() {
        Null => String::new(),
        Utf8 => column.as_string::<i32>().value(row).to_string(),
        LargeUtf8 => column.as_string::<i64>().value(row).to_string(),
        Utf8View => column.as_string_view().value(row).to_string(),
        Boolean => column.as_boolean().value(row).to_string(),
        Int8 => column.as_primitive::<Int8Type>().value(row).to_string(),
        Int16 => column.as_primitive::<Int16Type>().value(row).to_string(),
        Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        UInt8 => column.as_primitive::<UInt8Type>().value(row).to_string(),
        UInt16 => column.as_primitive::<UInt16Type>().value(row).to_string(),
        UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        Float16 => format!("{:?}", column.as_primitive::<Float16Type>().value(row)),
        Float32 => format!("{:?}", column.as_primitive::<Float32Type>().value(row)),
        Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        Decimal32(..) => column.as_primitive::<Decimal32Type>().value_as_string(row),
        Decimal64(..) => column.as_primitive::<Decimal64Type>().value_as_string(row),
        Decimal128(..) => column.as_primitive::<Decimal128Type>().value_as_string(row),
        Decimal256(..) => column.as_primitive::<Decimal256Type>().value_as_string(row),
        Date32 => {
            let date = column.as_primitive::<Date32Type>().value_as_date(row);
            date.ok_or_else(|| out_of_range(row))?.to_string()
        }
        Date64 => moment::<Date64Type>(column, row)?,
        Time32(TimeUnit::Second) => clock::<Time32SecondType>(column, row)?,
        Time32(_) => clock::<Time32MillisecondType>(column, row)?,
        Time64(TimeUnit::Microsecond) => clock::<Time64MicrosecondType>(column, row)?,
        Time64(_) => clock::<Time64NanosecondType>(column, row)?,
        Timestamp(unit, zone) => {
            let moment = match unit {
                TimeUnit::Second => moment::<TimestampSecondType>,
                TimeUnit::Millisecond => moment::<TimestampMillisecondType>,
                TimeUnit::Microsecond => moment::<TimestampMicrosecondType>,
                TimeUnit::Nanosecond => moment::<TimestampNanosecondType>,
            };
            // Arrow stores times of a zone in UTC.
            moment(column, row)? + if zone.is_some() { "Z" } else { "" }
        }
        other => return Err(unreadable(other)),
    })
}

fn primitive<T: ArrowPrimitiveType>(column: &ArrayRef, number: impl Fn(T::Native) -> f64) -> Vec<f64> {
    column.as_primitive::<T>().iter().map(|v| v.map_or(f64::NAN, &number)).collect()
}

fn decimal<T: DecimalType>(column: &ArrayRef) -> Vec<f64>
where
    PrimitiveArray<T>: Array,
{
    let column = column.as_primitive::<T>();
    let number = |row| column.value_as_string(row).parse().unwrap_or(f64::NAN);
    (0..column.len()).map(|row| if column.is_valid(row) { number(row) } else { f64::NAN }).collect()
}

/// The place of each cell's value among those of the dictionary; none for null.
fn places(column: &ArrayRef) -> Vec<Option<usize>> {
    let dictionary = column.as_any_dictionary();
    if dictionary.values().is_empty() {
        return vec![None; column.len()];
    }
    let keys = dictionary.normalized_keys();
    keys.into_iter().enumerate().map(|(row, key)| column.is_valid(row).then_some(key)).collect()
}

fn moment<T: ArrowTemporalType>(column: &ArrayRef, row: usize) -> Result<String, ArrowError>
where
    i64: From<T::Native>,
{
    let moment = column.as_primitive::<T>().value_as_datetime(row);
    Ok(format!("{:?}", moment.ok_or_else(|| out_of_range(row))?))
}

fn clock<T: ArrowTemporalType>(column: &ArrayRef, row: usize) -> Result<String, ArrowError>
where
    i64: From<T::Native>,
{
    let time = column.as_primitive::<T>().value_as_time(row);
    Ok(format!("{:?}", time.ok_or_else(|| out_of_range(row))?))
}

fn out_of_range(row: usize) -> ArrowError {
    ArrowError::CastError(format!("the date or time in row {} is out of range", row + 1))
}

fn unreadable(kind: &DataType) -> ArrowError {
    ArrowError::CastError(format!("cells of the type {kind} cannot be read"))
}
