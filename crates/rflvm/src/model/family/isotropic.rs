//! Gaussian columns with one noise variance: y ~ N(f, σ²), σ² ~ IG(a0, b0 · scale²), for columns measured in one unit.
//!
//! θ holds the precision 1/σ² of each column as [`Gaussian`] has it, so that everything given θ is the same, and as hyperparameter the
//! precision of a column of unit scale, ρ ~ Ga(a0, b0): 1/σ_j² = ρ/scale_j², and [`Family::relate`] gives all columns one scale.
//! With r_j² = (|y_j − f_j|² + (β_j − b_0)ᵀS0⁻¹(β_j − b_0))/scale_j² over n_j cells and M weights,
//! ρ | β ~ Ga(a0 + ½ Σ_j (n_j + M), b0 + ½ Σ_j r_j²). Columns without missing cells share HᵀH, and their weights are integrated out of it.

use super::gaussian::{GaussianConditional, given_weights, spread};
use super::{
    About, BlockView, Cells, Column, Family, Gaussian, Observed, Row, Seen, Shift, Statistic, Theta, Unit, Working,
};
use crate::dist::{gamma, ln_gamma_density};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, gram};
use crate::model::Amplitude;
use crate::model::collapsed::Evidence;
use crate::model::priors::Gamma;
use crate::par;
use crate::rng::{Stream, StreamRng};
use std::any::Any;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "isotropic",
    aliases: &["isotropic-gaussian"],
    cells: Cells::Real,
    statistics: Statistic::REAL,
    suggestions: &[
        (Statistic::LargestResidual, Observed::More, "try gaussian, or student-t"),
        (Statistic::Kurtosis, Observed::More, "try gaussian, or student-t"),
    ],
    new: |_, priors| {
        let Gamma { shape, rate } = priors.noise.common();
        Ok(Arc::new(Isotropic(Gaussian::independent(shape, rate))))
    },
};

/// y ~ N(f, σ²).
#[derive(Debug, Clone, PartialEq)]
pub struct Isotropic(pub Gaussian);

impl Default for Isotropic {
    fn default() -> Self {
        let Gamma { shape, rate } = crate::model::Priors::default().noise.common();
        Isotropic(Gaussian::independent(shape, rate))
    }
}

impl Isotropic {
    /// a0 and b0.
    pub(crate) fn prior(&self) -> Gamma {
        self.0.noise.common()
    }

    /// The law of ρ given the weights of the columns without evidence; those of the others are integrated out.
    pub fn law(&self, block: &BlockView<'_>, evidence: &[Option<Evidence<'_>>]) -> Gamma {
        let of_column = |j: usize| match &evidence[j] {
            Some(evidence) => [0.5 * block.y.rows() as f64, evidence.half_square(block.tau2[j])],
            None => given_weights(&block.column(j, Stream::new(0))),
        };
        let of_columns = par::map(block.width(), block.width() * (block.h.rows() + block.h.cols()), of_column);
        Gamma {
            shape: self.prior().shape + block.sum(|j| of_columns[j][0]),
            rate: self.prior().rate + block.sum(|j| of_columns[j][1] / block.units[j].scale.powi(2)),
        }
    }

    /// The mode of ρ with all weights integrated out, from its law given the optimal ones and their number.
    pub(crate) fn mode(Gamma { shape, rate }: Gamma, weights: usize) -> f64 {
        (shape - 0.5 * weights as f64 - 1.0).max(f64::MIN_POSITIVE) / rate
    }

    /// Sets θ to ρ.
    pub(crate) fn set(theta: &mut Theta, units: &[Unit], rho: f64) {
        theta.hyper[0] = rho;
        let precisions = theta.values.row_mut(0).iter_mut().zip(units);
        precisions.for_each(|(precision, unit)| *precision = rho / unit.scale.powi(2));
    }
}

impl Family for Isotropic {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self) -> Vec<&'static str> {
        self.0.parameters()
    }

    fn problem(&self, n: usize, j: usize, y: f64) -> Option<String> {
        self.0.problem(n, j, y)
    }

    fn unit(&self, _j: usize, seen: &[Seen]) -> Unit {
        let (centre, scale) = spread(seen);
        Unit::new(centre, scale)
    }

    /// One scale: the root mean square of the columns' own, of which constant ones have none.
    fn relate(&self, units: &mut [Unit]) {
        let square: f64 = units.iter().map(|unit| unit.scale.powi(2)).sum();
        let scale = (square / units.len() as f64).sqrt();
        units.iter_mut().for_each(|unit| unit.scale = if scale > 0.0 { scale } else { 1.0 });
    }

    fn link(&self, n: usize, j: usize, y: f64) -> f64 {
        self.0.link(n, j, y)
    }

    fn start(&self, seen: &[Seen], unit: &Unit) -> Vec<f64> {
        self.0.start(seen, unit)
    }

    fn start_hyper(&self, _columns: usize, _sums: &[f64]) -> Vec<f64> {
        self.0.start(&[], &Unit::new(0.0, 1.0))
    }

    fn example(&self, j: usize) -> Vec<f64> {
        self.0.example(j)
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        let Gamma { shape, rate } = self.prior();
        let rho = gamma(shape, rate, rng);
        let values = units.iter().map(|unit| rho / unit.scale.powi(2)).collect();
        Theta { values: Mat::from_vec(1, units.len(), values), hyper: vec![rho] }
    }

    fn standardised(&self, p: usize, value: f64, unit: &Unit) -> f64 {
        self.0.standardised(p, value, unit)
    }

    fn ln_hyper(&self, theta: &Theta) -> f64 {
        let Gamma { shape, rate } = self.prior();
        ln_gamma_density(theta.hyper[0], shape, rate)
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        self.0.ln_piece(row, j, f)
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        self.0.ln_lik(row, f)
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], shift: Shift<'_>) -> f64 {
        self.0.ln_lik_shifted(row, f, shift)
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        self.0.ln_lik_column(column, f)
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        self.0.gradient(row, f, g)
    }

    fn information(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        self.0.information(row, f, out);
    }

    fn working(&self, block: &BlockView<'_>, column: &Column<'_>, rng: &mut StreamRng) -> Option<Working> {
        self.0.working(block, column, rng)
    }

    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        self.0.mean(row, f, out);
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        self.0.simulate(row, f, out, rng);
    }

    fn amplitude(&self) -> Amplitude {
        self.0.amplitude()
    }

    fn precision(&self) -> Option<usize> {
        Some(0)
    }

    fn weight_precision(&self, theta: &Theta, j: usize) -> f64 {
        self.0.weight_precision(theta, j)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn maximise_parameters(&self, block: &mut BlockView<'_>) {
        let law = self.law(block, &vec![None; block.width()]);
        Self::set(block.theta, block.units, Self::mode(law, block.all * block.h.cols()));
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        self.update(block, stream)
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let spectrum = self.0.spectrum(block)?;
        let evidence = self.0.evidence(block, spectrum.as_ref());
        let Gamma { shape, rate } = self.law(block, &evidence);
        Self::set(block.theta, block.units, gamma(shape, rate, &mut stream.named("noise").rng()));
        let work = block.gram_work();
        block.each_column(stream, work, |column, rng| {
            let precision = column.theta[0];
            column.beta = match &evidence[column.j] {
                Some(evidence) => evidence.draw_weights(precision, column.tau2, rng),
                None => {
                    let seen: Vec<f64> = column.y.iter().map(|y| if y.is_nan() { 0.0 } else { 1.0 }).collect();
                    let own = Cholesky::new(gram(column.h, Some(&seen), &column.precision), "weights")?;
                    GaussianConditional::new(&self.0, column, &own).draw_weights(precision, rng)
                }
            };
            if let Some(intercept) = column.beta.last_mut() {
                *intercept += column.unit.centre;
            }
            Ok(())
        })
    }
}
