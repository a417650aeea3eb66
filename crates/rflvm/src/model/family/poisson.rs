//! Poisson counts, log link: y ~ Po(e^f). No conjugate form; β_j given the rest is log-concave.

use super::{
    About, BlockView, Cells, Column, Family, Observed, Row, Seen, Shift, Statistic, Unit, Working, ln_rate, not_a_count,
};
use crate::dist::canonical::Canonical;
use crate::dist::{ln_gamma, normals};
use crate::error::NumericalError;
use crate::linalg::gram;
use crate::rng::{Stream, StreamRng};
use crate::simd;
use crate::slice;
use rand::Rng;
use rand_distr::Distribution;
use std::any::Any;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "poisson",
    aliases: &[],
    cells: Cells::Counts,
    statistics: Statistic::COUNTS,
    suggestions: &[
        (Statistic::Zeros, Observed::More, "try zero-inflated-poisson or negative-binomial"),
        (Statistic::VarianceToMean, Observed::More, "try negative-binomial"),
        (Statistic::VarianceToMean, Observed::Less, "try binomial if counts have an upper limit"),
        (Statistic::Largest, Observed::More, "try negative-binomial, and check that the cell is not an error"),
        (Statistic::Largest, Observed::Less, "try binomial if counts have an upper limit"),
    ],
    new: |_, _| Ok(Arc::new(Poisson)),
};

/// y ~ Po(e^f).
#[derive(Debug, Clone, Default)]
pub struct Poisson;

impl Family for Poisson {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn problem(&self, _n: usize, _j: usize, y: f64) -> Option<String> {
        not_a_count(y)
    }

    fn unit(&self, _j: usize, seen: &[Seen]) -> Unit {
        Unit::new(ln_rate(seen), 1.0)
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        y.ln_1p()
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        row.y[j] * f[j] - f[j].exp() - ln_gamma(row.y[j] + 1.0)
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        simd::poisson_ln_lik(row.y, f)
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        Some(simd::poisson_ln_lik(&column.y, f))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        simd::poisson_ln_lik_moved(row.y, f, s.a, s.u, s.b, s.v)
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        simd::poisson_grad(row.y, f, g)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    /// ln(y + ½) with variance 1/(y + ½).
    fn approximate(&self, column: &Column<'_>) -> Option<Working> {
        let mut working = Working::blank(column.y.len());
        column.y.iter().enumerate().for_each(|(n, y)| working.set(n, (y + 0.5).ln(), (y + 0.5).recip()));
        Some(working)
    }

    fn mean(&self, _row: Row<'_>, f: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(f).for_each(|(m, f)| *m = f.exp());
    }

    fn simulate(&self, _row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        out.iter_mut().zip(f).for_each(|(y, f)| *y = draw(f.exp(), rng));
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = block.gram_work();
        block.each_due_column(stream, work, fitted_ellipse)
    }
}

/// A draw from Po(mean); the mean is capped at 1e12, beyond which counts lose precision anyway.
pub(super) fn draw<R: Rng + ?Sized>(mean: f64, rng: &mut R) -> f64 {
    match rand_distr::Poisson::new(mean.min(1e12)) {
        Ok(law) => law.sample(rng),
        Err(_) => 0.0, // the mean underflowed to zero
    }
}

/// The Gaussian reached by a few Newton steps towards the mode of β_j | X, W, y. It starts from ln(y + ½), not from β_j, so
/// that it is the same before and after β_j moves.
pub fn fit(column: &Column<'_>) -> Result<Canonical, NumericalError> {
    const STEPS: usize = 3;
    let mut f: Vec<f64> = column.y.iter().map(|y| if y.is_nan() { 0.0 } else { (y + 0.5).ln() }).collect();
    let (mut weight, mut response) = (vec![0.0; f.len()], vec![0.0; f.len()]);
    for step in 1.. {
        let mut shift = column.prior_shift();
        for n in (0..f.len()).filter(|&n| !column.y[n].is_nan()) {
            weight[n] = f[n].clamp(-30.0, 30.0).exp();
            response[n] = weight[n] * (f[n] - column.offset[n]) + column.y[n] - weight[n];
        }
        simd::vecmat(&response, column.h.as_slice(), &mut shift);
        let precision = gram(column.h, Some(&weight), &column.precision);
        let law = Canonical::new(precision, shift, 1.0, "weights")?;
        if step == STEPS {
            return Ok(law);
        }
        f = column.predictor(&law.mean());
    }
    unreachable!("the loop returns at its last step")
}

/// One elliptical slice around the fitted Gaussian, with prior · likelihood / fitted as the slice's target: exact for any fit.
fn fitted_ellipse<R: Rng + ?Sized>(column: &mut Column<'_>, rng: &mut R) -> Result<(), NumericalError> {
    let law = fit(column)?;
    let mean = law.mean();
    let mut auxiliary = normals(mean.len(), rng);
    law.colour(&mut auxiliary);
    let from_mean: Vec<f64> = column.beta.iter().zip(&mean).map(|(b, m)| b - m).collect();
    let f_mean = column.predictor(&mean);
    let f_auxiliary: Vec<f64> = column.h.iter_rows().map(|h| simd::dot(h, &auxiliary)).collect();
    let last = mean.len() - 1;
    let candidate = |cos: f64, sin: f64, beta: &mut [f64]| {
        beta.iter_mut().enumerate().for_each(|(m, to)| *to = mean[m] + cos * from_mean[m] + sin * auxiliary[m]);
    };
    let (mut beta, mut f) = (mean.clone(), f_mean.clone());
    let mut price = |cos: f64, sin: f64| {
        candidate(cos, sin, &mut beta);
        let centred = |m: usize| beta[m] - if m == last { column.unit.centre } else { 0.0 };
        let ln_prior: f64 = (0..=last).map(|m| -0.5 * column.precision[m] * centred(m).powi(2)).sum();
        let cells = f.iter_mut().enumerate();
        cells.for_each(|(n, f)| *f = f_mean[n] + cos * (column.f[n] - f_mean[n]) + sin * f_auxiliary[n]);
        simd::poisson_ln_lik(&column.y, &f) + ln_prior - law.ln_density(&beta)
    };
    let current = price(1.0, 0.0);
    let landing = slice::elliptical(rng, current, price);
    candidate(landing.cos, landing.sin, &mut column.beta);
    Ok(())
}
