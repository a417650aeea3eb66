//! Comparison of chains: a chain in a minor mode is set aside.

use super::spread::mean_and_sd;
use std::cmp::Ordering;

/// Status of a chain by its joint log density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Mean joint log density of the chain's draws.
    pub ln_joint: f64,
    /// Gap to the best chain.
    pub below: f64,
    /// The gap beyond which a chain is set aside.
    pub allowed: f64,
    /// Whether its draws are used.
    pub used: bool,
}

/// A chain is set aside if its mean joint log density lies below the best chain's by more than this many standard
/// deviations of the draws (the larger of the two chains'), and by more than [`SMALL_GAP`]: it is then in another mode
/// with negligible mass compared with the best one, and averaging it in would blur both.
const DEVIATIONS: f64 = 4.0;
/// A gap in the log density that never disqualifies a chain.
const SMALL_GAP: f64 = 10.0;

/// The status of each chain, from the joint log densities of its draws.
pub fn verdicts<C: AsRef<[f64]>>(ln_joint: &[C]) -> Vec<Verdict> {
    let moments: Vec<(f64, f64)> = ln_joint.iter().map(|c| mean_and_sd(c.as_ref())).collect();
    let best = moments.iter().copied().fold((f64::NEG_INFINITY, 0.0), |a, b| if b.0 > a.0 { b } else { a });
    let verdict = |&(ln_joint, sd): &(f64, f64)| {
        let below = best.0 - ln_joint;
        let allowed = (DEVIATIONS * sd.max(best.1)).max(SMALL_GAP);
        // Only a finite gap counts: a NaN density sets no chain aside.
        Verdict { ln_joint, below, allowed, used: below.partial_cmp(&allowed) != Some(Ordering::Greater) }
    };
    moments.iter().map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(level: f64) -> Vec<f64> {
        (0..100).map(|i| level + f64::from(i % 11)).collect()
    }

    #[test]
    fn a_chain_far_below_the_best_is_set_aside_and_a_near_one_is_not() {
        let verdicts = verdicts(&[chain(-100.0), chain(-900.0), chain(-105.0)]);
        assert_eq!(verdicts.iter().map(|v| v.used).collect::<Vec<_>>(), [true, false, true]);
        assert!((verdicts[1].below - 800.0).abs() < 1e-9);
    }
}
