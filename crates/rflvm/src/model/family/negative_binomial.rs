//! Negative binomial counts: y ~ NB(r_j, p = logistic(f)), mean r_j e^f, variance mean (1 + e^f).
//! r_j ~ Ga(a_r, rate h), both learned ([`Pool`](crate::model::Pool)), or a_r known and h ~ Ga(b_r, rate g_r). Weights by Pólya-gamma augmentation with a = y, b = y + r_j.
//!
//! T_nj ~ CRT(y_nj, r_j); r_j ~ Ga(a_r + Σ_n T_nj, rate h + Σ_n ln(1+e^{f_nj})); for a known a_r, h ~ Ga(b_r + J a_r, rate g_r + Σ_j r_j).

use super::{
    About, BlockView, Cells, Column, Family, Observed, Row, Seen, Shift, Statistic, Theta, Unit, Working, ln_rate,
    not_a_count, poisson, weights_given_omega,
};
use crate::dist::{crt, gamma, ln_gamma, ln_gamma_density, polya_gamma, softplus};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::maximize_1d::maximize_1d;
use crate::model::Pool;
use crate::model::pool::Sums;
use crate::model::priors::{Dispersion, Gamma, Shaped};
use crate::rng::{Stream, StreamRng};
use crate::simd;
use crate::slice;
use rand::Rng;
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "negative-binomial",
    aliases: &["nb", "negbin", "negbinomial", "negativebinomial"],
    cells: Cells::Counts,
    statistics: Statistic::COUNTS,
    suggestions: &[
        (Statistic::Zeros, Observed::More, "try zero-inflated-negative-binomial"),
        (Statistic::Zeros, Observed::Less, "try poisson, and check whether zeros were left out of the table"),
        (Statistic::VarianceToMean, Observed::Less, "try poisson"),
        (Statistic::Largest, Observed::Less, "try poisson"),
    ],
    new: |_, priors| Ok(Arc::new(NegativeBinomial { prior: priors.dispersion })),
};

/// y ~ NB(r_j, logistic(f)). θ holds r_j, whose prior has hyperparameters: h, or where they are pooled a_r and h.
#[derive(Clone, PartialEq)]
pub struct NegativeBinomial {
    /// Prior of r_j.
    pub prior: Dispersion,
}

// As versions wrote it that knew no pool: the digest of a fit is made of this.
impl fmt::Debug for NegativeBinomial {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.prior {
            Dispersion::Pooled(pool) => out.debug_struct("NegativeBinomial").field("dispersion", pool).finish(),
            Dispersion::Shaped(prior) => prior.named("NegativeBinomial", out),
        }
    }
}

impl Default for NegativeBinomial {
    fn default() -> Self {
        NegativeBinomial { prior: crate::model::Priors::default().dispersion }
    }
}

/// Shape and rate of h's gamma given the number of all r_j and their sum.
pub fn rate_given_dispersions(prior: &Shaped, columns: f64, sum: f64) -> (f64, f64) {
    (prior.rate_shape + columns * prior.shape, prior.rate_rate + sum)
}

impl NegativeBinomial {
    /// r_j ~ Ga(shape, h), h ~ Ga(rate_shape, rate_rate).
    pub const fn shaped(shape: f64, rate_shape: f64, rate_rate: f64) -> Self {
        NegativeBinomial { prior: Dispersion::Shaped(Shaped { shape, rate_shape, rate_rate }) }
    }

    /// a_r and h.
    pub fn law(&self, hyper: &[f64]) -> Gamma {
        match &self.prior {
            Dispersion::Pooled(_) => Pool::law(hyper),
            Dispersion::Shaped(prior) => Gamma { shape: prior.shape, rate: hyper[0] },
        }
    }

    /// Shape and rate of r_j's gamma given the table counts T_·j and f_·j of its observed cells.
    pub fn dispersion_given_tables(&self, tables: f64, softplus_sum: f64, hyper: &[f64]) -> (f64, f64) {
        let Gamma { shape, rate } = self.law(hyper);
        (shape + tables, rate + softplus_sum)
    }

    /// The hyperparameters given what they see of all r_j.
    pub(crate) fn draw_hyper<R: Rng + ?Sized>(&self, hyper: &mut [f64], seen: Sums, rng: &mut R) {
        match &self.prior {
            Dispersion::Pooled(pool) => pool.slice(hyper, rng, |law| seen.ln(law)),
            Dispersion::Shaped(prior) => {
                let (shape, rate) = rate_given_dispersions(prior, seen.count, seen.plain);
                hyper[0] = gamma(shape, rate, rng);
            }
        }
    }

    /// Their mode given that; the spread of pooled ones stays.
    pub(crate) fn settle_hyper(&self, hyper: &mut [f64], seen: Sums) {
        match &self.prior {
            Dispersion::Pooled(pool) => pool.settle(hyper, |law| seen.ln(law)),
            Dispersion::Shaped(prior) => {
                let (shape, rate) = rate_given_dispersions(prior, seen.count, seen.plain);
                hyper[0] = (shape - 1.0).max(f64::MIN_POSITIVE) / rate;
            }
        }
    }

    /// r_j and the weights of a column.
    pub(super) fn update_column<R: Rng + ?Sized>(
        &self,
        column: &mut Column<'_>,
        rng: &mut R,
    ) -> Result<(), NumericalError> {
        // Trajectories hold r fixed, and r given f hardly moves: without this slice f would mix as slowly as r.
        self.slide_dispersion(column, rng);
        if !column.is_due {
            return Ok(());
        }
        self.draw_dispersion(column, rng);
        self.draw_weights(column, rng)
    }

    pub(super) fn draw_dispersion<R: Rng + ?Sized>(&self, column: &mut Column<'_>, rng: &mut R) {
        let r = column.theta[0];
        let seen = column.y.iter().filter(|y| !y.is_nan());
        let tables: f64 = seen.map(|&y| crt::draw(y as u64, r, rng) as f64).sum();
        // −Σ ln(1+e^f) is the log-likelihood of no successes in one trial per cell.
        let none: Vec<f64> = column.y.iter().map(|y| if y.is_nan() { f64::NAN } else { 0.0 }).collect();
        let softplus_sum = -simd::logistic_ln_lik_same(&none, 1.0, &column.f);
        let (shape, rate) = self.dispersion_given_tables(tables, softplus_sum, column.hyper);
        column.theta[0] = gamma(shape, rate, rng);
    }

    /// The log density of u along r → r e^u, intercept → intercept − u, up to a constant. u has Haar measure; the
    /// move's Jacobian is that of r alone, e^u.
    pub fn ln_slid<'a>(&'a self, column: &'a Column<'_>) -> impl Fn(f64) -> f64 + 'a {
        let last = column.beta.len() - 1;
        let (tally, law) = (Tally::new(&column.y), self.law(column.hyper));
        let workspace = RefCell::new((column.f.clone(), column.f.clone()));
        move |u| {
            let r = column.theta[0] * u.exp();
            let (shifted, every) = &mut *workspace.borrow_mut();
            shifted.iter_mut().zip(&column.f).for_each(|(shifted, f)| *shifted = f - u);
            every.fill(r);
            let ln_lik = tally.ln_rising(r) + simd::negative_binomial_ln_lik(&column.y, every, shifted);
            ln_lik + ln_gamma_density(r, law.shape, law.rate)
                - 0.5 * column.precision[last] * (column.beta[last] - u - column.unit.centre).powi(2)
                + u
        }
    }

    /// A slice along that line: the mean r e^f is unchanged, so the move is large where the likelihood determines the mean well but
    /// not the dispersion, and where r given f hardly moves.
    fn slide_dispersion<R: Rng + ?Sized>(&self, column: &mut Column<'_>, rng: &mut R) {
        let ln = self.ln_slid(column);
        let (u, _) = slice::univariate(rng, 0.0, ln(0.0), 0.5, &ln);
        drop(ln);
        let last = column.beta.len() - 1;
        column.theta[0] = (column.theta[0] * u.exp()).clamp(f64::MIN_POSITIVE, f64::MAX);
        column.beta[last] -= u;
        column.f.iter_mut().for_each(|f| *f -= u);
    }

    /// ω and κ of the cells, zero where missing.
    fn augment<R: Rng + ?Sized>(column: &Column<'_>, rng: &mut R) -> [Vec<f64>; 2] {
        let r = column.theta[0];
        let rows = column.y.len();
        let (mut omega, mut kappa) = (vec![0.0; rows], vec![0.0; rows]);
        for n in (0..rows).filter(|&n| !column.y[n].is_nan()) {
            omega[n] = polya_gamma::draw(column.y[n] + r, column.f[n], rng);
            kappa[n] = 0.5 * (column.y[n] - r);
        }
        [omega, kappa]
    }

    fn draw_weights<R: Rng + ?Sized>(&self, column: &mut Column<'_>, rng: &mut R) -> Result<(), NumericalError> {
        let [omega, kappa] = Self::augment(column, rng);
        column.beta = weights_given_omega(column, &omega, &kappa, &column.offset)?.draw(rng);
        Ok(())
    }

    pub(super) fn draw_rate(&self, block: &mut BlockView<'_>, stream: Stream) {
        let seen = sums(block.theta, block.all, |f| block.sum(f));
        self.draw_hyper(&mut block.theta.hyper, seen, &mut stream.named("rate").rng());
    }
}

/// What the hyperparameters see of all r_j of a block whose sums over columns are `sum`.
pub(crate) fn sums(theta: &Theta, count: usize, sum: impl Fn(&(dyn Fn(usize) -> f64 + Sync)) -> f64) -> Sums {
    let r = |j: usize| theta.values[(0, j)];
    Sums { count: count as f64, ln: sum(&|j| r(j).ln()), plain: sum(&r) }
}

/// The distinct counts of a column other than zero, and the number of cells with each.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally(Vec<(f64, f64)>);

impl Tally {
    /// Of a column's cells, some of which may be missing.
    pub fn new(y: &[f64]) -> Self {
        let mut seen: Vec<f64> = y.iter().copied().filter(|&y| y > 0.0).collect();
        seen.sort_unstable_by(f64::total_cmp);
        Tally(seen.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64)).collect())
    }

    /// Σ ln Γ(y + r) − ln Γ(r) over the cells: all of their log-likelihood that depends on r and not on f, but for r ln(1 − p).
    pub fn ln_rising(&self, r: f64) -> f64 {
        let ln_gamma_r = ln_gamma(r);
        self.0.iter().map(|&(y, cells)| cells * ln_rising(y, r, ln_gamma_r)).sum()
    }
}

/// ln Γ(y + r) − ln Γ(r), given ln Γ(r). A short product for small counts avoids cancellation. For huge r it is y ln r.
fn ln_rising(y: f64, r: f64, ln_gamma_r: f64) -> f64 {
    if r > 1e15 {
        y * r.ln()
    } else if y <= 16.0 {
        (0..y as u32).map(|t| r + f64::from(t)).product::<f64>().ln()
    } else {
        ln_gamma(y + r) - ln_gamma_r
    }
}

impl Family for NegativeBinomial {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self) -> Vec<&'static str> {
        vec!["r"]
    }

    fn problem(&self, _n: usize, _j: usize, y: f64) -> Option<String> {
        not_a_count(y)
    }

    fn unit(&self, _j: usize, seen: &[Seen]) -> Unit {
        Unit::new(ln_rate(seen) - start_dispersion(seen).ln(), 1.0)
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        y.ln_1p()
    }

    fn start(&self, seen: &[Seen], _unit: &Unit) -> Vec<f64> {
        vec![start_dispersion(seen)]
    }

    /// r_j = j, as in the paper.
    fn example(&self, j: usize) -> Vec<f64> {
        vec![(j + 1) as f64]
    }

    fn start_hyper(&self, columns: usize, sums: &[f64]) -> Vec<f64> {
        let typical = sums[0] / columns as f64;
        match &self.prior {
            Dispersion::Pooled(_) => Pool::start(typical),
            Dispersion::Shaped(prior) => vec![prior.shape / typical],
        }
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        let hyper = match &self.prior {
            Dispersion::Pooled(pool) => pool.draw(rng),
            Dispersion::Shaped(prior) => vec![gamma(prior.rate_shape, prior.rate_rate, rng)],
        };
        let Gamma { shape, rate } = self.law(&hyper);
        let r = units.iter().map(|_| gamma(shape, rate, rng)).collect();
        Theta { values: Mat::from_vec(1, units.len(), r), hyper }
    }

    fn ln_prior_column(&self, theta: &Theta, j: usize, _unit: &Unit) -> f64 {
        let Gamma { shape, rate } = self.law(&theta.hyper);
        ln_gamma_density(theta.values[(0, j)], shape, rate)
    }

    fn ln_hyper(&self, theta: &Theta) -> f64 {
        match &self.prior {
            Dispersion::Pooled(pool) => pool.ln_density(self.law(&theta.hyper)),
            Dispersion::Shaped(prior) => ln_gamma_density(theta.hyper[0], prior.rate_shape, prior.rate_rate),
        }
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        let (y, f, r) = (row.y[j], f[j], row.parameters(0)[j]);
        ln_gamma(y + r) - ln_gamma(r) - ln_gamma(y + 1.0) + y * f - (y + r) * softplus(f)
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        simd::negative_binomial_ln_lik(row.y, row.parameters(0), f)
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        Some(simd::negative_binomial_ln_lik(&column.y, &vec![column.theta[0]; f.len()], f))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        simd::negative_binomial_ln_lik_moved(row.y, row.parameters(0), f, s.a, s.u, s.b, s.v)
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        simd::negative_binomial_grad(row.y, row.parameters(0), f, g)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn working(&self, _block: &BlockView<'_>, column: &Column<'_>, rng: &mut StreamRng) -> Option<Working> {
        let [omega, kappa] = Self::augment(column, rng);
        Some(Working::augmented(&omega, &kappa))
    }

    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(f).zip(row.parameters(0)).for_each(|((m, f), r)| *m = r * f.exp());
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for ((y, f), &r) in out.iter_mut().zip(f).zip(row.parameters(0)) {
            *y = poisson::draw(gamma(r, 1.0, rng) * f.exp(), rng);
        }
    }

    /// r_j along the line of constant means, where it is least determined (elsewhere β adapts to r_j by itself); then h.
    fn maximise_parameters(&self, block: &mut BlockView<'_>) {
        let work = 4_000 * block.h.rows();
        block.set_columns(work, |column| {
            let ln = self.ln_slid(column);
            // The density is with respect to ln r.
            let u = maximize_1d(0.0, 0.1, |u| ln(u) - u);
            drop(ln);
            let last = column.beta.len() - 1;
            column.theta[0] *= u.exp();
            column.beta[last] -= u;
            column.f.iter_mut().for_each(|f| *f -= u);
        });
        let seen = sums(block.theta, block.all, |f| block.sum(f));
        self.settle_hyper(&mut block.theta.hyper, seen);
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = 40 * block.h.rows();
        block.each_column(stream, work, |column, rng| {
            self.draw_dispersion(column, rng);
            Ok(())
        })?;
        self.draw_rate(block, stream);
        Ok(())
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = block.gram_work() + 200 * block.h.rows();
        block.each_column(stream, work, |column, rng| self.update_column(column, rng))?;
        self.draw_rate(block, stream);
        Ok(())
    }
}

/// Method-of-moments estimate of r from the raw counts, limited to a range from which sampling can correct it.
fn start_dispersion(seen: &[Seen]) -> f64 {
    let n = seen.len() as f64;
    let mean = seen.iter().map(|s| s.1).sum::<f64>() / n;
    let variance = seen.iter().map(|s| (s.1 - mean).powi(2)).sum::<f64>() / n;
    let excess = variance - mean;
    // Latent structure inflates the raw variance, so the estimate is doubled.
    if excess > 0.0 { (2.0 * mean * mean / excess).clamp(0.2, 20.0) } else { 20.0 }
}
