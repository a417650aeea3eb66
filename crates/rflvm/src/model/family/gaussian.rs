//! Gaussian columns: y ~ N(f, σ_j²), β_j | σ_j², τ_j ~ N(b_0, σ_j²τ_j² diag(1, …, 1, s_c²)), σ_j² ~ IG(a0, b0_j), where a0 and b0_j are known or
//! pooled over the columns ([`Pool`](crate::model::Pool)).
//!
//! With A = HᵀH + S0⁻¹, c = Hᵀỹ, a_n = a0 + n/2 and b = b0 + ½(ỹᵀỹ − cᵀA⁻¹c) for ỹ = y − o − b_0:
//! ln p(y | X, W) = const − ½ ln|A| − a_n ln b;  σ² ~ IG(a_n, b);  β | σ² ~ N(A⁻¹c, σ²A⁻¹).
//! θ holds the precision λ_j = 1/σ_j², which is Ga(a0, b0_j). Rows with missing cells are left out of A and c.
//!
//! Cells of a column that is rounded to δ_j are known up to a uniform error of variance δ_j²/12, whose expectation joins their sum of squares: the
//! factor exp(−½ λ_j n_j δ_j²/12). Otherwise a column of a few values (a year) would be fitted without noise, at an unbounded density.

use super::{About, BlockView, Cells, Column, Family, Observed, Row, Seen, Shift, Statistic, Theta, Unit, Working};
use crate::dist::{LN_SQRT_2PI, gamma, ln_gamma, ln_gamma_density, ln_normal, normal};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, gram, par_mul_into};
use crate::model::collapsed::{Evidence, Spectrum};
use crate::model::pool::{Sums, ln_integrated};
use crate::model::priors::{Gamma, Noise};
use crate::model::{Amplitude, HalfT};
use crate::rng::{Stream, StreamRng};
use crate::slice;
use crate::{par, simd};
use rand::{Rng, RngExt};
use std::any::Any;
use std::fmt;
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
    new: |_, priors| Ok(Arc::new(Gaussian { noise: priors.noise })),
};

/// y ~ N(f, σ_j²).
#[derive(Clone, PartialEq)]
pub struct Gaussian {
    /// a0, and b0 for a column of unit scale.
    pub noise: Noise,
}

// As versions wrote it that knew only independent columns: the digest of a fit is made of this.
impl fmt::Debug for Gaussian {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Gaussian");
        match self.noise {
            Noise::Pooled(pool) => out.field("noise", &pool),
            Noise::Independent(Gamma { shape, rate }) => out.field("shape", &shape).field("rate", &rate),
        };
        out.finish()
    }
}

impl Default for Gaussian {
    fn default() -> Self {
        Gaussian { noise: crate::model::Priors::default().noise }
    }
}

impl Gaussian {
    /// σ_j² ~ IG(shape, rate · scale_j²), each column for itself.
    pub const fn independent(shape: f64, rate: f64) -> Self {
        Gaussian { noise: Noise::Independent(Gamma { shape, rate }) }
    }

    /// a0 and b0_j given the hyperparameters, rounding included.
    pub fn prior(&self, hyper: &[f64], unit: &Unit) -> Gamma {
        prior_of(&self.noise, hyper, unit)
    }

    /// What each column adds to the shape and to the rate of its precision's law, in units of the column: its weights given, or integrated out where
    /// it has evidence.
    #[doc(hidden)]
    pub fn seen(&self, block: &BlockView<'_>, evidence: &[Option<Evidence<'_>>]) -> Vec<[f64; 2]> {
        par::map(block.width(), block.width() * (block.h.rows() + block.h.cols()), |j| {
            let [power, sum] = match &evidence[j] {
                Some(evidence) => [0.5 * block.y.rows() as f64, evidence.half_square(block.tau2[j])],
                None => given_weights(&block.column(j, Stream::new(0))),
            };
            [power, (sum + block.units[j].rounding) / block.units[j].scale.powi(2)]
        })
    }

    /// Redraws the hyperparameters with σ² of all columns integrated out, and the weights of columns with evidence too.
    fn pool(&self, block: &mut BlockView<'_>, evidence: &[Option<Evidence<'_>>], stream: Stream) {
        let Some(pool) = self.noise.pool() else { return };
        let seen = self.seen(block, evidence);
        let mut hyper = std::mem::take(&mut block.theta.hyper);
        let ln = |law: Gamma| block.sum(|j| ln_integrated(law, seen[j][0], seen[j][1]));
        pool.slice(&mut hyper, &mut stream.named("pool").rng(), ln);
        block.theta.hyper = hyper;
    }
}

/// The gamma of the precision of a column, its rounding included.
pub(super) fn prior_of(noise: &Noise, hyper: &[f64], unit: &Unit) -> Gamma {
    let Gamma { shape, rate } = noise.law(hyper);
    Gamma { shape, rate: rate * unit.scale.powi(2) + unit.rounding }
}

/// ln of the density of a precision, up to the constant of its rounding.
pub(super) fn ln_prior_of(noise: &Noise, hyper: &[f64], unit: &Unit, precision: f64) -> f64 {
    let Gamma { shape, rate } = noise.law(hyper);
    ln_gamma_density(precision, shape, rate * unit.scale.powi(2)) - precision * unit.rounding
}

/// ln p of the hyperparameters.
pub(super) fn ln_hyper_of(noise: &Noise, hyper: &[f64]) -> f64 {
    noise.pool().map_or(0.0, |pool| pool.ln_density(noise.law(hyper)))
}

/// Attempts to draw precisions as rounding has them: it is mild where tables are drawn from the prior.
const ATTEMPTS: usize = 10_000;

/// A draw of the hyperparameters and of the precisions. Rounding weighs hyperparameters by ∫ exp(−Σ_j λ_j rounding_j) dλ: they are rejected in
/// proportion.
pub(super) fn draw_prior_of(noise: &Noise, units: &[Unit], rng: &mut StreamRng) -> (Vec<f64>, Vec<f64>) {
    let is_rounded = units.iter().any(|unit| unit.rounding > 0.0);
    let draw_hyper = |rng: &mut StreamRng| noise.pool().map_or_else(Vec::new, |pool| pool.draw(rng));
    let mut hyper = draw_hyper(rng);
    if is_rounded && noise.pool().is_some() {
        for _ in 0..ATTEMPTS {
            let Gamma { shape, rate } = noise.law(&hyper);
            let of_column = |unit: &Unit| -shape * (unit.rounding / (rate * unit.scale.powi(2))).ln_1p();
            if rng.random::<f64>().ln() < units.iter().map(of_column).sum::<f64>() {
                break;
            }
            hyper = draw_hyper(rng);
        }
    }
    let of_column = |unit: &Unit| {
        let Gamma { shape, rate } = prior_of(noise, &hyper, unit);
        gamma(shape, rate, rng)
    };
    let precisions = units.iter().map(of_column).collect();
    (hyper, precisions)
}

/// What the hyperparameters see of given precisions, of a whole block whose sums over columns are `sum`.
pub(crate) fn sums(
    theta: &Theta,
    units: &[Unit],
    count: usize,
    sum: impl Fn(&(dyn Fn(usize) -> f64 + Sync)) -> f64,
) -> Sums {
    let value = |j: usize| theta.values[(0, j)] * units[j].scale.powi(2);
    Sums { count: count as f64, ln: sum(&|j| value(j).ln()), plain: sum(&value) }
}

/// What a column adds to the shape of its precision's law, and to its rate in units of the column, given its weights.
pub(super) fn given_weights(column: &Column<'_>) -> [f64; 2] {
    let cells = column.y.iter().zip(&column.f).filter(|(y, _)| !y.is_nan());
    let square = cells.clone().map(|(y, f)| (y - f).powi(2)).sum::<f64>() + column.weighted_square();
    [0.5 * (cells.count() + column.beta.len()) as f64, 0.5 * square]
}

/// ½ Σ δ²/12 over the cells of a column rounded to δ, the smallest difference between two of its values (as ggplot2 defines the resolution of a
/// variable); zero if no value occurs twice.
pub(super) fn rounding(seen: &[Seen]) -> f64 {
    /// Values nearer to each other than this share of the column's range differ by the rounding of sums.
    const SAME: f64 = 1e-9;
    let mut sorted: Vec<f64> = seen.iter().map(|s| s.1).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let least = SAME * (sorted[sorted.len() - 1] - sorted[0]);
    let gaps = || sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let width = gaps().filter(|gap| *gap > least).fold(f64::INFINITY, f64::min);
    match width.is_finite() && gaps().any(|gap| gap <= least) {
        true => seen.len() as f64 * width.powi(2) / 24.0,
        false => 0.0,
    }
}

/// Number of rows whose Ỹ is in memory at a time.
const PIECE: usize = 128;

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
        let Gamma { shape, rate } = family.prior(column.hyper, &column.unit);
        Self::weighted((shape, rate), column, &vec![1.0; column.y.len()], cholesky)
    }

    /// The conditional for cells of precision q/σ_j²: from a0 and b0_j, and the factor of A = HᵀQH + S0⁻¹. Missing cells count for nothing.
    pub fn weighted(
        (prior_shape, prior_rate): (f64, f64),
        column: &Column<'_>,
        q: &[f64],
        cholesky: &'a Cholesky,
    ) -> Self {
        let mut c = vec![0.0; column.precision.len()];
        let (mut square, mut observed) = (0.0, 0.0);
        for (n, h) in column.h.iter_rows().enumerate().filter(|&(n, _)| !column.y[n].is_nan()) {
            let centred = column.y[n] - column.offset[n] - column.unit.centre;
            simd::axpy(q[n] * centred, h, &mut c);
            square += q[n] * centred * centred;
            observed += 1.0;
        }
        let mut g = c.clone();
        cholesky.solve(&mut g);
        GaussianConditional {
            cholesky,
            shape: prior_shape + 0.5 * observed,
            rate: prior_rate + 0.5 * (square - simd::dot(&c, &g)).max(0.0),
            g,
            ln_prior_det: column.precision.iter().map(|p| p.ln()).sum(),
            prior_shape,
            prior_rate,
            observed,
        }
    }

    /// E[β_j], less its prior mean.
    pub fn mean(&self) -> &[f64] {
        &self.g
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
        (precision, self.draw_weights(precision, rng))
    }

    /// A draw of β given the precision, minus its prior mean.
    pub fn draw_weights<R: Rng + ?Sized>(&self, precision: f64, rng: &mut R) -> Vec<f64> {
        let mut beta: Vec<f64> = self.g.iter().map(|_| normal(rng) / precision.sqrt()).collect();
        self.cholesky.solve_upper(&mut beta);
        beta.iter_mut().zip(&self.g).for_each(|(b, g)| *b += g);
        beta
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
        let (centre, scale) = spread(seen);
        // A constant column has no spread: any unit works.
        Unit { centre, scale: if scale > 0.0 { scale } else { 1.0 }, rounding: rounding(seen) }
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

    fn start_hyper(&self, _columns: usize, _sums: &[f64]) -> Vec<f64> {
        self.noise.start()
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        let (hyper, values) = draw_prior_of(&self.noise, units, rng);
        Theta { values: Mat::from_vec(1, units.len(), values), hyper }
    }

    fn standardised(&self, _p: usize, value: f64, unit: &Unit) -> f64 {
        value * unit.scale.powi(2)
    }

    fn ln_prior_column(&self, theta: &Theta, j: usize, unit: &Unit) -> f64 {
        ln_prior_of(&self.noise, &theta.hyper, unit, theta.values[(0, j)])
    }

    fn ln_hyper(&self, theta: &Theta) -> f64 {
        ln_hyper_of(&self.noise, &theta.hyper)
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        ln_normal(row.y[j], f[j], 1.0 / row.parameters(0)[j])
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        simd::gaussian_ln_lik(row.y, row.parameters(0), f)
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        simd::gaussian_ln_lik_moved(row.y, row.parameters(0), f, s.a, s.u, s.b, s.v)
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        Some(simd::gaussian_ln_lik(&column.y, &vec![column.theta[0]; f.len()], f))
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        simd::gaussian_grad(row.y, row.parameters(0), f, g)
    }

    fn information(&self, row: Row<'_>, _f: &[f64], out: &mut [f64]) {
        let cells = out.iter_mut().zip(row.y).zip(row.parameters(0));
        cells.for_each(|((known, y), precision)| *known = if y.is_nan() { 0.0 } else { *precision });
    }

    fn working(&self, _block: &BlockView<'_>, column: &Column<'_>, _rng: &mut StreamRng) -> Option<Working> {
        let mut working = Working::blank(column.y.len());
        column.y.iter().enumerate().for_each(|(n, &y)| working.set(n, y, 1.0 / column.theta[0]));
        Some(working)
    }

    fn noise_prior(&self, hyper: &[f64], unit: &Unit) -> Option<Gamma> {
        Some(self.prior(hyper, unit))
    }

    fn mean(&self, _row: Row<'_>, f: &[f64], out: &mut [f64]) {
        out.copy_from_slice(f);
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for ((y, f), precision) in out.iter_mut().zip(f).zip(row.parameters(0)) {
            *y = f + normal(rng) / precision.sqrt();
        }
    }

    fn amplitude(&self) -> Amplitude {
        Amplitude::Shared(HalfT::default())
    }

    fn precision(&self) -> Option<usize> {
        Some(0)
    }

    fn weight_precision(&self, theta: &Theta, j: usize) -> f64 {
        theta.values[(0, j)]
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn as_gaussian(&self) -> Option<&Gaussian> {
        Some(self)
    }

    /// The mode of 1/σ_j² at the optimal β, with β integrated out: shape a0 + N/2, rate b0 + ½(|y − f|² + (β − b_0)ᵀS0⁻¹(β − b_0)).
    fn maximise_parameters(&self, block: &mut BlockView<'_>) {
        let work = block.h.rows() + block.h.cols();
        block.set_columns(work, |column| {
            let cells = column.y.iter().zip(&column.f).filter(|(y, _)| !y.is_nan());
            let square = cells.clone().map(|(y, f)| (y - f).powi(2)).sum::<f64>() + column.weighted_square();
            let prior = self.prior(column.hyper, &column.unit);
            let shape = prior.shape + 0.5 * cells.count() as f64 - 1.0;
            column.theta[0] = shape.max(f64::MIN_POSITIVE) / (prior.rate + 0.5 * square);
        });
        if let Some(pool) = self.noise.pool() {
            let sums = sums(block.theta, block.units, block.all, |f| block.sum(f));
            pool.settle(&mut block.theta.hyper, |law| sums.ln(law));
        }
    }

    fn update_hyper(&self, block: &mut BlockView<'_>, stream: Stream) {
        if let Some(pool) = self.noise.pool() {
            let sums = sums(block.theta, block.units, block.all, |f| block.sum(f));
            pool.slice(&mut block.theta.hyper, &mut stream.named("pool").rng(), |law| sums.ln(law));
        }
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        self.update(block, stream)
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let spectrum = self.spectrum(block)?;
        let mut evidence = self.evidence(block, spectrum.as_ref());
        if let (Amplitude::Shared(prior), true) = (block.amplitude, block.is_complete) {
            let of = |j: usize, u: f64| evidence[j].as_ref().map_or(0.0, |e| e.ln(u.exp()));
            let ln = |u: f64| block.sum(|j| of(j, u)) + prior.ln_density(u);
            let u = block.shared_tau2().ln();
            let drawn = slice::univariate(&mut stream.named("tau2").rng(), u, ln(u), 1.0, ln).0;
            block.tau2.fill(drawn.exp());
        }
        self.pool(block, &evidence, stream);
        let rows = block.y.rows();
        for (evidence, unit) in evidence.iter_mut().zip(block.units) {
            if let Some(evidence) = evidence {
                evidence.set_prior(self.prior(&block.theta.hyper, unit), rows);
            }
        }
        let (amplitude, work) = (block.amplitude, block.gram_work());
        block.each_column(stream, work, |column, rng| {
            let (precision, mut beta) = match &evidence[column.j] {
                Some(evidence) => {
                    if let Amplitude::Learned(prior) = amplitude {
                        let ln = |u: f64| evidence.ln(u.exp()) + prior.ln_density(u);
                        let u = column.tau2.ln();
                        column.tau2 = slice::univariate(rng, u, ln(u), 1.0, ln).0.exp();
                    }
                    evidence.draw(column.tau2, rng)
                }
                None => {
                    let seen: Vec<f64> = column.y.iter().map(|y| if y.is_nan() { 0.0 } else { 1.0 }).collect();
                    let own = Cholesky::new(gram(column.h, Some(&seen), &column.precision), "weights")?;
                    GaussianConditional::new(self, column, &own).draw(rng)
                }
            };
            if let Some(intercept) = beta.last_mut() {
                *intercept += column.unit.centre;
            }
            column.theta[0] = precision;
            column.beta = beta;
            Ok(())
        })
    }
}

/// Mean and standard deviation of a column.
pub(super) fn spread(seen: &[Seen]) -> (f64, f64) {
    let n = seen.len() as f64;
    let centre = seen.iter().map(|s| s.1 - s.2).sum::<f64>() / n;
    (centre, (seen.iter().map(|s| (s.1 - s.2 - centre).powi(2)).sum::<f64>() / n).sqrt())
}

/// Whether column j of a block has no missing cell.
fn is_complete(block: &BlockView<'_>, j: usize) -> bool {
    (0..block.y.rows()).all(|n| !block.y[(n, block.columns.start + j)].is_nan())
}

impl Gaussian {
    /// The decomposition of HᵀH, which serves all columns without missing cells; `None` if there are none.
    #[doc(hidden)]
    pub fn spectrum(&self, block: &BlockView<'_>) -> Result<Option<Spectrum>, NumericalError> {
        match (0..block.width()).any(|j| is_complete(block, j)) {
            true => Spectrum::new(block.h, block.intercept_variance).map(Some),
            false => Ok(None),
        }
    }

    /// The evidence of columns without missing cells.
    #[doc(hidden)]
    pub fn evidence<'a>(&self, block: &BlockView<'_>, spectrum: Option<&'a Spectrum>) -> Vec<Option<Evidence<'a>>> {
        let mut evidence: Vec<Option<Evidence<'a>>> = vec![None; block.width()];
        let Some(spectrum) = spectrum else { return evidence };
        let complete: Vec<usize> = (0..block.width()).filter(|&j| is_complete(block, j)).collect();
        let rows = block.y.rows();
        let mut c = Mat::zeros(block.h.cols(), complete.len());
        let mut squares = vec![0.0; complete.len()];
        // Some rows at a time: a second table is never held.
        for start in (0..rows).step_by(PIECE) {
            let count = PIECE.min(rows - start);
            let centred = |n: usize, i: usize| {
                let (n, j) = (start + n, complete[i]);
                let global = block.columns.start + j;
                block.cell(n, j) - block.known.at(n, global) - block.units[j].centre
            };
            let y = Mat::from_fn(count, complete.len(), centred);
            let h = block.h.view().subrows(start, count);
            par_mul_into(c.as_mut_slice(), h.transpose(), y.view(), true);
            y.iter_rows().for_each(|y| squares.iter_mut().zip(y).for_each(|(s, y)| *s += y * y));
        }
        let mut scratch = Mat::zeros(c.rows(), c.cols());
        spectrum.turn(&mut c, &mut scratch);
        for (i, &j) in complete.iter().enumerate() {
            let Gamma { shape, rate } = self.prior(&block.theta.hyper, &block.units[j]);
            let shape = shape + 0.5 * rows as f64;
            evidence[j] = Some(Evidence::new(spectrum, c.col(i), rate, 0.5 * squares[i], shape));
        }
        evidence
    }
}
