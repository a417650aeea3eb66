//! Zero-inflated negative binomial: y = 0 with probability π_j, otherwise y ~ NB(r_j, logistic(f)). θ holds r_j and logit π_j.
//!
//! A zero is one of the extra ones with odds π/((1 − π)(1 + e^f)^{−r}). Given which are, the other cells are negative binomial, so that
//! r_j and β_j are drawn as in that family, with the extra zeros left out.

use super::negative_binomial::NegativeBinomial;
use super::{About, BlockView, Cells, Column, Family, Observed, Row, Seen, Shift, Statistic, Theta, Unit, Working};
use crate::dist::{ln_normal, logistic, normal, softplus};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::priors::{Normal, Priors};
use crate::rng::{Stream, StreamRng};
use crate::slice;
use rand::RngExt;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "zero-inflated-negative-binomial",
    aliases: &["zinb"],
    cells: Cells::Counts,
    statistics: Statistic::COUNTS,
    suggestions: &[
        (Statistic::Zeros, Observed::Less, "try negative-binomial"),
        (Statistic::VarianceToMean, Observed::Less, "try zero-inflated-poisson"),
        (Statistic::Largest, Observed::Less, "try zero-inflated-poisson"),
    ],
    new: |_, priors| {
        let counts = NegativeBinomial { prior: priors.dispersion };
        Ok(Arc::new(ZeroInflatedNegativeBinomial { counts, prior: priors.zero_inflation }))
    },
};

/// A mixture of a point mass at zero, with probability logistic(θ_1), and NB(θ_0, logistic(f)).
#[derive(Debug, Clone, PartialEq)]
pub struct ZeroInflatedNegativeBinomial {
    /// The other counts, with the prior of r_j.
    pub counts: NegativeBinomial,
    /// Prior of logit π_j.
    pub prior: Normal,
}

impl Default for ZeroInflatedNegativeBinomial {
    fn default() -> Self {
        ZeroInflatedNegativeBinomial { counts: NegativeBinomial::default(), prior: Priors::default().zero_inflation }
    }
}

/// ln P(y = 0) for f, r and t = logit π: the logarithm of π + (1 − π)(1 + e^f)^{−r}.
fn ln_zero(f: f64, r: f64, t: f64) -> f64 {
    let other = -r * softplus(f);
    t.max(other) + (-(t - other).abs()).exp().ln_1p() - softplus(t)
}

/// The part of the log density of a count above zero that depends on f and t.
fn ln_positive(y: f64, f: f64, r: f64, t: f64) -> f64 {
    y * f - (y + r) * softplus(f) - softplus(t)
}

fn ln_cell(y: f64, f: f64, r: f64, t: f64) -> f64 {
    if y == 0.0 { ln_zero(f, r, t) } else { ln_positive(y, f, r, t) }
}

/// Its derivative with respect to f.
fn slope(y: f64, f: f64, r: f64, t: f64) -> f64 {
    if y == 0.0 { -r * logistic(f) * (1.0 - extra(f, r, t)) } else { y - (y + r) * logistic(f) }
}

/// The probability that a zero is an extra one, for a probability logistic(t) of extra zeros.
pub fn extra(f: f64, r: f64, t: f64) -> f64 {
    logistic(t + r * softplus(f))
}

impl ZeroInflatedNegativeBinomial {
    /// The sum of the parts of its log density over the observed cells of a row.
    fn sum(row: Row<'_>, mut cell: impl FnMut(usize, f64, f64, f64) -> f64) -> f64 {
        let (r, t) = (row.parameters(0), row.parameters(1));
        let seen = row.y.iter().enumerate().filter(|(_, y)| !y.is_nan());
        seen.map(|(j, &y)| cell(j, y, r[j], t[j])).sum()
    }

    /// Removes the zeros that are drawn as extra ones.
    fn without_extra(column: &Column<'_>, rng: &mut StreamRng) -> Vec<f64> {
        let cells = column.y.iter().zip(&column.f);
        let keep = |(&y, &f): (&f64, &f64)| {
            let is_extra = y == 0.0 && rng.random::<f64>() < extra(f, column.theta[0], column.theta[1]);
            if is_extra { f64::NAN } else { y }
        };
        cells.map(keep).collect()
    }

    /// ln p of a column's cells and of t at another t, up to a constant.
    pub fn ln_inflation(&self, column: &Column<'_>, t: f64) -> f64 {
        let cells = column.y.iter().zip(&column.f).filter(|(y, _)| !y.is_nan());
        let of_cell = |(&y, &f): (&f64, &f64)| if y == 0.0 { ln_zero(f, column.theta[0], t) } else { -softplus(t) };
        cells.map(of_cell).sum::<f64>() + ln_normal(t, self.prior.mean, self.prior.sd.powi(2))
    }

    /// logit π_j given r_j and f.
    fn slice_inflation(&self, column: &mut Column<'_>, rng: &mut StreamRng) {
        let t = column.theta[1];
        let ln = |t: f64| self.ln_inflation(column, t);
        column.theta[1] = slice::univariate(rng, t, ln(t), self.prior.sd, ln).0;
    }

    /// Applies an update of the negative binomial to the counts that are not extra zeros.
    fn given_extra(
        &self,
        column: &mut Column<'_>,
        rng: &mut StreamRng,
        update: impl FnOnce(&NegativeBinomial, &mut Column<'_>, &mut StreamRng) -> Result<(), NumericalError>,
    ) -> Result<(), NumericalError> {
        self.slice_inflation(column, rng);
        let counts = Self::without_extra(column, rng);
        let all = std::mem::replace(&mut column.y, counts);
        let outcome = update(&self.counts, column, rng);
        column.y = all;
        outcome
    }
}

impl Family for ZeroInflatedNegativeBinomial {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self) -> Vec<&'static str> {
        vec!["r", "logit_pi"]
    }

    fn problem(&self, n: usize, j: usize, y: f64) -> Option<String> {
        self.counts.problem(n, j, y)
    }

    fn unit(&self, j: usize, seen: &[Seen]) -> Unit {
        self.counts.unit(j, seen)
    }

    fn link(&self, n: usize, j: usize, y: f64) -> f64 {
        self.counts.link(n, j, y)
    }

    fn start(&self, seen: &[Seen], unit: &Unit) -> Vec<f64> {
        let mut theta = self.counts.start(seen, unit);
        theta.push(self.prior.mean);
        theta
    }

    fn example(&self, j: usize) -> Vec<f64> {
        let mut theta = self.counts.example(j);
        theta.push(self.prior.mean);
        theta
    }

    fn start_hyper(&self, columns: usize, sums: &[f64]) -> Vec<f64> {
        self.counts.start_hyper(columns, sums)
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        let Theta { values: r, hyper } = self.counts.draw_prior(units, rng);
        let mut values = Mat::zeros(2, units.len());
        for j in 0..units.len() {
            values[(0, j)] = r[(0, j)];
            values[(1, j)] = self.prior.mean + self.prior.sd * normal(rng);
        }
        Theta { values, hyper }
    }

    fn ln_prior_column(&self, theta: &Theta, j: usize, unit: &Unit) -> f64 {
        self.counts.ln_prior_column(theta, j, unit)
            + ln_normal(theta.values[(1, j)], self.prior.mean, self.prior.sd.powi(2))
    }

    fn ln_hyper(&self, theta: &Theta) -> f64 {
        self.counts.ln_hyper(theta)
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        let t = row.parameters(1)[j];
        let other = self.counts.ln_piece(row, j, f) - softplus(t);
        if row.y[j] == 0.0 { crate::dist::ln_sum_exp(&[t - softplus(t), other]) } else { other }
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        Self::sum(row, |j, y, r, t| ln_cell(y, f[j], r, t))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        Self::sum(row, |j, y, r, t| ln_cell(y, f[j] + s.a * s.u[j] + s.b * s.v[j], r, t))
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        let cells = column.y.iter().zip(f).filter(|(y, _)| !y.is_nan());
        Some(cells.map(|(&y, &f)| ln_cell(y, f, column.theta[0], column.theta[1])).sum())
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        g.fill(0.0);
        Self::sum(row, |j, y, r, t| {
            g[j] = slope(y, f[j], r, t);
            ln_cell(y, f[j], r, t)
        })
    }

    fn working(&self, block: &BlockView<'_>, column: &Column<'_>, rng: &mut StreamRng) -> Option<Working> {
        let counts = Column {
            y: Self::without_extra(column, rng),
            f: column.f.clone(),
            offset: column.offset.clone(),
            beta: column.beta.clone(),
            theta: column.theta.clone(),
            precision: column.precision.clone(),
            ..*column
        };
        self.counts.working(block, &counts, rng)
    }

    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        self.counts.mean(row, f, out);
        out.iter_mut().zip(row.parameters(1)).for_each(|(mean, t)| *mean *= logistic(-t));
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        self.counts.simulate(row, f, out, rng);
        for (y, t) in out.iter_mut().zip(row.parameters(1)) {
            if rng.random::<f64>() < logistic(*t) {
                *y = 0.0;
            }
        }
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = 100 * block.h.rows();
        block.each_column(stream, work, |column, rng| {
            self.given_extra(column, rng, |counts, column, rng| {
                counts.draw_dispersion(column, rng);
                Ok(())
            })
        })?;
        self.counts.draw_rate(block, stream);
        Ok(())
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = block.gram_work() + 300 * block.h.rows();
        block.each_column(stream, work, |column, rng| {
            self.given_extra(column, rng, |counts, column, rng| counts.update_column(column, rng))
        })?;
        self.counts.draw_rate(block, stream);
        Ok(())
    }
}
