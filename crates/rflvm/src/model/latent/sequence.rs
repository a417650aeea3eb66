//! The rows of one sequence.

use crate::linalg::Mat;

/// The rows of one sequence in the order of their times, and these times in units of the span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sequence {
    pub rows: Vec<usize>,
    pub times: Vec<f64>,
}

impl Sequence {
    /// Axis d of its rows.
    pub fn along(&self, x: &Mat, d: usize) -> Vec<f64> {
        self.rows.iter().map(|&n| x[(n, d)]).collect()
    }
}
