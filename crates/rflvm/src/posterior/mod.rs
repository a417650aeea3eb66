//! What we learnt: draws of all chains, aligned, with the chains that sit in a lesser mode set aside.

pub mod align;
pub mod axes;
pub mod check;
pub mod convergence;
pub mod diagnostics;
mod embedding;
pub mod fitted;
#[cfg(test)]
mod fixture;
pub mod forecast;
pub mod frame;
pub mod heldout;
pub mod impute;
pub mod kernel;
pub mod leave_out;
pub mod mixing;
pub mod parameters;
pub mod pointwise;
pub mod predict;
pub mod predicted;
pub mod psis;
pub mod ranking;
pub mod row_density;
pub mod score;
pub mod transform;

use crate::draws::Memory;
use crate::linalg::Mat;
use std::cmp::Ordering;

/// Draws of all chains; immutable.
#[derive(Debug, Clone)]
pub struct Posterior {
    chains: Vec<Memory>,
    verdicts: Vec<Verdict>,
}

/// How a chain stands by its joint log density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Mean joint log density of the chain's draws.
    pub ln_joint: f64,
    /// How far it lies below the best chain's.
    pub below: f64,
    /// The gap beyond which a chain is set aside.
    pub allowed: f64,
    /// Whether its draws are used.
    pub used: bool,
}

/// A chain is set aside when its mean joint log density lies below the best chain's by more than this many standard
/// deviations of the draws (the larger of the two chains'), and by more than [`SMALL_GAP`]: it then sits in another mode,
/// of negligible mass beside the best one, and averaging it in would blur both.
const DEVIATIONS: f64 = 4.0;
/// A gap in the log density that is never held against a chain.
const SMALL_GAP: f64 = 10.0;

/// How each chain stands, from the joint log densities of its draws.
pub fn verdicts<C: AsRef<[f64]>>(ln_joint: &[C]) -> Vec<Verdict> {
    let moments: Vec<(f64, f64)> = ln_joint.iter().map(|c| mean_and_sd(c.as_ref())).collect();
    let best = moments.iter().copied().fold((f64::NEG_INFINITY, 0.0), |a, b| if b.0 > a.0 { b } else { a });
    let verdict = |&(ln_joint, sd): &(f64, f64)| {
        let below = best.0 - ln_joint;
        let allowed = (DEVIATIONS * sd.max(best.1)).max(SMALL_GAP);
        // Only a gap that is there counts: a density that is not a number sets no chain aside.
        Verdict { ln_joint, below, allowed, used: below.partial_cmp(&allowed) != Some(Ordering::Greater) }
    };
    moments.iter().map(verdict).collect()
}

impl Posterior {
    /// From the draws of each chain.
    pub fn new(chains: Vec<Memory>) -> Self {
        let verdicts = verdicts(&chains.iter().map(|c| c.ln_joint.as_slice()).collect::<Vec<_>>());
        Posterior { verdicts, chains }
    }

    /// All chains, used or not.
    pub fn chains(&self) -> &[Memory] {
        &self.chains
    }

    /// How each chain stands.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// The chains whose draws are used.
    pub fn used(&self) -> impl Iterator<Item = &Memory> {
        self.chains.iter().zip(&self.verdicts).filter(|(_, v)| v.used).map(|(c, _)| c)
    }

    /// Posterior mean and covariance of each row over the aligned draws of all used chains.
    pub fn embedding(&self) -> align::Embedding {
        align::align(&self.used().flat_map(|c| &c.x).collect::<Vec<_>>())
    }

    /// Posterior mean of E[y | f], N×J in the model's order of columns: what a missing cell is expected to hold.
    pub fn mean(&self) -> Mat {
        self.pooled(|chain| &chain.mean)
    }

    /// A per-chain average, averaged over the used chains by their draws.
    fn pooled(&self, of: impl Fn(&Memory) -> &Mat) -> Mat {
        let used: Vec<&Memory> = self.used().collect();
        let draws: f64 = used.iter().map(|c| c.x.len() as f64).sum();
        let cell = |n: usize, j: usize| used.iter().map(|c| c.x.len() as f64 * of(c)[(n, j)]).sum::<f64>() / draws;
        Mat::from_fn(of(used[0]).rows(), of(used[0]).cols(), cell)
    }
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(level: f64) -> Memory {
        let ln_joint = (0..100).map(|i| level + f64::from(i % 11)).collect();
        Memory { ln_joint, ..Memory::default() }
    }

    #[test]
    fn a_chain_far_below_the_best_is_set_aside_and_a_near_one_is_not() {
        let posterior = Posterior::new(vec![chain(-100.0), chain(-900.0), chain(-105.0)]);
        let used: Vec<bool> = posterior.verdicts().iter().map(|v| v.used).collect();
        assert_eq!(used, [true, false, true]);
        assert!((posterior.verdicts()[1].below - 800.0).abs() < 1e-9);
    }
}
