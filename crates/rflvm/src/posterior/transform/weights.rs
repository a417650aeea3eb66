//! Weights of draws for a new row: p(W, β, θ | y, Y) ∝ p(W, β, θ | Y) p(y | W, β, θ).
//!
//! Draw s of the fit counts in proportion to w_s = p(y | W_s, β_s, θ_s), for each new row by itself. An unbiased estimate of w_s does as
//! well (Tran, Scharth, Pitt & Kohn 2013, arXiv:1309.3339). A row of many cells can say so much of (W, β, θ) that hardly a draw is left: weights are then
//! tempered, w_s^t with the largest t < 1 at which the effective number of draws, (Σ w)²/Σ w², is a fourth of them (as in Del Moral, Doucet &
//! Jasra 2006, JRSS B 68(3)).

use crate::dist::ln_sum_exp;

/// The least effective number of draws, as a fraction of them.
const LEAST: f64 = 0.25;
/// Steps of bisection for t.
const STEPS: usize = 30;

/// As many draws as there are, each as often as its weight says, in ascending order (systematic resampling): all of them once if their weights are equal.
pub fn resampled(weights: &[f64]) -> Vec<usize> {
    let count = weights.len() as f64;
    let (mut draws, mut below) = (Vec::with_capacity(weights.len()), 0.0);
    for (draw, weight) in weights.iter().enumerate() {
        below += weight;
        while draws.len() < weights.len() && draws.len() as f64 + 0.5 < below * count {
            draws.push(draw);
        }
    }
    // Rounding may leave a remainder.
    draws.resize(weights.len(), draws.last().copied().unwrap_or(0));
    draws
}

/// The weights, which sum to one.
pub fn weights(ln_evidence: &[f64]) -> Vec<f64> {
    let count = ln_evidence.len() as f64;
    let weights = |t: f64| {
        let raised: Vec<f64> = ln_evidence.iter().map(|v| t * v).collect();
        let total = ln_sum_exp(&raised);
        raised.iter().map(|v| (v - total).exp()).collect::<Vec<f64>>()
    };
    let is_enough = |weights: &[f64]| 1.0 / weights.iter().map(|w| w * w).sum::<f64>() >= LEAST * count;
    let whole = weights(1.0);
    if is_enough(&whole) {
        return whole;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let middle = 0.5 * (low + high);
        if is_enough(&weights(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    weights(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_come_as_often_as_their_weights_say() {
        assert_eq!(resampled(&weights(&[-700.0; 7])), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(resampled(&[0.25, 0.5, 0.25, 0.0]), [0, 1, 1, 2]);
        assert_eq!(resampled(&weights(&[])), [0; 0]);
        // A thousand unequal draws: each as often as expected, to within one.
        let unequal = weights(&(0..1000).map(|i| f64::from(i).sin()).collect::<Vec<f64>>());
        let drawn = resampled(&unequal);
        for (draw, weight) in unequal.iter().enumerate() {
            let times = drawn.iter().filter(|&&d| d == draw).count() as f64;
            assert!((times - 1000.0 * weight).abs() < 1.0, "{draw}: {times}");
        }
    }

    #[test]
    fn a_quarter_of_the_draws_is_left_at_least() {
        let effective = |weights: &[f64]| 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        for spread in [20.0, 50.0, 5e4] {
            let evidence: Vec<f64> = (0..200).map(|i| spread * (f64::from(i) * 12.9898).sin()).collect();
            let left = effective(&weights(&evidence));
            assert!((50.0..50.1).contains(&left), "{left}");
        }
        // Where more are left anyhow, weights are as they are.
        let evidence: Vec<f64> = (0..200).map(|i| 0.5 * (f64::from(i) * 12.9898).sin()).collect();
        let total = ln_sum_exp(&evidence);
        assert!(weights(&evidence).iter().zip(&evidence).all(|(w, v)| (w.ln() - v + total).abs() < 1e-12));
    }
}
