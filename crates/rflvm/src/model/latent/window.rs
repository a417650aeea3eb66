//! Rows of a path given others.

/// Rows of a path given all others: their mean, and a draw about it.
#[derive(Debug, Clone)]
pub struct Window {
    /// Their mean.
    pub mean: Vec<f64>,
    /// A draw from their joint distribution, minus the mean.
    pub draw: Vec<f64>,
}

/// One row of a path given some others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditional {
    /// Its mean.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
}
