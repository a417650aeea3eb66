//! Families: the distribution of a cell y_nj given f_nj, and updates of the weights and parameters of its columns.
//!
//! The moves of X and W need only the log-likelihood of one row given that row of F, so they are the
//! same for all families. To add a family, implement [`Density`]; [`Generic`] does the rest.

mod about;
mod binomial;
mod block_view;
mod censored;
mod count;
mod gaussian;
mod generic;
mod isotropic;
mod law;
mod limits;
mod log_normal;
mod multinomial;
mod negative_binomial;
mod ordinal;
mod parts;
#[doc(hidden)]
pub mod poisson;
mod polya_gamma;
mod statistic;
mod student_t;
mod trials;
mod working;
mod zero_inflated_negative_binomial;
mod zero_inflated_poisson;

pub use about::{About, Cells, Observed, Suggestion};
pub use binomial::Binomial;
pub use block_view::{BlockView, Column};
pub use censored::Censored;
pub use gaussian::Gaussian;
#[doc(hidden)]
pub use gaussian::GaussianConditional;
pub(crate) use gaussian::sums as precision_sums;
pub use generic::{Density, Generic, Parameter};
pub use isotropic::Isotropic;
pub use law::Law;
pub use limits::Limits;
pub use log_normal::LogNormal;
pub use multinomial::Multinomial;
pub(crate) use negative_binomial::sums as dispersion_sums;
pub use negative_binomial::{NegativeBinomial, Tally, rate_given_dispersions};
pub use ordinal::{MOST_LEVELS, Ordinal};
pub use parts::{Row, Seen, Shift, Theta, Unit};
pub use poisson::Poisson;
#[doc(hidden)]
pub use polya_gamma::weights_given_omega;
pub use statistic::Statistic;
pub use student_t::StudentT;
pub(crate) use student_t::Terms;
pub use trials::Trials;
pub use working::Working;
pub use zero_inflated_negative_binomial::ZeroInflatedNegativeBinomial;
#[doc(hidden)]
pub use zero_inflated_negative_binomial::extra;
pub use zero_inflated_poisson::ZeroInflatedPoisson;

use super::Amplitude;
use super::priors::Gamma;
use crate::error::{DataError, NumericalError};
use crate::rng::{Stream, StreamRng};
use count::{ln_rate, not_a_count};
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The named families, in the order in which they are listed.
pub const REGISTRY: &[&About] = &[
    &gaussian::ABOUT,
    &poisson::ABOUT,
    &binomial::BERNOULLI,
    &binomial::ABOUT,
    &negative_binomial::ABOUT,
    &multinomial::ABOUT,
    &student_t::ABOUT,
    &zero_inflated_poisson::ABOUT,
    &zero_inflated_negative_binomial::ABOUT,
    &ordinal::ABOUT,
    &log_normal::ABOUT,
    &isotropic::ABOUT,
];

/// A family of distributions for a block of columns.
pub trait Family: Send + Sync + Debug {
    /// Its name, as users type it.
    fn name(&self) -> &'static str;

    /// What it says about itself; `None` for a family that is not in the [`REGISTRY`].
    fn about(&self) -> Option<&'static About> {
        None
    }

    /// Names of the rows of θ.
    fn parameters(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// What is wrong with the value y of column j (counted within the block) in row n, and what to do; `None` if it is valid.
    fn problem(&self, n: usize, j: usize, y: f64) -> Option<String>;

    /// A value that any cell may have, for tables that are to be simulated.
    fn any_cell(&self) -> f64 {
        0.0
    }

    /// The number of levels 1, 2, … of which a cell is one; 0 if cells are no levels.
    fn levels(&self) -> usize {
        0
    }

    /// Limits beyond which its cells cannot be measured, if it has any.
    fn limits(&self) -> Option<&Limits> {
        None
    }

    /// Whether f is the mean of ln y, so that a cell has no posterior mean.
    fn is_logarithmic(&self) -> bool {
        false
    }

    /// Whether a whole row is valid.
    fn check_row(&self, _n: usize, _y: &[f64]) -> Result<(), DataError> {
        Ok(())
    }

    /// Whether a row of the block is observed or missing as a whole.
    fn is_whole(&self) -> bool {
        false
    }

    /// Whether the block's shape matches what the family was given (a matrix of trials, for example).
    fn check_shape(&self, _rows: usize, _columns: usize) -> Result<(), DataError> {
        Ok(())
    }

    /// The family of some of the rows, if it holds data per row, such as trials.
    fn of_rows(&self, _rows: &[usize]) -> Option<Arc<dyn Family>> {
        None
    }

    /// The family of some of the columns, if it holds data per column, such as trials.
    fn of_columns(&self, _columns: Range<usize>) -> Option<Arc<dyn Family>> {
        None
    }

    /// Centre and scale of column j from its observed cells (at least one).
    fn unit(&self, j: usize, seen: &[Seen]) -> Unit;

    /// Adjusts centres and scales of a whole block's columns relative to each other, if needed.
    fn relate(&self, _units: &mut [Unit]) {}

    /// Approximate f for a cell y: the scale on which principal components are computed.
    fn link(&self, n: usize, j: usize, y: f64) -> f64;

    /// Initial θ_j, given the observed cells of the column.
    fn start(&self, _seen: &[Seen], _unit: &Unit) -> Vec<f64> {
        Vec::new()
    }

    /// θ_j of a simulated example, for column j counted from 0.
    fn example(&self, _j: usize) -> Vec<f64> {
        self.start(&[], &Unit::new(0.0, 1.0))
    }

    /// Initial values of the hyperparameters that θ_j share, from the number of columns and the sum of each parameter over them.
    fn start_hyper(&self, _columns: usize, _sums: &[f64]) -> Vec<f64> {
        Vec::new()
    }

    /// A draw of θ from its prior.
    fn draw_prior(&self, units: &[Unit], _rng: &mut StreamRng) -> Theta {
        Theta::none(units.len())
    }

    /// θ_pj as it would be if its column had unit scale, where all columns have the same prior.
    fn standardised(&self, _p: usize, value: f64, _unit: &Unit) -> f64 {
        value
    }

    /// ln p(θ).
    fn ln_prior(&self, theta: &Theta, units: &[Unit]) -> f64 {
        units.iter().enumerate().map(|(j, unit)| self.ln_prior_column(theta, j, unit)).sum::<f64>()
            + self.ln_hyper(theta)
    }

    /// ln p(θ_j) of column j given the hyperparameters.
    fn ln_prior_column(&self, _theta: &Theta, _j: usize, _unit: &Unit) -> f64 {
        0.0
    }

    /// ln p of the hyperparameters.
    fn ln_hyper(&self, _theta: &Theta) -> f64 {
        0.0
    }

    /// ln p(y_nj | f_n, θ) of an observed cell with all constants, computed directly; of the whole row where [`Family::is_whole`].
    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64;

    /// ln p(y_n | f_n, θ) with all constants.
    fn ln_density(&self, row: Row<'_>, f: &[f64]) -> f64 {
        let pieces = if self.is_whole() { 1 } else { row.y.len() };
        (0..pieces).filter(|&j| !row.y[j].is_nan()).map(|j| self.ln_piece(row, j, f)).sum()
    }

    /// The part of ln p(y_n | f_n, θ) that depends on f, fast.
    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64;

    /// [`Family::ln_lik`] at f + a·u + b·v.
    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], shift: Shift<'_>) -> f64 {
        self.ln_lik(row, &shift.apply(f))
    }

    /// [`Family::ln_lik`], and its derivative with respect to f in `g`.
    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64;

    /// Approximate information of each cell about its f: minus the second derivative of [`Family::ln_lik`], never negative.
    fn information(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        const STEP: f64 = 1e-3;
        let mut g = vec![0.0; f.len()];
        let moved: Vec<f64> = f.iter().map(|f| f + STEP).collect();
        self.gradient(row, &moved, &mut g);
        self.gradient(row, f, out);
        out.iter_mut().zip(&g).for_each(|(o, g)| *o = ((*o - g) / STEP).max(0.0));
    }

    /// Σ of [`Family::ln_lik`] over the cells of a column at another f; `None` where the cells of a row depend on each other.
    fn ln_lik_column(&self, _column: &Column<'_>, _f: &[f64]) -> Option<f64> {
        None
    }

    /// The cells of a column as Gaussian observations of f, given auxiliary variables that are drawn here; `None` where there is no such
    /// form.
    fn working(&self, _block: &BlockView<'_>, _column: &Column<'_>, _rng: &mut StreamRng) -> Option<Working> {
        None
    }

    /// The prior of the precision θ_0j, where the variances of [`Family::working`] and of the weights' prior are in proportion to 1/θ_0j.
    fn noise_prior(&self, _hyper: &[f64], _unit: &Unit) -> Option<Gamma> {
        None
    }

    /// Gaussian observations of f that approximate the likelihood of a column, and depend on its cells only.
    fn approximate(&self, _column: &Column<'_>) -> Option<Working> {
        None
    }

    /// E[y | f] of each cell.
    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]);

    /// A draw of each cell.
    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng);

    /// Default prior of the signal strength.
    fn amplitude(&self) -> Amplitude {
        Amplitude::Fixed(1.0)
    }

    /// Factor of the prior precision of the weights of column j.
    fn weight_precision(&self, _theta: &Theta, _j: usize) -> f64 {
        1.0
    }

    /// The parameter that is the precision of noise added to f; `None` for a family without such noise.
    fn precision(&self) -> Option<usize> {
        None
    }

    /// Whether column j of a block of `columns` has its own weights.
    fn is_free(&self, _j: usize, _columns: usize) -> bool {
        true
    }

    /// Itself, if other processors know the density of its cells ([`Law::of`]).
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// The Gaussian family with a noise variance per column, which can be integrated out together with its weights.
    fn as_gaussian(&self) -> Option<&Gaussian> {
        None
    }

    /// Sets θ to the mode of its density given F (and the weights, where their prior depends on it), for a MAP estimate. Does nothing
    /// by default: a noise scale that follows the fitted weights can go to zero.
    fn maximise_parameters(&self, _block: &mut BlockView<'_>) {}

    /// Draws the hyperparameters given θ, where [`Family::update`] is not called.
    fn update_hyper(&self, _block: &mut BlockView<'_>, _stream: Stream) {}

    /// Draws θ given the weights (or, if possible, with the weights integrated out).
    fn update_parameters(&self, _block: &mut BlockView<'_>, _stream: Stream) -> Result<(), NumericalError> {
        Ok(())
    }

    /// Draws θ and the weights given X and W; for columns that are not due, only the cheap part.
    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError>;
}
