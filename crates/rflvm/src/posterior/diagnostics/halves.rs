//! Chains split into halves, so that a drift within a chain shows as a difference between two; the middle draw of an odd number
//! is left out. And their normal scores z = Φ⁻¹((r − 3/8)/(S + 1/4)), r the rank among all S draws (Blom 1958).

use super::moments::mean;
use statrs::function::erf::erfc_inv;
use std::f64::consts::SQRT_2;

/// Minimum number of draws per chain.
const FEWEST: usize = 4;

/// The halves of all chains, the two halves of a chain next to each other.
pub struct Halves {
    values: Vec<f64>,
    length: usize,
}

impl Halves {
    /// From chains of equal length with enough finite draws.
    pub fn new(chains: &[&[f64]]) -> Option<Self> {
        let draws = chains.first()?.len();
        let fit = |chain: &&[f64]| chain.len() == draws && chain.iter().all(|v| !v.is_nan());
        if draws < FEWEST || !chains.iter().all(fit) {
            return None;
        }
        let length = draws / 2;
        let values = chains.iter().flat_map(|c| c[..length].iter().chain(&c[draws - length..])).copied().collect();
        Some(Halves { values, length })
    }

    /// Number of draws in a half.
    pub fn length(&self) -> usize {
        self.length
    }

    /// All draws, half by half.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The halves.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.length)
    }

    /// The mean of each half.
    pub fn means(&self) -> Vec<f64> {
        self.iter().map(mean).collect()
    }

    /// Applies a function to each draw.
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Halves {
        Halves { values: self.values.iter().map(|&v| f(v)).collect(), length: self.length }
    }

    /// The median. Halfway between the middle two rather than their quantile: the last bit decides whether the two are equally
    /// far from it, and with it their ranks.
    pub fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        // The total number of draws in halves is even.
        let upper = sorted.len() / 2;
        sorted[upper - 1].midpoint(sorted[upper])
    }

    /// Each draw's normal score; tied draws get the mean of their ranks.
    pub fn normal_scores(&self) -> Halves {
        let size = self.values.len() as f64;
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_unstable_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        let mut scores = vec![0.0; order.len()];
        let mut below = 0.0;
        for equal in order.chunk_by(|&a, &b| self.values[a] == self.values[b]) {
            let rank = below + (equal.len() as f64 + 1.0) / 2.0;
            let score = normal_quantile((rank - 0.375) / (size + 0.25));
            equal.iter().for_each(|&place| scores[place] = score);
            below += equal.len() as f64;
        }
        Halves { values: scores, length: self.length }
    }
}

fn normal_quantile(p: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_right_to_the_last_digits() {
        // From mpmath 1.4.1 with 40 digits, for the double nearest to each p.
        let known = [
            (1e-5, -4.264890793922825),
            (0.001, -3.0902323061678136),
            (0.02425, -1.972961051311885),
            (0.3, -0.5244005127080408),
            (0.45, -0.12566134685507402),
            (0.7, 0.5244005127080407),
            (0.975, 1.9599639845400538),
            (0.9999, 3.7190164854557084),
        ];
        for (p, z) in known {
            assert!((normal_quantile(p) - z).abs() <= 1e-15 * z.abs(), "{p}: {} for {z}", normal_quantile(p));
        }
        assert_eq!(normal_quantile(0.5), 0.0);
    }

    #[test]
    fn the_middle_of_an_odd_chain_is_left_out_and_equal_draws_share_a_rank() {
        let halves = Halves::new(&[&[1.0, 2.0, 9.0, 2.0, 3.0]]).unwrap();
        assert_eq!(halves.values(), [1.0, 2.0, 2.0, 3.0]);
        let scores = halves.normal_scores();
        assert_eq!(scores.values()[1..3], [0.0, 0.0]);
        assert!((scores.values()[3] - normal_quantile(3.625 / 4.25)).abs() < 1e-15);
    }
}
