//! Predictions of several modes, combined by stacking (Yao, Vehtari & Gelman 2022, JMLR 23(79)).
//!
//! w maximises (1/n) Σ_i ln Σ_k w_k p_ik over weights that sum to one, p_ik the density of cell i under mode k with that cell left out
//! ([`left_cells`](super::left_cells)). The sum is concave, and w_k ← w_k g_k, g_k = (1/n) Σ_i p_ik / Σ_l w_l p_il, increases it at every
//! step; it is within max_k g_k − 1 of its maximum.

use crate::dist::ln_sum_exp;

/// Chains that sample one mode, and the weight of the mode in predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighted {
    /// The chains whose draws are used.
    pub used: Vec<usize>,
    /// The weight.
    pub weight: f64,
}

impl Weighted {
    /// Modes of chains that began apart: each counts by its chains.
    pub fn by_chains(modes: Vec<Vec<usize>>) -> Vec<Self> {
        let all: usize = modes.iter().map(Vec::len).sum();
        modes.into_iter().map(|used| Weighted { weight: used.len() as f64 / all as f64, used }).collect()
    }

    /// How many of at most `most` predictions come from each mode: in proportion to its weight, each from a different one of its draws.
    pub fn counts(modes: &[Weighted], draws: usize, most: usize) -> Vec<usize> {
        let there = |mode: &Weighted| (mode.used.len() * draws) as f64;
        let weighty = modes.iter().filter(|mode| mode.weight > 0.0);
        let all = weighty.map(|mode| there(mode) / mode.weight).fold(f64::INFINITY, f64::min);
        // A quotient such as 200/0.2 may be just below the integer that it is.
        let all = (most as f64).min((all * (1.0 + 1e-12)).floor());
        let mut counts: Vec<usize> = modes.iter().map(|mode| (mode.weight * all).min(there(mode)) as usize).collect();
        // What rounding down leaves over goes to the largest remainders.
        let mut order: Vec<usize> = (0..modes.len()).filter(|&k| (counts[k] as f64) < there(&modes[k])).collect();
        let rest = |k: usize, counts: &[usize]| modes[k].weight * all - counts[k] as f64;
        order.sort_by(|&a, &b| rest(b, &counts).total_cmp(&rest(a, &counts)));
        let left = (all as usize).saturating_sub(counts.iter().sum());
        order.into_iter().filter(|&k| modes[k].weight > 0.0).take(left).for_each(|k| counts[k] += 1);
        counts
    }
}

/// The objective is known to be this close to its maximum, in nats per cell.
const GAP: f64 = 1e-10;
/// Most steps; where modes predict almost alike, weights hardly matter and are found slowly.
const STEPS: usize = 5000;
/// Weights below this are zero: they would be less than one of a thousand draws.
const LEAST: f64 = 1e-3;

/// Stacking weights of modes, from the log densities of the same cells under each.
pub fn weights(ln_density: &[Vec<f64>]) -> Vec<f64> {
    let modes = ln_density.len();
    let cells = ln_density.iter().map(Vec::len).min().unwrap_or(0);
    // Densities relative to the best mode of a cell. Cells that no mode can score say nothing.
    let relative = |i: usize| {
        let top = ln_density.iter().map(|of| of[i]).fold(f64::NEG_INFINITY, f64::max);
        let one = |of: &Vec<f64>| if of[i].is_nan() { 0.0 } else { (of[i] - top).exp() };
        top.is_finite().then(|| ln_density.iter().map(one).collect::<Vec<f64>>())
    };
    let densities: Vec<Vec<f64>> = (0..cells).filter_map(relative).collect();
    let mut weights = vec![1.0 / modes as f64; modes];
    if densities.is_empty() {
        return weights;
    }
    for _ in 0..STEPS {
        let mut gain = vec![0.0; modes];
        for p in &densities {
            let mixed: f64 = p.iter().zip(&weights).map(|(p, w)| p * w).sum();
            gain.iter_mut().zip(p).for_each(|(g, p)| *g += p / mixed);
        }
        gain.iter_mut().for_each(|g| *g /= densities.len() as f64);
        weights.iter_mut().zip(&gain).for_each(|(w, g)| *w *= g);
        if gain.iter().copied().fold(0.0, f64::max) - 1.0 <= GAP {
            break;
        }
    }
    weights.iter_mut().filter(|w| **w < LEAST).for_each(|w| *w = 0.0);
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    // The steps may end before a weight has vanished.
    let alone = (0..modes).map(|mode| (0..modes).map(|k| f64::from(u8::from(k == mode))).collect::<Vec<f64>>());
    let score =
        |w: &[f64]| densities.iter().map(|p| p.iter().zip(w).map(|(p, w)| p * w).sum::<f64>().ln()).sum::<f64>();
    alone.fold(weights, |best, one| if score(&one) > score(&best) { one } else { best })
}

/// Mean over cells of ln Σ_k w_k p_ik.
pub fn mean_ln_density(ln_density: &[Vec<f64>], weights: &[f64]) -> f64 {
    let cells = ln_density.iter().map(Vec::len).min().unwrap_or(0);
    let of = |i: usize| {
        let terms = ln_density.iter().zip(weights).filter(|(_, w)| **w > 0.0).map(|(of, w)| of[i] + w.ln());
        ln_sum_exp(&terms.collect::<Vec<f64>>())
    };
    (0..cells).map(of).sum::<f64>() / cells as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of n cells, `m` have densities (2, 1) and the others (1, 2): m ln(1 + w) + (n − m) ln(2 − w) is largest at w = (3m − n)/n.
    #[test]
    fn weights_are_those_of_a_problem_with_a_known_answer() {
        for (m, expected) in [(20, 0.0), (40, 0.2), (50, 0.5), (60, 0.8), (90, 1.0)] {
            let one: Vec<f64> = (0..100).map(|i| if i < m { 2.0_f64.ln() } else { 0.0 }).collect();
            let two: Vec<f64> = (0..100).map(|i| if i < m { 0.0 } else { 2.0_f64.ln() }).collect();
            let found = weights(&[one.clone(), two.clone()]);
            assert!((found[0] - expected).abs() < 1e-4 && (found.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{found:?}");
            // No worse than either mode, nor than weights nearby.
            let at = |w: f64| mean_ln_density(&[one.clone(), two.clone()], &[w, 1.0 - w]);
            for other in [0.0, 1.0, found[0] - 0.01, found[0] + 0.01] {
                assert!(at(found[0]) >= at(other.clamp(0.0, 1.0)) - 1e-9, "{m}, {other}");
            }
        }
    }

    /// Modes that never agree: each weight is the share of cells that its mode predicts.
    #[test]
    fn modes_that_predict_different_cells_are_weighted_by_their_number() {
        let of = |k: usize| -> Vec<f64> {
            let is_own = |i: usize| [0..50, 50..80, 80..100][k].contains(&i);
            (0..100).map(|i| if is_own(i) { -700.0 } else { f64::NEG_INFINITY }).collect()
        };
        let found = weights(&[of(0), of(1), of(2)]);
        assert!(found.iter().zip([0.5, 0.3, 0.2]).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn one_mode_has_all_the_weight_and_equal_modes_share_it() {
        let cells = vec![-1.0, -3.0, f64::NEG_INFINITY, f64::NAN];
        assert_eq!(weights(std::slice::from_ref(&cells)), [1.0]);
        assert_eq!(weights(&[cells.clone(), cells]), [0.5, 0.5]);
        assert_eq!(weights(&[vec![], vec![]]), [0.5, 0.5]);
    }

    #[test]
    fn draws_are_taken_in_proportion_to_the_weights() {
        let modes = |weights: &[f64]| -> Vec<Weighted> {
            weights.iter().enumerate().map(|(k, &weight)| Weighted { used: vec![2 * k, 2 * k + 1], weight }).collect()
        };
        let counts = |weights: &[f64], most: usize| Weighted::counts(&modes(weights), 100, most);
        assert_eq!(counts(&[0.75, 0.25], 100), [75, 25]);
        // 200 draws of each: all of the heavier mode's, and a third as many of the other's.
        assert_eq!(counts(&[0.75, 0.25], usize::MAX), [200, 66]);
        assert_eq!(counts(&[0.2, 0.8], 1000), [50, 200]);
        assert_eq!(counts(&[1.0, 0.0], 1000), [200, 0]);
        assert_eq!(counts(&[0.5, 0.3, 0.2], 3), [1, 1, 1]);
        assert_eq!(counts(&[0.9, 0.1], 1), [1, 0]);
        assert_eq!(counts(&[1.0], 150), [150]);
        assert_eq!(counts(&[0.5, 0.5], 0), [0, 0]);
    }
}
