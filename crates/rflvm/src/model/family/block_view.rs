//! A view of a block of columns, for the updates of its family.

use super::parts::{Theta, Unit};
use crate::chunks::{Chunk, Chunks};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::{Amplitude, Known};
use crate::rng::{Stream, StreamRng};
use crate::{par, simd};
use std::ops::Range;

/// A block of columns with everything its update needs.
#[derive(Debug)]
pub struct BlockView<'a> {
    /// H.
    pub h: &'a Mat,
    /// Y of the whole model.
    pub y: &'a Mat,
    /// The block's range of columns in Y, β and F.
    pub columns: Range<usize>,
    /// The first of them within the whole block, of which other processes may have some.
    pub first: usize,
    /// Number of columns of the whole block.
    pub all: usize,
    /// Whether no cell of the whole block is missing.
    pub is_complete: bool,
    /// The chunks of the model.
    pub chunks: &'a Chunks,
    /// What F is besides Hβ, of the whole model.
    pub known: Known<'a>,
    /// Centres and scales, one per column of the block.
    pub units: &'a [Unit],
    /// τ_j², one per column of the block.
    pub tau2: &'a mut [f64],
    /// Their prior.
    pub amplitude: Amplitude,
    /// s_c².
    pub intercept_variance: f64,
    /// θ of the block.
    pub theta: &'a mut Theta,
    /// β of the whole model.
    pub beta: &'a mut Mat,
    /// F of the whole model.
    pub f: &'a mut Mat,
    /// Fraction of the columns whose weights are redrawn; the gradient move has already moved all of them.
    pub share: f64,
    /// What columns hold in place of their cells of Y, in the shape of the block: see [`BlockView::seeing`].
    pub cells: Option<Mat>,
}

/// One column of a block: copies of what can change, references to the rest.
#[derive(Debug)]
pub struct Column<'a> {
    /// Index of the column in the block.
    pub j: usize,
    /// Whether its weights are redrawn.
    pub is_due: bool,
    /// H.
    pub h: &'a Mat,
    /// y_·j, NaN where missing.
    pub y: Vec<f64>,
    /// f_·j on entry.
    pub f: Vec<f64>,
    /// o + g_j.
    pub offset: Vec<f64>,
    /// Centre and scale.
    pub unit: Unit,
    /// β_j.
    pub beta: Vec<f64>,
    /// θ_j.
    pub theta: Vec<f64>,
    /// Hyperparameters shared by the block.
    pub hyper: &'a [f64],
    /// τ_j².
    pub tau2: f64,
    /// Prior precision of β_j, for unit weight scale.
    pub precision: Vec<f64>,
}

impl Column<'_> {
    /// (β_j − b_0)ᵀS0⁻¹(β_j − b_0).
    pub fn weighted_square(&self) -> f64 {
        let last = self.beta.len() - 1;
        let centre = |m: usize| if m == last { self.unit.centre } else { 0.0 };
        let weights = self.beta.iter().zip(&self.precision).enumerate();
        weights.map(|(m, (beta, precision))| precision * (beta - centre(m)).powi(2)).sum()
    }

    /// B0⁻¹ b_0: only the intercept has a prior mean.
    pub fn prior_shift(&self) -> Vec<f64> {
        let last = self.precision.len() - 1;
        let mut shift = vec![0.0; last + 1];
        shift[last] = self.precision[last] * self.unit.centre;
        shift
    }

    /// o + g_j + Hβ for other weights.
    pub fn predictor(&self, beta: &[f64]) -> Vec<f64> {
        self.h.iter_rows().zip(&self.offset).map(|(h, o)| o + simd::dot(h, beta)).collect()
    }
}

impl BlockView<'_> {
    /// Lets `update` see other cells than those of Y, in the shape of the block.
    pub fn seeing<T>(&mut self, cells: Mat, update: impl FnOnce(&mut Self) -> T) -> T {
        self.cells = Some(cells);
        let outcome = update(self);
        self.cells = None;
        outcome
    }

    /// The cell of column j in row n.
    pub fn cell(&self, n: usize, j: usize) -> f64 {
        self.cells.as_ref().map_or_else(|| self.y[(n, self.columns.start + j)], |cells| cells[(n, j)])
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Σ over the columns of the whole block.
    pub fn sum(&self, f: impl Fn(usize) -> f64 + Sync) -> f64 {
        let within = |some: &Range<usize>| some.start.max(self.columns.start)..some.end.min(self.columns.end);
        self.chunks.sum(|Chunk { columns, .. }| within(columns).map(|j| f(j - self.columns.start)).sum())
    }

    /// τ² of the whole block, where it is shared.
    pub fn shared_tau2(&self) -> f64 {
        if self.chunks.is_alone() {
            return self.tau2[0];
        }
        self.sum(|j| if self.first + j == 0 { self.tau2[j] } else { 0.0 })
    }

    /// The stream of column j.
    pub fn stream(&self, stream: Stream, j: usize) -> Stream {
        stream.at((self.first + j) as u64)
    }

    /// Prior precision of the weights of column j for unit weight scale.
    pub fn precision(&self, j: usize) -> Vec<f64> {
        let last = self.h.cols() - 1;
        let mut precision = vec![1.0 / self.tau2[j]; last + 1];
        precision[last] /= self.intercept_variance;
        precision
    }

    /// Column j.
    pub fn column(&self, j: usize, stream: Stream) -> Column<'_> {
        let global = self.columns.start + j;
        Column {
            j,
            is_due: stream.is_chosen(self.share),
            h: self.h,
            y: self.cells.as_ref().map_or_else(|| self.y.col(global), |cells| cells.col(j)),
            f: self.f.col(global),
            offset: (0..self.h.rows()).map(|n| self.known.at(n, global)).collect(),
            unit: self.units[j],
            beta: self.beta.col(global),
            theta: self.theta.values.col(j),
            hyper: &self.theta.hyper,
            tau2: self.tau2[j],
            precision: self.precision(j),
        }
    }

    /// Applies `update` to each column in parallel, each with its own stream; then stores β_j, θ_j and τ_j².
    pub fn each_column(
        &mut self,
        stream: Stream,
        work: usize,
        update: impl Fn(&mut Column<'_>, &mut StreamRng) -> Result<(), NumericalError> + Sync,
    ) -> Result<(), NumericalError> {
        self.update_columns((0..self.width()).collect(), stream, work, update)
    }

    /// Only the columns whose weights are redrawn.
    pub fn each_due_column(
        &mut self,
        stream: Stream,
        work: usize,
        update: impl Fn(&mut Column<'_>, &mut StreamRng) -> Result<(), NumericalError> + Sync,
    ) -> Result<(), NumericalError> {
        let due = (0..self.width()).filter(|&j| self.stream(stream, j).is_chosen(self.share)).collect();
        self.update_columns(due, stream, work, update)
    }

    fn update_columns(
        &mut self,
        columns: Vec<usize>,
        stream: Stream,
        work: usize,
        update: impl Fn(&mut Column<'_>, &mut StreamRng) -> Result<(), NumericalError> + Sync,
    ) -> Result<(), NumericalError> {
        let view = &*self;
        let drawn = par::map(columns.len(), columns.len() * work, |i| {
            let stream = view.stream(stream, columns[i]);
            let mut column = view.column(columns[i], stream);
            update(&mut column, &mut stream.rng()).map(|()| (column.beta, column.theta, column.tau2))
        });
        for (j, drawn) in columns.into_iter().zip(drawn) {
            let (beta, theta, tau2) = drawn?;
            self.beta.set_col(self.columns.start + j, &beta);
            self.theta.values.set_col(j, &theta);
            self.tau2[j] = tau2;
        }
        Ok(())
    }

    /// Sets θ_j of each column in parallel; the weights stay unless `set` changes them.
    pub fn set_columns(&mut self, work: usize, find: impl Fn(&mut Column<'_>) + Sync) {
        let view = &*self;
        let found = par::map(view.width(), view.width() * work, |j| {
            let mut column = view.column(j, Stream::new(0));
            find(&mut column);
            (column.beta, column.theta)
        });
        for (j, (beta, theta)) in found.into_iter().enumerate() {
            self.beta.set_col(self.columns.start + j, &beta);
            self.theta.values.set_col(j, &theta);
        }
    }

    /// Cells of work in one N×M² product: the cost of a conjugate draw of one column.
    pub fn gram_work(&self) -> usize {
        self.h.rows() * self.h.cols() * self.h.cols() / 8
    }
}
