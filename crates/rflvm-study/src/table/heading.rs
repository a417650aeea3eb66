//! Whether a first line of numbers names the columns: pandas writes the places of an array's columns, and tables by year have years.

use ::csv::ByteRecord;

use super::dialect::{Cell, Dialect};
use super::words::list;

/// What a first line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    Names,
    Row,
    Unclear,
}

/// This many numbers that count up are names, whatever is below them.
const MANY: usize = 20;
/// Names are believed if a row would look like them with at most this probability.
const RARE: f64 = 2e-3;
/// The probability that a cell of a column of fractions is a whole number.
const WHOLE: f64 = 0.1;
const YEARS: std::ops::RangeInclusive<u64> = 1500..=2200;

/// Judges a first line whose cells are numbers or empty, by itself and by the lines below it.
pub(super) fn judge(first: &ByteRecord, below: &[ByteRecord], dialect: &Dialect) -> Heading {
    let whole = |cell: &[u8]| std::str::from_utf8(cell.trim_ascii()).ok()?.parse::<u64>().ok();
    let Some(names) = first.iter().map(whole).collect::<Option<Vec<u64>>>().filter(|names| names.len() > 1) else {
        return Heading::Row;
    };
    let steps = || names.windows(2).map(|pair| pair[1] as f64 - pair[0] as f64);
    let is_even = steps().all(|step| step > 0.0 && step == steps().next().unwrap_or_default());
    let are_years = steps().all(|step| step > 0.0) && names.iter().all(|name| YEARS.contains(name));
    let are_places = is_even && names[0] < 2 && names[1] == names[0] + 1;
    if is_even && names.len() >= MANY {
        return Heading::Names;
    }
    if !is_even && !are_years {
        return Heading::Row;
    }
    let chance: f64 =
        names.iter().enumerate().map(|(j, &name)| of_chance(name as f64, &column(below, j, dialect))).product();
    match names.len() {
        2 if chance <= WHOLE * WHOLE => Heading::Unclear,
        2 => Heading::Row,
        _ if chance <= RARE => Heading::Names,
        _ if are_places || are_years => Heading::Unclear,
        _ => Heading::Row,
    }
}

/// The numbers of a column.
fn column(below: &[ByteRecord], j: usize, dialect: &Dialect) -> Vec<f64> {
    let number = |record: &ByteRecord| match dialect.cell(record.get(j)?) {
        Cell::Number(value) => Some(value),
        _ => None,
    };
    below.iter().filter_map(number).collect()
}

/// About the probability that a cell above these looks like a name: a whole number among fractions, or outside of their range.
fn of_chance(name: f64, cells: &[f64]) -> f64 {
    let fractions = cells.iter().filter(|cell| cell.fract() != 0.0).count();
    let among_fractions = if 2 * fractions > cells.len() { WHOLE } else { 1.0 };
    let is_outside = cells.iter().all(|cell| *cell < name) || cells.iter().all(|cell| *cell > name);
    let outside = if is_outside { 2.0 / (cells.len() as f64 + 1.0) } else { 1.0 };
    outside.min(among_fractions).min(1.0)
}

/// The cells of a line, for a message.
pub(super) fn shown(first: &ByteRecord) -> String {
    let cells: Vec<String> = first.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect();
    list(&cells)
}

#[cfg(test)]
mod tests {
    use super::super::dialect::Decimal;
    use super::*;

    fn of(lines: &[&str]) -> Heading {
        let records: Vec<ByteRecord> = lines.iter().map(|line| line.split(',').collect::<Vec<_>>().into()).collect();
        let dialect = Dialect { separator: b',', decimal: Decimal::Point, na: Vec::new() };
        judge(&records[0], &records[1..], &dialect)
    }

    #[test]
    fn places_and_years_above_other_numbers_are_names() {
        assert_eq!(of(&["0,1,2", "0.5,-1.25,0.75", "1.5,0.1,0.2"]), Heading::Names);
        assert_eq!(of(&["1990,1991,1992", "3.5,4.25,2.5", "1.5,0.1,0.2"]), Heading::Names);
        let counts: Vec<String> = (0..30).map(|n| format!("{},{},{}", n % 7, n % 5, n % 9)).collect();
        let below =
            |first: &'static str| std::iter::once(first).chain(counts.iter().map(String::as_str)).collect::<Vec<_>>();
        assert_eq!(of(&below("1990,1995,2001")), Heading::Names);
        assert_eq!(of(&[&(0..25).map(|n| n.to_string()).collect::<Vec<_>>().join(",")]), Heading::Names);
        // They could be a row too.
        assert_eq!(of(&below("0,1,2")), Heading::Unclear);
        assert_eq!(of(&["0,1", "0.1,0.99", "0.2,0.98"]), Heading::Unclear);
        // Rows.
        for first in ["3,1,2", "2,4,6", "0.5,1,2", "7,7,7"] {
            assert_eq!(of(&below(first)), Heading::Row, "{first}");
        }
        assert_eq!(of(&["0,1", "1,0", "0,1"]), Heading::Row);
        assert_eq!(of(&["-1,0,1", "0.5,0.5,0.5"]), Heading::Row);
    }
}
