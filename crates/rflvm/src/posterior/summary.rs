//! Posterior summary of one number.

use super::diagnostics::quantile;
use super::spread::mean_and_sd;

/// Mean, standard deviation and quantiles over draws, and how often the number is positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Quantiles at 5% and 95%.
    pub quantiles: [f64; 2],
    /// Posterior probability that it is positive; a draw of exactly zero counts half.
    pub positive: f64,
}

impl Summary {
    /// Of its draws; those in which it is not defined (NaN) are left out.
    pub fn of(mut draws: Vec<f64>) -> Self {
        draws.retain(|draw| !draw.is_nan());
        draws.sort_unstable_by(f64::total_cmp);
        let (mean, sd) = if draws.is_empty() { (f64::NAN, f64::NAN) } else { mean_and_sd(&draws) };
        Summary { mean, sd, quantiles: [0.05, 0.95].map(|p| quantile(&draws, p)), positive: share(&draws, |d| d) }
    }

    /// The probability of the more probable sign.
    pub fn direction(&self) -> f64 {
        self.positive.max(1.0 - self.positive)
    }
}

/// The share of draws in which a number made of them is positive, with zeros counted half.
fn share(draws: &[f64], number: impl Fn(f64) -> f64) -> f64 {
    let one = |&draw: &f64| match number(draw) {
        n if n > 0.0 => 1.0,
        0.0 => 0.5,
        _ => 0.0,
    };
    draws.iter().map(one).sum::<f64>() / draws.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_draws_are_left_out_and_zeros_have_no_sign() {
        let summary = Summary::of(vec![3.0, f64::NAN, -1.0, 1.0, 0.0, 2.0]);
        assert_eq!((summary.mean, summary.positive), (1.0, 0.7));
        assert!((summary.sd - 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((summary.quantiles[0] + 0.8).abs() < 1e-12 && (summary.quantiles[1] - 2.8).abs() < 1e-12);
        assert_eq!(Summary::of(vec![-1.0, -2.0, 0.0, -3.0]).direction(), 0.875);
        assert!(Summary::of(vec![f64::NAN]).mean.is_nan());
    }
}
