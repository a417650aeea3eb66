//! The observed table, for colouring the map by a column: exact where a column has few values, to 1/65534 of its range elsewhere.

use crate::number::numbers;
use crate::pack::Pack;
use crate::subject::Subject;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Cells that a page holds at most. More would make it too large to send.
const CELLS: usize = 6_000_000;
/// Columns that a menu can offer.
pub const COLUMNS: usize = 2_000;

/// The columns that the page shows, by their index in the table: all, or evenly spaced ones if the table is too large.
pub fn kept(subject: &Subject<'_>) -> Vec<usize> {
    let (rows, all) = (subject.fitted.model.rows(), subject.columns.len());
    let count = all.min(COLUMNS).min((CELLS / rows.max(1)).max(1));
    (0..count).map(|i| (2 * i + 1) * all / (2 * count)).collect()
}

/// One array per kept column.
pub fn section(subject: &Subject<'_>, pack: &mut Pack) -> Value {
    let kept = kept(subject);
    let columns: Vec<Value> = kept.iter().map(|&column| packed(&values(subject, column), pack)).collect();
    json!({ "kept": kept, "columns": columns })
}

fn values(subject: &Subject<'_>, column: usize) -> Vec<f64> {
    let (y, place) = (subject.fitted.model.y(), subject.places[column]);
    (0..y.rows()).map(|n| y[(n, place)]).collect()
}

/// Codes of the values, or steps from the least to the largest; the last code or step is a missing cell.
fn packed(values: &[f64], pack: &mut Pack) -> Value {
    const FEW: usize = 255;
    let mut distinct = BTreeSet::new();
    for value in values.iter().filter(|v| !v.is_nan()) {
        // The order of these bits is that of the numbers.
        distinct.insert(sortable(*value));
        if distinct.len() > FEW {
            break;
        }
    }
    if distinct.len() <= FEW {
        let known: Vec<u64> = distinct.into_iter().collect();
        let code = |value: &f64| match value.is_nan() {
            true => u8::MAX,
            false => known.partition_point(|k| *k < sortable(*value)) as u8,
        };
        let codes = pack.bytes(values.iter().map(code));
        let mut of_code = vec![f64::NAN; known.len()];
        values.iter().filter(|v| !v.is_nan()).for_each(|v| of_code[known.partition_point(|k| *k < sortable(*v))] = *v);
        return json!({ "codes": codes, "values": numbers(&of_code) });
    }
    json!({ "steps": pack.steps(values) })
}

/// Bits whose order is that of the numbers.
fn sortable(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact_and_many_are_steps() {
        let mut pack = Pack::default();
        let told = packed(&[3.0, f64::NAN, -1.5, 0.0, -0.0, 3.0], &mut pack);
        assert_eq!(told["values"], json!([-1.5, 0.0, 3.0]));
        assert_eq!(told["codes"]["count"], 6);
        let many: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.37 - 3.0).chain([f64::NAN]).collect();
        let told = packed(&many, &mut pack);
        assert_eq!((told["steps"]["low"].as_f64(), told["steps"]["kind"].as_str()), (Some(-3.0), Some("u16")));
        assert_eq!(packed(&[f64::NAN; 3], &mut pack)["values"], json!([]));
    }
}
