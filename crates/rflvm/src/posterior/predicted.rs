//! What draws of a cell tell of it.

use super::diagnostics::quantile;
use super::mean_and_sd;

/// The posterior predictive distribution of a cell, in short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Posterior mean of E[y | f].
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Quantiles at 5%, 50% and 95%.
    pub quantiles: [f64; 3],
}

impl Predicted {
    /// From the mean of E[y | f] and draws of y, which it sorts.
    pub fn of(mean: f64, drawn: &mut [f64]) -> Self {
        drawn.sort_unstable_by(f64::total_cmp);
        Predicted { mean, sd: mean_and_sd(drawn).1, quantiles: [0.05, 0.5, 0.95].map(|p| quantile(drawn, p)) }
    }
}
