//! Families: how a cell y_nj is born from f_nj, and how the weights and own parameters of its columns are drawn.
//!
//! The moves of X and W only ask a family for the log-likelihood of one row given that row of F; so they are the
//! same for all families. [`Density`] is what a user writes for a new family; [`Generic`] does the rest.

mod binomial;
mod gaussian;
mod generic;
mod multinomial;
mod negative_binomial;
pub mod poisson;
mod polya_gamma;
mod student_t;
mod zero_inflated_poisson;

pub use binomial::{Binomial, Trials};
pub use gaussian::{Gaussian, GaussianConditional};
pub use generic::{Density, Generic, Parameter};
pub use multinomial::Multinomial;
pub use negative_binomial::NegativeBinomial;
pub use poisson::Poisson;
pub use polya_gamma::weights_given_omega;
pub use student_t::StudentT;
pub use zero_inflated_poisson::ZeroInflatedPoisson;

use crate::error::{DataError, NumericalError};
use crate::linalg::Mat;
use crate::rng::{Stream, StreamRng};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::ops::Range;

/// A family's own parameters: one row a parameter, one column a column of the block; and what they share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Theta {
    /// Parameters × columns.
    pub values: Mat,
    /// Parameters of their prior.
    pub hyper: Vec<f64>,
}

impl Theta {
    /// No parameters.
    pub fn none(columns: usize) -> Self {
        Theta { values: Mat::zeros(0, columns), hyper: Vec::new() }
    }
}

/// Centre and scale of a column, which its priors refer to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Prior mean of the intercept: the link of the column's mean.
    pub centre: f64,
    /// Spread of the column on its own scale; 1 where the family has none.
    pub scale: f64,
}

/// One row of a block.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Which row.
    pub n: usize,
    /// Its cells, NaN where missing.
    pub y: &'a [f64],
    /// θ of the block.
    pub theta: &'a Theta,
}

/// An observed cell of a column: row, value, and the row's offset.
pub type Seen = (usize, f64, f64);

/// A rank-2 change of one row of F: f' = f + a·u + b·v.
#[derive(Debug, Clone, Copy)]
pub struct Shift<'a> {
    /// Change of the row's sine.
    pub a: f64,
    /// Weights of the sine, one a column.
    pub u: &'a [f64],
    /// Change of the row's cosine.
    pub b: f64,
    /// Weights of the cosine, one a column.
    pub v: &'a [f64],
}

impl Shift<'_> {
    /// f'.
    pub fn apply(&self, f: &[f64]) -> Vec<f64> {
        f.iter().zip(self.u).zip(self.v).map(|((f, u), v)| f + self.a * u + self.b * v).collect()
    }
}

/// A family of distributions for a block of columns.
pub trait Family: Send + Sync + Debug {
    /// Its name, as users type it.
    fn name(&self) -> &'static str;

    /// Names of the rows of θ.
    fn parameters(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// What is wrong with the value y of column j (counted in the block) in row n, and what to do; `None` if nothing.
    fn problem(&self, n: usize, j: usize, y: f64) -> Option<String>;

    /// Whether a row as a whole can be.
    fn check_row(&self, _n: usize, _y: &[f64]) -> Result<(), DataError> {
        Ok(())
    }

    /// Whether a row of the block is observed or missing as a whole.
    fn is_whole(&self) -> bool {
        false
    }

    /// Whether the block's shape fits what the family was given (a matrix of trials, say).
    fn check_shape(&self, _rows: usize, _columns: usize) -> Result<(), DataError> {
        Ok(())
    }

    /// Centre and scale of column j from its observed cells (at least one).
    fn unit(&self, j: usize, seen: &[Seen]) -> Unit;

    /// Puts the centres of a block's columns in relation to each other, where they have one.
    fn relate(&self, _units: &mut [Unit]) {}

    /// Roughly f for a cell y: where principal components look for structure.
    fn link(&self, n: usize, j: usize, y: f64) -> f64;

    /// θ_j to start from, given the observed cells of the column.
    fn start(&self, _seen: &[Seen], _unit: &Unit) -> Vec<f64> {
        Vec::new()
    }

    /// What the parameters share, to start from.
    fn start_hyper(&self, _values: &Mat) -> Vec<f64> {
        Vec::new()
    }

    /// θ from its prior.
    fn draw_prior(&self, units: &[Unit], _rng: &mut StreamRng) -> Theta {
        Theta::none(units.len())
    }

    /// ln p(θ).
    fn log_prior(&self, _theta: &Theta, _units: &[Unit]) -> f64 {
        0.0
    }

    /// ln p(y_n | f_n, θ) with all constants, written plainly.
    fn log_density(&self, row: Row<'_>, f: &[f64]) -> f64;

    /// The part of ln p(y_n | f_n, θ) that depends on f, fast.
    fn log_lik(&self, row: Row<'_>, f: &[f64]) -> f64;

    /// [`Family::log_lik`] at f + a·u + b·v.
    fn log_lik_shifted(&self, row: Row<'_>, f: &[f64], shift: Shift<'_>) -> f64 {
        self.log_lik(row, &shift.apply(f))
    }

    /// [`Family::log_lik`], and its derivative with respect to f in `g`.
    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64;

    /// Roughly how much each cell knows of its f: minus the second derivative of [`Family::log_lik`], never below zero.
    fn information(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        const STEP: f64 = 1e-3;
        let mut g = vec![0.0; f.len()];
        let moved: Vec<f64> = f.iter().map(|f| f + STEP).collect();
        self.gradient(row, &moved, &mut g);
        self.gradient(row, f, out);
        out.iter_mut().zip(&g).for_each(|(o, g)| *o = ((*o - g) / STEP).max(0.0));
    }

    /// E[y | f] of each cell.
    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]);

    /// A draw of each cell.
    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng);

    /// What multiplies the prior precision of the weights of column j.
    fn weight_precision(&self, _theta: &Theta, _j: usize) -> f64 {
        1.0
    }

    /// Whether column j of a block of `columns` has weights of its own.
    fn is_free(&self, _j: usize, _columns: usize) -> bool {
        true
    }

    /// The Gaussian family, whose weights can be integrated out.
    fn as_gaussian(&self) -> Option<&Gaussian> {
        None
    }

    /// Puts θ where its density given F (and the weights, where their prior depends on it) is highest; for a point estimate. Left
    /// alone by default: a scale of noise that follows what the weights have fitted can go to zero.
    fn maximise_parameters(&self, _block: &mut BlockView<'_>) {}

    /// Draws θ given the weights (or, where that is possible, with the weights integrated out).
    fn update_parameters(&self, _block: &mut BlockView<'_>, _stream: Stream) -> Result<(), NumericalError> {
        Ok(())
    }

    /// Draws θ and the weights given X and W; of columns that are not due, as much as is cheap.
    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError>;
}

/// A block of columns with all that its update needs.
#[derive(Debug)]
pub struct BlockView<'a> {
    /// H, N×(M+1).
    pub h: &'a Mat,
    /// Y of the whole model.
    pub y: &'a Mat,
    /// Which columns of Y, β and F are the block's.
    pub columns: Range<usize>,
    /// o.
    pub offset: &'a [f64],
    /// Centres and scales, one a column of the block.
    pub units: &'a [Unit],
    /// τ_j², one a column of the block.
    pub tau2: &'a [f64],
    /// s_c².
    pub intercept_variance: f64,
    /// θ of the block.
    pub theta: &'a mut Theta,
    /// β of the whole model.
    pub beta: &'a mut Mat,
    /// F of the whole model.
    pub f: &'a mut Mat,
    /// Share of the columns whose weights are to be redrawn; the gradient move has moved them all.
    pub share: f64,
}

/// One column of a block: copies of what may change, views of the rest.
#[derive(Debug)]
pub struct Column<'a> {
    /// Which column of the block.
    pub j: usize,
    /// Whether its weights are to be redrawn.
    pub is_due: bool,
    /// H.
    pub h: &'a Mat,
    /// y_·j, NaN where missing.
    pub y: Vec<f64>,
    /// f_·j on entry.
    pub f: Vec<f64>,
    /// o.
    pub offset: &'a [f64],
    /// Centre and scale.
    pub unit: Unit,
    /// β_j.
    pub beta: Vec<f64>,
    /// θ_j.
    pub theta: Vec<f64>,
    /// What the block's parameters share.
    pub hyper: &'a [f64],
    /// Prior precision of β_j, for unit weight scale.
    pub precision: Vec<f64>,
}

impl Column<'_> {
    /// B0⁻¹ b_0: only the intercept has a prior mean.
    pub fn prior_shift(&self) -> Vec<f64> {
        let last = self.precision.len() - 1;
        let mut shift = vec![0.0; last + 1];
        shift[last] = self.precision[last] * self.unit.centre;
        shift
    }

    /// o + Hβ for other weights.
    pub fn predictor(&self, beta: &[f64]) -> Vec<f64> {
        self.h.iter_rows().zip(self.offset).map(|(h, o)| o + crate::simd::dot(h, beta)).collect()
    }
}

impl BlockView<'_> {
    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Prior precision of the weights of column j for unit weight scale.
    pub fn precision(&self, j: usize) -> Vec<f64> {
        let last = self.h.cols() - 1;
        let mut precision = vec![1.0 / self.tau2[j]; last + 1];
        precision[last] = 1.0 / self.intercept_variance;
        precision
    }

    /// Column j.
    pub fn column(&self, j: usize, stream: Stream) -> Column<'_> {
        let global = self.columns.start + j;
        Column {
            j,
            is_due: stream.is_chosen(self.share),
            h: self.h,
            y: self.y.col(global),
            f: self.f.col(global),
            offset: self.offset,
            unit: self.units[j],
            beta: self.beta.col(global),
            theta: self.theta.values.col(j),
            hyper: &self.theta.hyper,
            precision: self.precision(j),
        }
    }

    /// Applies `update` to each column, columns in parallel, each with a stream of its own; then stores β_j and θ_j.
    pub fn each_column(
        &mut self,
        stream: Stream,
        work: usize,
        update: impl Fn(&mut Column<'_>, &mut StreamRng) -> Result<(), NumericalError> + Sync,
    ) -> Result<(), NumericalError> {
        self.update_columns((0..self.width()).collect(), stream, work, update)
    }

    /// The same for those columns whose weights are to be redrawn.
    pub fn each_due_column(
        &mut self,
        stream: Stream,
        work: usize,
        update: impl Fn(&mut Column<'_>, &mut StreamRng) -> Result<(), NumericalError> + Sync,
    ) -> Result<(), NumericalError> {
        let due = (0..self.width()).filter(|&j| stream.at(j as u64).is_chosen(self.share)).collect();
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
        let drawn = crate::par::map(columns.len(), columns.len() * work, |i| {
            let stream = stream.at(columns[i] as u64);
            let mut column = view.column(columns[i], stream);
            update(&mut column, &mut stream.rng()).map(|()| (column.beta, column.theta))
        });
        for (j, drawn) in columns.into_iter().zip(drawn) {
            let (beta, theta) = drawn?;
            self.beta.set_col(self.columns.start + j, &beta);
            self.theta.values.set_col(j, &theta);
        }
        Ok(())
    }

    /// θ_j of each column from the column, in parallel; the weights stay unless the column has changed them.
    pub fn set_columns(&mut self, work: usize, find: impl Fn(&mut Column<'_>) + Sync) {
        let view = &*self;
        let found = crate::par::map(view.width(), view.width() * work, |j| {
            let mut column = view.column(j, Stream::new(0));
            find(&mut column);
            (column.beta, column.theta)
        });
        for (j, (beta, theta)) in found.into_iter().enumerate() {
            self.beta.set_col(self.columns.start + j, &beta);
            self.theta.values.set_col(j, &theta);
        }
    }

    /// Cells of work in one N×M² product: what a conjugate draw of one column costs.
    pub fn gram_work(&self) -> usize {
        self.h.rows() * self.h.cols() * self.h.cols() / 8
    }
}

/// ln of the mean exposure-adjusted count, kept away from −∞ for columns of zeros.
fn log_rate(seen: &[Seen]) -> f64 {
    let total: f64 = seen.iter().map(|s| s.1).sum();
    let exposure: f64 = seen.iter().map(|s| s.2.exp()).sum();
    (total.max(0.5) / exposure).ln()
}

/// The complaint about a value that is no count.
fn not_a_count(y: f64) -> Option<String> {
    if y < 0.0 {
        Some("is negative, but this family takes counts; choose gaussian or student-t for such a column".into())
    } else if y.fract() != 0.0 {
        Some("is not a whole number, but this family takes counts; round it, or choose gaussian or student-t".into())
    } else if y > 1e15 {
        Some("is too large for a count; rescale the column or choose gaussian".into())
    } else {
        None
    }
}
