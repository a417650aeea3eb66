//! What a column of numbers holds, judged by its values.

use serde::{Deserialize, Serialize};

/// What a column of numbers holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// No observed cell.
    Nothing,
    /// Words for yes and no.
    Truth,
    /// Zeros and ones.
    Binary,
    /// Non-negative whole numbers.
    Counts,
    /// Whole numbers that vary far less than counts do: years, scores, lengths.
    Even,
    /// A few of them, which may be groups: three years, classes.
    Few,
    /// Whole numbers that keep away from zero: ages of adults, incomes.
    Amounts,
    /// Answers on a scale from 1, as other columns have too.
    Scale,
    /// Any other numbers.
    Real,
    /// Part of a category.
    Level,
}

/// A column, reduced to what the choice of its family and the advice about it need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// What kind of numbers it holds.
    pub kind: Kind,
    /// Whether its numbers are whole and from 1 to at most 10.
    pub may_be_scale: bool,
    /// Whether it has every whole number from 1 to its largest, at least 4.
    pub is_consecutive: bool,
    /// Whether only a limit is known of some cells, such as `<0.5`.
    pub has_limits: bool,
    /// Whether all observed cells are above zero.
    pub is_positive: bool,
    /// Whether all observed cells are equal.
    pub is_constant: bool,
    /// Whether it numbers the rows, one by one.
    pub is_index: bool,
    /// Variance over mean; NaN where it is undefined.
    #[serde(with = "bits")]
    pub dispersion: f64,
    /// The largest observed cell, or 0 if none is larger.
    #[serde(with = "bits")]
    pub top: f64,
}

/// A column is taken for row numbers only if the table has at least this many rows.
const INDEX_ROWS: usize = 10;
/// Groups have at least this many cells each, on average.
const CELLS_PER_GROUP: usize = 10;
/// The largest number of a scale of answers, the least number of rows, and how many columns have such a scale.
const TOP: f64 = 10.0;
const ANSWERS: usize = 20;
const SCALES: usize = 3;
/// Counts come this close to zero.
const NEAR_ZERO: f64 = 100.0;

impl Kind {
    /// What a column holds, in words.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Nothing => "nothing",
            Kind::Truth => "yes/no",
            Kind::Binary => "zeros and ones",
            Kind::Counts => "counts",
            Kind::Even => "whole numbers that vary less than counts",
            Kind::Few => "a few whole numbers",
            Kind::Amounts => "whole numbers away from zero",
            Kind::Scale => "answers on a scale",
            Kind::Real => "numbers",
            Kind::Level => "categories",
        }
    }
}

/// Finds scales of answers: those that other columns have too, or that are known by their answers, all of which occur and vary less than counts.
pub fn compare(seen: &mut [Seen]) {
    let scales = seen.iter().filter(|s| s.may_be_scale).count();
    let is_scale = |s: &Seen| s.may_be_scale && (scales >= SCALES || s.kind == Kind::Even && s.is_consecutive);
    seen.iter_mut().filter(|s| is_scale(s)).for_each(|column| column.kind = Kind::Scale);
}

impl Seen {
    /// A column that is known to be of some kind, whatever its cells.
    pub fn known(kind: Kind) -> Self {
        Seen {
            kind,
            may_be_scale: false,
            is_consecutive: false,
            has_limits: false,
            is_positive: false,
            is_constant: false,
            is_index: false,
            dispersion: f64::NAN,
            top: 0.0,
        }
    }

    /// Examines a column's observed cells; `rows` is the number of rows of the table.
    pub fn of(cells: &[f64], rows: usize) -> Self {
        let count = cells.len() as f64;
        let mean = cells.iter().sum::<f64>() / count;
        let variance = cells.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let dispersion = variance / mean;
        // Less than half the variance of a Poisson, by at least four standard errors.
        let is_even = dispersion < (1.0 - 4.0 * (2.0 / (count - 1.0)).sqrt()).min(0.5);
        let kind = if cells.is_empty() {
            Kind::Nothing
        } else if cells.iter().all(|v| *v == 0.0 || *v == 1.0) {
            Kind::Binary
        } else if cells.iter().all(|v| *v >= 0.0 && v.fract() == 0.0) {
            let least = cells.iter().copied().fold(f64::INFINITY, f64::min);
            let least_positive = cells.iter().copied().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
            match distinct(cells) {
                Some(groups @ 3..)
                    if is_even && (groups == 3 || least >= TOP) && cells.len() >= groups * CELLS_PER_GROUP =>
                {
                    Kind::Few
                }
                _ if is_even => Kind::Even,
                _ if cells.len() >= ANSWERS && (least_positive >= NEAR_ZERO || least >= TOP && least > mean / 4.0) => {
                    Kind::Amounts
                }
                _ => Kind::Counts,
            }
        } else {
            Kind::Real
        };
        let is_whole = cells.iter().all(|v| v.fract() == 0.0);
        let is_short =
            cells.iter().all(|v| (1.0..=TOP).contains(v)) && cells.contains(&1.0) && cells.iter().any(|v| *v > 2.0);
        let is_index = is_whole && cells.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
        let top = cells.iter().copied().fold(0.0, f64::max);
        let is_consecutive = (4.0..=TOP).contains(&top) && (1..=top as u32).all(|k| cells.contains(&f64::from(k)));
        Seen {
            kind,
            is_consecutive,
            has_limits: false,
            is_positive: cells.iter().all(|v| *v > 0.0),
            may_be_scale: is_whole && is_short && cells.len() >= ANSWERS,
            is_constant: !cells.is_empty() && cells.iter().all(|v| *v == cells[0]),
            is_index: is_index && cells.len() == rows && rows >= INDEX_ROWS,
            dispersion,
            top,
        }
    }
}

/// The number of distinct values, if they are few.
pub fn distinct(cells: &[f64]) -> Option<usize> {
    let mut values: Vec<f64> = Vec::new();
    for cell in cells {
        if !values.contains(cell) {
            values.push(*cell);
        }
        if values.len() as f64 > TOP {
            return None;
        }
    }
    Some(values.len())
}

/// Numbers that travel as text with all their bits.
mod bits {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(number.to_bits())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}
