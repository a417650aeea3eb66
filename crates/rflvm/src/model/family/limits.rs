//! Limits beyond which cells cannot be measured, such as limits of detection.

use crate::linalg::Mat;
use std::ops::Range;

/// Limits of the cells of a block. A cell at its lower limit, or below, is known to be at most that; one at its upper limit, or above, at least that.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Lower limits in the shape of the block, −∞ where there is none.
    pub lower: Mat,
    /// Upper limits, ∞ where there is none.
    pub upper: Mat,
}

impl Limits {
    /// The limits of a cell; a row outside the table has none.
    pub fn of(&self, n: usize, j: usize) -> [f64; 2] {
        match n < self.lower.rows() {
            true => [self.lower[(n, j)], self.upper[(n, j)]],
            false => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }

    /// A cell as it would be recorded.
    pub fn recorded(&self, n: usize, j: usize, y: f64) -> f64 {
        let [lower, upper] = self.of(n, j);
        y.max(lower).min(upper)
    }

    /// Those of some of the rows; a row outside the table has none.
    pub fn of_rows(&self, rows: &[usize]) -> Self {
        let of = |side: usize| Mat::from_fn(rows.len(), self.lower.cols(), |n, j| self.of(rows[n], j)[side]);
        Limits { lower: of(0), upper: of(1) }
    }

    /// Those of some of the columns.
    pub fn of_columns(&self, columns: Range<usize>) -> Self {
        let of = |all: &Mat| Mat::from_fn(all.rows(), columns.len(), |n, j| all[(n, columns.start + j)]);
        Limits { lower: of(&self.lower), upper: of(&self.upper) }
    }
}
