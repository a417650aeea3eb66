//! Gaussian columns: y ~ N(f, σ_j²), β_j | σ_j² ~ N(b_0, σ_j² S0), σ_j² ~ IG(a0, b0_j).
//!
//! With A = HᵀH + S0⁻¹, c = Hᵀỹ, a_n = a0 + n/2 and b = b0 + ½(ỹᵀỹ − cᵀA⁻¹c) for ỹ = y − o − b_0:
//! ln p(y | X, W) = const − ½ ln|A| − a_n ln b;  σ² ~ IG(a_n, b);  β | σ² ~ N(A⁻¹c, σ²A⁻¹).
//! θ holds the precision 1/σ_j², which is Ga(a0, b0_j). Rows with missing cells are left out of A and c.

use super::{About, BlockView, Cells, Column, Family, Observed, Row, Seen, Shift, Statistic, Theta, Unit};
use crate::dist::{LN_SQRT_2PI, gamma, ln_gamma, ln_gamma_density, ln_normal, normal};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, gram};
use crate::rng::{Stream, StreamRng};
use crate::simd;
use rand::Rng;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "gaussian",
    aliases: &["normal"],
    cells: Cells::Real,
    statistics: Statistic::REAL,
    suggestions: &[
        (Statistic::LargestResidual, Observed::More, "try student-t"),
        (Statistic::Kurtosis, Observed::More, "try student-t"),
    ],
    new: |_| Ok(Arc::new(Gaussian::default())),
};

/// y ~ N(f, σ_j²).
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    /// a0.
    pub shape: f64,
    /// b0 for a column of unit scale; column j has b0 · scale_j².
    pub rate: f64,
}

impl Default for Gaussian {
    fn default() -> Self {
        Gaussian { shape: 1.0, rate: 0.1 }
    }
}

impl Gaussian {
    /// b0_j.
    pub fn column_rate(&self, unit: &Unit) -> f64 {
        self.rate * unit.scale.powi(2)
    }
}

/// The conditional of (σ_j², β_j) given X and W; β_j minus its prior mean.
#[derive(Debug)]
pub struct GaussianConditional<'a> {
    cholesky: &'a Cholesky,
    /// A⁻¹c.
    g: Vec<f64>,
    /// a_n.
    pub shape: f64,
    /// b_j.
    pub rate: f64,
    ln_prior_det: f64,
    prior_shape: f64,
    prior_rate: f64,
    observed: f64,
}

impl<'a> GaussianConditional<'a> {
    /// From the factor of A over the observed rows of the column.
    pub fn new(family: &Gaussian, column: &Column<'_>, cholesky: &'a Cholesky) -> Self {
        let mut c = vec![0.0; column.precision.len()];
        let (mut square, mut observed) = (0.0, 0.0);
        for (n, h) in column.h.iter_rows().enumerate().filter(|&(n, _)| !column.y[n].is_nan()) {
            let centred = column.y[n] - column.offset[n] - column.unit.centre;
            simd::axpy(centred, h, &mut c);
            square += centred * centred;
            observed += 1.0;
        }
        let mut g = c.clone();
        cholesky.solve(&mut g);
        let prior_rate = family.column_rate(&column.unit);
        GaussianConditional {
            cholesky,
            shape: family.shape + 0.5 * observed,
            rate: prior_rate + 0.5 * (square - simd::dot(&c, &g)).max(0.0),
            g,
            ln_prior_det: column.precision.iter().map(|p| p.ln()).sum(),
            prior_shape: family.shape,
            prior_rate,
            observed,
        }
    }

    /// ln p(y_j | X, W), all constants included.
    pub fn ln_evidence(&self) -> f64 {
        0.5 * (self.ln_prior_det - self.cholesky.ln_det()) + self.prior_shape * self.prior_rate.ln()
            - self.shape * self.rate.ln()
            + ln_gamma(self.shape)
            - ln_gamma(self.prior_shape)
            - self.observed * LN_SQRT_2PI
    }

    /// A draw: the precision 1/σ², then β | σ² (minus its prior mean).
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> (f64, Vec<f64>) {
        let precision = gamma(self.shape, self.rate, rng);
        let mut beta: Vec<f64> = self.g.iter().map(|_| normal(rng) / precision.sqrt()).collect();
        self.cholesky.solve_upper(&mut beta);
        beta.iter_mut().zip(&self.g).for_each(|(b, g)| *b += g);
        (precision, beta)
    }

    /// ln p(1/σ², β | y, X, W).
    pub fn ln_density(&self, precision: f64, beta: &[f64]) -> f64 {
        let n = beta.len();
        let square: f64 =
            (0..n).map(|j| (j..n).map(|i| self.cholesky.at(i, j) * (beta[i] - self.g[i])).sum::<f64>().powi(2)).sum();
        ln_gamma_density(precision, self.shape, self.rate)
            + 0.5 * self.cholesky.ln_det()
            + n as f64 * (0.5 * precision.ln() - LN_SQRT_2PI)
            - 0.5 * precision * square
    }
}

impl Family for Gaussian {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self) -> Vec<&'static str> {
        vec!["precision"]
    }

    fn problem(&self, _n: usize, _j: usize, y: f64) -> Option<String> {
        (y.abs() > 1e100).then(|| "is too large to compute with; rescale the column".into())
    }

    fn unit(&self, _j: usize, seen: &[Seen]) -> Unit {
        let n = seen.len() as f64;
        let centre = seen.iter().map(|s| s.1 - s.2).sum::<f64>() / n;
        let scale = (seen.iter().map(|s| (s.1 - s.2 - centre).powi(2)).sum::<f64>() / n).sqrt();
        // A constant column has no spread: any unit works.
        Unit { centre, scale: if scale > 0.0 { scale } else { 1.0 } }
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        y
    }

    fn start(&self, _seen: &[Seen], unit: &Unit) -> Vec<f64> {
        // Assume initially that half of a column's variance is noise.
        vec![2.0 / unit.scale.powi(2)]
    }

    /// Noise of standard deviation ½.
    fn example(&self, _j: usize) -> Vec<f64> {
        vec![4.0]
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        let values = units.iter().map(|u| gamma(self.shape, self.column_rate(u), rng)).collect();
        Theta { values: Mat::from_vec(1, units.len(), values), hyper: Vec::new() }
    }

    fn ln_prior(&self, theta: &Theta, units: &[Unit]) -> f64 {
        let precisions = theta.values.row(0).iter().zip(units);
        precisions.map(|(&p, u)| ln_gamma_density(p, self.shape, self.column_rate(u))).sum()
    }

    fn ln_density(&self, row: Row<'_>, f: &[f64]) -> f64 {
        let cells = row.y.iter().zip(f).zip(row.theta.values.row(0)).filter(|((y, _), _)| !y.is_nan());
        cells.map(|((&y, &f), precision)| ln_normal(y, f, 1.0 / precision)).sum()
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        simd::gaussian_ln_lik(row.y, row.theta.values.row(0), f)
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        simd::gaussian_ln_lik_moved(row.y, row.theta.values.row(0), f, s.a, s.u, s.b, s.v)
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        simd::gaussian_grad(row.y, row.theta.values.row(0), f, g)
    }

    fn mean(&self, _row: Row<'_>, f: &[f64], out: &mut [f64]) {
        out.copy_from_slice(f);
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for ((y, f), precision) in out.iter_mut().zip(f).zip(row.theta.values.row(0)) {
            *y = f + normal(rng) / precision.sqrt();
        }
    }

    fn weight_precision(&self, theta: &Theta, j: usize) -> f64 {
        theta.values[(0, j)]
    }

    fn as_gaussian(&self) -> Option<&Gaussian> {
        Some(self)
    }

    /// The mode of 1/σ_j² at the optimal β, with β integrated out: shape a0 + N/2, rate b0 + ½(|y − f|² + (β − b_0)ᵀS0⁻¹(β − b_0)).
    fn maximise_parameters(&self, block: &mut BlockView<'_>) {
        let work = block.h.rows() + block.h.cols();
        block.set_columns(work, |column| {
            let cells = column.y.iter().zip(&column.f).filter(|(y, _)| !y.is_nan());
            let last = column.beta.len() - 1;
            let centre = |m: usize| if m == last { column.unit.centre } else { 0.0 };
            let weights = column.beta.iter().zip(&column.precision).enumerate();
            let square = cells.clone().map(|(y, f)| (y - f).powi(2)).sum::<f64>()
                + weights.map(|(m, (beta, precision))| precision * (beta - centre(m)).powi(2)).sum::<f64>();
            let shape = self.shape + 0.5 * cells.count() as f64 - 1.0;
            column.theta[0] = shape.max(f64::MIN_POSITIVE) / (self.column_rate(&column.unit) + 0.5 * square);
        });
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        self.update(block, stream)
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        // Complete columns with equal amplitudes share A, so one factor serves all of them.
        let complete = |j: usize| (0..block.y.rows()).all(|n| !block.y[(n, block.columns.start + j)].is_nan());
        let complete: Vec<bool> = (0..block.width()).map(complete).collect();
        let shares = |j: usize| complete[j] && block.tau2[j] == block.tau2[0];
        let shares: Vec<bool> = (0..block.width()).map(shares).collect();
        let shared = match shares.iter().any(|&s| s) {
            true => Some(Cholesky::new(gram(block.h, None, &block.precision(0)), "weights")?),
            false => None,
        };
        let work = block.gram_work();
        block.each_column(stream, work, |column, rng| {
            let own;
            let cholesky = match &shared {
                Some(shared) if shares[column.j] => shared,
                _ => {
                    let seen: Vec<f64> = column.y.iter().map(|y| if y.is_nan() { 0.0 } else { 1.0 }).collect();
                    let a = gram(column.h, Some(&seen), &column.precision);
                    own = Cholesky::new(a, "weights")?;
                    &own
                }
            };
            let (precision, mut beta) = GaussianConditional::new(self, column, cholesky).draw(rng);
            if let Some(intercept) = beta.last_mut() {
                *intercept += column.unit.centre;
            }
            column.theta[0] = precision;
            column.beta = beta;
            Ok(())
        })
    }
}
