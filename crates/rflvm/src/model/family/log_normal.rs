//! Log-normal amounts: ln y ~ N(f, σ_j²), so that ln p(y | f) = ln N(ln y | f, σ_j²) − ln y. Weights and noise are drawn, and integrated
//! out of complete tables, as those of a Gaussian column that holds ln y, which is what updates of a block are given ([`Family::is_logarithmic`]).
//!
//! Given f and σ_j² a cell has the mean exp(f + σ_j²/2). Averaged over the posterior of σ_j² it has none (Fabrizi & Trivisano 2012).

use super::{
    About, BlockView, Cells, Column, Family, Gaussian, Observed, Row, Seen, Shift, Statistic, Theta, Unit, Working,
};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::Amplitude;
use crate::rng::{Stream, StreamRng};
use crate::simd;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "log-normal",
    aliases: &["lognormal"],
    cells: Cells::Positive,
    statistics: Statistic::REAL,
    suggestions: &[
        (Statistic::LargestResidual, Observed::More, "take logarithms and try student-t"),
        (Statistic::Kurtosis, Observed::More, "take logarithms and try student-t"),
    ],
    new: |_, priors| Ok(Arc::new(LogNormal(Gaussian { noise: priors.noise }))),
};

/// ln y ~ N(f, σ_j²).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LogNormal(pub Gaussian);

/// ln y of some cells.
fn logarithms(y: &[f64]) -> Vec<f64> {
    y.iter().map(|y| y.ln()).collect()
}

/// Observed cells with their logarithms.
pub(super) fn logarithms_of(seen: &[Seen]) -> Vec<Seen> {
    seen.iter().map(|&(n, y, offset)| (n, y.ln(), offset)).collect()
}

/// Says why a value has no logarithm, and what to do.
pub(super) fn not_positive(y: f64) -> Option<String> {
    if y <= 0.0 {
        Some(
            "is not positive, but log-normal models amounts above zero; choose gaussian, or give a limit such as <0.1"
                .into(),
        )
    } else if !(1e-300..1e300).contains(&y) {
        Some("is too small or too large to compute with; rescale the column".into())
    } else {
        None
    }
}

impl LogNormal {
    /// What the Gaussian answers about a row of logarithms.
    fn with<T>(&self, row: Row<'_>, answer: impl FnOnce(&Gaussian, Row<'_>) -> T) -> T {
        answer(&self.0, Row { y: &logarithms(row.y), ..row })
    }

    /// What the Gaussian does with a block of logarithms.
    fn update_with<T>(&self, block: &mut BlockView<'_>, update: impl FnOnce(&Gaussian, &mut BlockView<'_>) -> T) -> T {
        let z = Mat::from_fn(block.h.rows(), block.width(), |n, j| block.cell(n, j).ln());
        block.seeing(z, |block| update(&self.0, block))
    }
}

impl Family for LogNormal {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self) -> Vec<&'static str> {
        self.0.parameters()
    }

    fn problem(&self, _n: usize, _j: usize, y: f64) -> Option<String> {
        not_positive(y)
    }

    fn any_cell(&self) -> f64 {
        1.0
    }

    fn is_logarithmic(&self) -> bool {
        true
    }

    fn unit(&self, j: usize, seen: &[Seen]) -> Unit {
        self.0.unit(j, &logarithms_of(seen))
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        y.ln()
    }

    fn start(&self, seen: &[Seen], unit: &Unit) -> Vec<f64> {
        self.0.start(seen, unit)
    }

    fn example(&self, j: usize) -> Vec<f64> {
        self.0.example(j)
    }

    fn start_hyper(&self, columns: usize, sums: &[f64]) -> Vec<f64> {
        self.0.start_hyper(columns, sums)
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        self.0.draw_prior(units, rng)
    }

    fn standardised(&self, p: usize, value: f64, unit: &Unit) -> f64 {
        self.0.standardised(p, value, unit)
    }

    fn ln_prior_column(&self, theta: &Theta, j: usize, unit: &Unit) -> f64 {
        self.0.ln_prior_column(theta, j, unit)
    }

    fn ln_hyper(&self, theta: &Theta) -> f64 {
        self.0.ln_hyper(theta)
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        self.with(row, |gaussian, row| gaussian.ln_piece(row, j, f) - row.y[j])
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        self.with(row, |gaussian, row| gaussian.ln_lik(row, f))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], shift: Shift<'_>) -> f64 {
        self.with(row, |gaussian, row| gaussian.ln_lik_shifted(row, f, shift))
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        Some(simd::gaussian_ln_lik(&logarithms(&column.y), &vec![column.theta[0]; f.len()], f))
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        self.with(row, |gaussian, row| gaussian.gradient(row, f, g))
    }

    fn information(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        self.0.information(row, f, out);
    }

    fn working(&self, _block: &BlockView<'_>, column: &Column<'_>, _rng: &mut StreamRng) -> Option<Working> {
        let mut working = Working::blank(column.y.len());
        column.y.iter().enumerate().for_each(|(n, y)| working.set(n, y.ln(), 1.0 / column.theta[0]));
        Some(working)
    }

    fn noise_prior(&self, hyper: &[f64], unit: &Unit) -> Option<crate::model::priors::Gamma> {
        self.0.noise_prior(hyper, unit)
    }

    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        let cells = out.iter_mut().zip(f).zip(row.parameters(0));
        cells.for_each(|((mean, f), precision)| *mean = (f + 0.5 / precision).exp());
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        self.0.simulate(row, f, out, rng);
        out.iter_mut().for_each(|y| *y = amount(*y));
    }

    fn amplitude(&self) -> Amplitude {
        self.0.amplitude()
    }

    fn weight_precision(&self, theta: &Theta, j: usize) -> f64 {
        self.0.weight_precision(theta, j)
    }

    fn as_gaussian(&self) -> Option<&Gaussian> {
        Some(&self.0)
    }

    fn maximise_parameters(&self, block: &mut BlockView<'_>) {
        self.update_with(block, |gaussian, block| gaussian.maximise_parameters(block));
    }

    fn update_hyper(&self, block: &mut BlockView<'_>, stream: Stream) {
        self.0.update_hyper(block, stream);
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        self.update(block, stream)
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        self.update_with(block, |gaussian, block| gaussian.update(block, stream))
    }
}

/// e^z, within the range of amounts that the family takes: a draw from a vague prior may have none.
pub(super) fn amount(z: f64) -> f64 {
    z.clamp(-690.0, 690.0).exp()
}
