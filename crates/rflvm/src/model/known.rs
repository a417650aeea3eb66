//! The part of F besides Hβ: the row's offset o_n, and the column processes g_nj where they have them.

use super::Model;
use crate::linalg::Mat;

/// o_n + g_nj.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    offset: &'a [f64],
    own: Option<&'a Mat>,
}

impl<'a> Known<'a> {
    /// From offsets and paths; an empty table means that columns have none.
    pub fn new(offset: &'a [f64], own: &'a Mat) -> Self {
        Known { offset, own: (own.rows() > 0).then_some(own) }
    }

    /// Offsets alone.
    pub fn of(model: &'a Model) -> Self {
        Known { offset: model.offset(), own: None }
    }

    /// g_nj.
    pub fn own(self, n: usize, j: usize) -> f64 {
        self.own.map_or(0.0, |own| own[(n, j)])
    }

    /// o_n + g_nj.
    pub fn at(self, n: usize, j: usize) -> f64 {
        self.offset[n] + self.own(n, j)
    }

    /// Row n.
    pub fn fill(self, n: usize, to: &mut [f64]) {
        self.fill_cells(n, 0, to);
    }

    /// The cells of row n from column `first` on.
    pub fn fill_cells(self, n: usize, first: usize, to: &mut [f64]) {
        to.fill(self.offset[n]);
        if let Some(own) = self.own {
            to.iter_mut().zip(&own.row(n)[first..]).for_each(|(to, g)| *to += g);
        }
    }

    /// Row n is added.
    pub fn add(self, n: usize, to: &mut [f64]) {
        self.add_cells(n, 0, to);
    }

    /// The cells of row n from column `first` on are added.
    pub fn add_cells(self, n: usize, first: usize, to: &mut [f64]) {
        to.iter_mut().for_each(|to| *to += self.offset[n]);
        if let Some(own) = self.own {
            to.iter_mut().zip(&own.row(n)[first..]).for_each(|(to, g)| *to += g);
        }
    }
}
