//! Zero-inflated Poisson: y = 0 with probability π_j, otherwise y ~ Po(e^f). Its parameter is logit π_j.

use super::{About, Cells, Density, Generic, Observed, Parameter, Statistic, Unit, not_a_count, poisson};
use crate::dist::{ln_gamma, logistic, softplus};
use crate::model::priors::{Normal, Priors};
use crate::rng::StreamRng;
use rand::RngExt;
use std::any::Any;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "zero-inflated-poisson",
    aliases: &["zip"],
    cells: Cells::Counts,
    statistics: Statistic::COUNTS,
    suggestions: &[
        (Statistic::Zeros, Observed::More, "try negative-binomial"),
        (Statistic::Zeros, Observed::Less, "try poisson"),
        (Statistic::VarianceToMean, Observed::More, "try negative-binomial"),
        (Statistic::VarianceToMean, Observed::Less, "try poisson"),
        (Statistic::Largest, Observed::More, "try negative-binomial, and check that the cell is not an error"),
        (Statistic::Largest, Observed::Less, "try poisson"),
    ],
    new: |_, priors| Ok(Arc::new(Generic(ZeroInflatedPoisson { prior: priors.zero_inflation }))),
};

/// A mixture of a point mass at zero, with probability logistic(θ), and Po(e^f).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZeroInflatedPoisson {
    /// Prior of logit π_j.
    pub prior: Normal,
}

impl Default for ZeroInflatedPoisson {
    fn default() -> Self {
        ZeroInflatedPoisson { prior: Priors::default().zero_inflation }
    }
}

impl Density for ZeroInflatedPoisson {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self, _unit: &Unit) -> Vec<Parameter> {
        vec![Parameter { name: "logit_pi", mean: self.prior.mean, sd: self.prior.sd }]
    }

    fn problem(&self, y: f64) -> Option<String> {
        not_a_count(y)
    }

    fn ln_density(&self, y: f64, f: f64, theta: &[f64]) -> f64 {
        // π = e^t/(1+e^t): ln π = t − softplus(t), ln(1−π) = −softplus(t).
        let t = theta[0];
        let rate = f.exp();
        if y == 0.0 {
            // ln(π + (1−π)e^{−rate}) = ln(e^t + e^{−rate}) − softplus(t), from the larger of the two: rates may be huge.
            t.max(-rate) + (-(t + rate).abs()).exp().ln_1p() - softplus(t)
        } else {
            y * f - rate - ln_gamma(y + 1.0) - softplus(t)
        }
    }

    fn derivative(&self, y: f64, f: f64, theta: &[f64]) -> f64 {
        let rate = f.exp();
        if y == 0.0 { -rate * logistic(-theta[0] - rate) } else { y - rate }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn mean(&self, f: f64, theta: &[f64]) -> f64 {
        logistic(-theta[0]) * f.exp()
    }

    fn simulate(&self, f: f64, theta: &[f64], rng: &mut StreamRng) -> f64 {
        if rng.random::<f64>() < logistic(theta[0]) { 0.0 } else { poisson::draw(f.exp(), rng) }
    }

    fn link(&self, y: f64) -> f64 {
        y.ln_1p()
    }
}
