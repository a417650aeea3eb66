//! Numbers of trials of binomial cells.

use crate::linalg::Mat;

/// Numbers of trials.
#[derive(Debug, Clone, PartialEq)]
pub enum Trials {
    /// The same for all cells.
    Same(u32),
    /// One per cell, in the shape of the block.
    Each(Mat),
}

impl Trials {
    /// The number, if it is the same for all cells.
    pub fn same(&self) -> Option<u32> {
        match self {
            Trials::Same(b) => Some(*b),
            Trials::Each(_) => None,
        }
    }

    /// Those of a cell.
    pub fn of(&self, n: usize, j: usize) -> f64 {
        match self {
            Trials::Same(b) => f64::from(*b),
            Trials::Each(b) if n < b.rows() => b[(n, j)],
            // A row outside the table.
            Trials::Each(_) => 1.0,
        }
    }
}
