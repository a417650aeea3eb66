//! Rows of a path given others.

/// Rows of a path given all others: where they are expected, and a draw about it.
#[derive(Debug, Clone)]
pub struct Window {
    /// Their mean.
    pub mean: Vec<f64>,
    /// A draw from their joint distribution, less the mean.
    pub draw: Vec<f64>,
}

/// One row of a path given some others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marginal {
    /// Where it is expected.
    pub mean: f64,
    /// How sure that is.
    pub variance: f64,
}
