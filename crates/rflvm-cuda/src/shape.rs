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
    /// Sets of categories.
    pub sets: usize,
    /// Groups of columns that share what is known of their f.
    pub groups: usize,
}

impl Shape {
    /// Columns of H as they are held, those after `width` zero: cuBLAS multiplies matrices almost twice as fast if their rows begin at a multiple of 16 bytes.
    pub fn pitch(&self) -> usize {
        pitch(self.width)
    }

    /// Products of pairs of columns of H, and as they are held.
    pub fn triangle(&self) -> usize {
        pitch(self.width * (self.width + 1) / 2)
    }

    /// Rows at other positions for which there is memory: those of the table; a few thousand of a short one, for the sake of a card's speed; and a row's
    /// slopes take the place of one more row per axis.
    pub fn candidates(&self) -> usize {
        self.rows.max(self.dim + 1).max(at_least(self.columns))
    }

    pub fn cells(&self) -> usize {
        self.rows * self.columns
    }
}

/// Candidates for which there is memory however short a table is: at most 4 million cells.
pub(crate) fn at_least(columns: usize) -> usize {
    ((1 << 22) / columns).min(4096)
}

/// The length of a row as it is held.
pub(crate) fn pitch(length: usize) -> usize {
    length.next_multiple_of(8)
}
