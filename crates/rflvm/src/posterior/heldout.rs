//! Held-out cells: ln p(y_c | Y_train) = ln (1/S) Σ_s p(y_c | f_c^s, θ^s), accumulated over the draws.
//!
//! A point is a held-out cell, or the held-out trials of a multinomial row. Each keeps a running log-sum-exp, so memory does not
//! grow with the draws.

use super::mixing::{Mixing, Trace};
use super::ranking::RowScores;
use crate::dist::ln_sum_exp;
use crate::draws::{Draw, Draws};
use crate::error::StoreError;
use crate::linalg::Mat;
use crate::model::family::{Row, Theta};
use crate::model::{Model, State};

/// The held-out points of a table.
#[derive(Debug, Clone)]
pub struct TestPoints {
    /// In the model's order of columns, NaN elsewhere.
    test: Mat,
    list: Vec<TestPoint>,
}

#[derive(Debug, Clone, Copy)]
struct TestPoint {
    row: usize,
    block: usize,
    /// A column of the block; `None` for a multinomial row.
    column: Option<usize>,
}

impl TestPoints {
    /// From a table in its own order of columns, NaN where nothing is held out.
    pub fn new(model: &Model, test: &Mat) -> Self {
        Self::of(model, Mat::from_fn(test.rows(), test.cols(), |n, c| test[(n, model.order()[c])]))
    }

    /// All observed cells of a model.
    pub fn of_rows(model: &Model) -> Self {
        Self::of(model, model.y().clone())
    }

    /// From a table in the model's order of columns.
    pub(super) fn of(model: &Model, test: Mat) -> Self {
        let mut list = Vec::new();
        for (row, cells) in test.iter_rows().enumerate() {
            for (block, b) in model.blocks().iter().enumerate() {
                let cells = &cells[b.columns.clone()];
                if b.family.is_whole() {
                    list.extend((!cells[0].is_nan()).then_some(TestPoint { row, block, column: None }));
                } else {
                    let held = (0..cells.len()).filter(|&j| !cells[j].is_nan());
                    list.extend(held.map(|j| TestPoint { row, block, column: Some(j) }));
                }
            }
        }
        TestPoints { test, list }
    }

    /// Row and column of each point in the model; the first column of a multinomial row.
    pub fn places(&self, model: &Model) -> Vec<(usize, usize)> {
        let place =
            |point: &TestPoint| (point.row, model.blocks()[point.block].columns.start + point.column.unwrap_or(0));
        self.list.iter().map(place).collect()
    }

    /// ln p(y | f, θ) of each point in one state.
    pub fn ln_densities(&self, model: &Model, state: &State) -> Vec<f64> {
        self.ln_densities_at(model, &state.theta, &state.f)
    }

    /// ln p(y | f, θ) of each point for any θ and F.
    pub fn ln_densities_at(&self, model: &Model, theta: &[Theta], f: &Mat) -> Vec<f64> {
        // A family evaluates rows; a row with a single observed cell evaluates that cell.
        let mut lone = vec![f64::NAN; model.columns()];
        let price = |point: &TestPoint| {
            let block = &model.blocks()[point.block];
            let (columns, theta) = (block.columns.clone(), &theta[point.block]);
            let (y, f) = (&self.test.row(point.row)[columns.clone()], &f.row(point.row)[columns.clone()]);
            let Some(j) = point.column else {
                return block.family.ln_density(Row { n: point.row, first: 0, y, theta }, f);
            };
            let lone = &mut lone[columns];
            lone[j] = y[j];
            let ln_density = block.family.ln_density(Row { n: point.row, first: 0, y: lone, theta }, f);
            lone[j] = f64::NAN;
            ln_density
        };
        self.list.iter().map(price).collect()
    }
}

/// ln Σ e^v of a sequence of values.
#[derive(Debug, Clone, Copy)]
pub(super) struct LnSum {
    top: f64,
    rest: f64,
}

impl LnSum {
    pub const NONE: LnSum = LnSum { top: f64::NEG_INFINITY, rest: 0.0 };

    pub fn add(&mut self, v: f64) {
        if v > self.top {
            self.rest = self.rest * (self.top - v).exp() + 1.0;
            self.top = v;
        } else if v > f64::NEG_INFINITY {
            self.rest += (v - self.top).exp();
        }
    }

    pub fn ln(self) -> f64 {
        if self.rest > 0.0 { self.top + self.rest.ln() } else { f64::NEG_INFINITY }
    }
}

/// Held-out densities from one chain, with its mixing diagnostics.
#[derive(Debug)]
pub struct Heldout<'a> {
    points: &'a TestPoints,
    sums: Vec<LnSum>,
    trace: Trace,
}

impl<'a> Heldout<'a> {
    /// For one chain.
    pub fn new(model: &Model, points: &'a TestPoints) -> Self {
        Heldout { points, sums: vec![LnSum::NONE; points.list.len()], trace: Trace::new(model) }
    }
}

impl Draws for Heldout<'_> {
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
        let each = self.points.ln_densities(draw.model, draw.state);
        self.sums.iter_mut().zip(each).for_each(|(sum, v)| sum.add(v));
        self.trace.push(draw);
        Ok(())
    }
}

/// The score over all chains in use, row by row.
pub fn score(model: &Model, chains: &[Heldout<'_>]) -> (RowScores, Mixing) {
    let mixing = Mixing::of(&chains.iter().map(|c| &c.trace).collect::<Vec<_>>());
    let used: Vec<&Heldout<'_>> = chains.iter().zip(&mixing.verdicts).filter(|(_, v)| v.used).map(|(c, _)| c).collect();
    let draws: usize = used.iter().map(|c| c.trace.draws()).sum();
    let mut rows = RowScores { ln_density: vec![0.0; model.rows()], points: vec![0; model.rows()] };
    let list = used.first().map_or(&[][..], |c| &c.points.list);
    for (i, point) in list.iter().enumerate() {
        let sums: Vec<f64> = used.iter().map(|c| c.sums[i].ln()).collect();
        rows.ln_density[point.row] += ln_sum_exp(&sums) - (draws as f64).ln();
        rows.points[point.row] += 1;
    }
    (rows, mixing)
}

#[cfg(test)]
mod tests;
