//! Arguments of a family's methods: its parameters, a column's unit, a row, a change of a row.

use crate::linalg::Mat;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A family's parameters: one row per parameter, one column per column of the block; and their hyperparameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Theta {
    /// Parameters × columns.
    pub values: Mat,
    /// Hyperparameters that they share.
    pub hyper: Vec<f64>,
}

impl Theta {
    /// No parameters.
    pub fn none(columns: usize) -> Self {
        Theta { values: Mat::zeros(0, columns), hyper: Vec::new() }
    }
}

/// Centre and scale of a column, to which its priors refer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Prior mean of the intercept: the link of the column's mean.
    pub centre: f64,
    /// Scale of the column on its own scale; 1 if the family has none.
    pub scale: f64,
    /// ½ Σ_n δ²/12, δ the width to which its observed cells are rounded; zero where the family does not ask. On the scale of the column's cells.
    pub rounding: f64,
}

impl Unit {
    /// Of cells that are not rounded.
    pub const fn new(centre: f64, scale: f64) -> Self {
        Unit { centre, scale, rounding: 0.0 }
    }
}

/// One row of a block.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Index of the row.
    pub n: usize,
    /// The first of its columns, counted within the block: not zero where only some of them are meant.
    pub first: usize,
    /// Its cells, NaN where missing.
    pub y: &'a [f64],
    /// θ of the block.
    pub theta: &'a Theta,
}

impl<'a> Row<'a> {
    /// Its columns, counted within the block.
    pub fn cells(&self) -> Range<usize> {
        self.first..self.first + self.y.len()
    }

    /// Parameter p of its columns.
    pub fn parameters(&self, p: usize) -> &'a [f64] {
        &self.theta.values.row(p)[self.cells()]
    }
}

/// An observed cell of a column: row, value, and the row's offset.
pub type Seen = (usize, f64, f64);

/// A rank-2 change of one row of F: f' = f + a·u + b·v.
#[derive(Debug, Clone, Copy)]
pub struct Shift<'a> {
    /// Change of the row's sine.
    pub a: f64,
    /// Weights of the sine, one per column.
    pub u: &'a [f64],
    /// Change of the row's cosine.
    pub b: f64,
    /// Weights of the cosine, one per column.
    pub v: &'a [f64],
}

impl Shift<'_> {
    /// f'.
    pub fn apply(&self, f: &[f64]) -> Vec<f64> {
        f.iter().zip(self.u).zip(self.v).map(|((f, u), v)| f + self.a * u + self.b * v).collect()
    }
}
