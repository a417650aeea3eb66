//! The sizes of a table and its model.

/// Sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub rows: usize,
    pub columns: usize,
    pub dim: usize,
    pub frequencies: usize,
    pub covariates: usize,
    /// Columns of a linear part of the map: as many as axes, or none.
    pub linear: usize,
    /// Columns of H.
    pub width: usize,
}

impl Shape {
    pub fn cells(&self) -> usize {
        self.rows * self.columns
    }
}
