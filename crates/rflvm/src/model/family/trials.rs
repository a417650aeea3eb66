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
