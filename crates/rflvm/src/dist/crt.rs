//! The Chinese-restaurant-table distribution CRT(y, r): the number of tables
//! taken by y customers of a Chinese restaurant process of concentration r,
//!
//! ```text
//! l = Σ_{t=1..y} Bernoulli(r / (r + t − 1)),
//! P(l) = Γ(r)/Γ(y + r) |s(y, l)| r^l,
//! ```
//!
//! with |s(y, l)| the unsigned Stirling numbers of the first kind. Given l, the
//! dispersion r of a negative binomial has a conjugate gamma distribution.
//!
//! M. Zhou and L. Carin (2015). Negative binomial process count and mixture
//! modeling. IEEE Trans. Pattern Anal. Mach. Intell. 37, 307–320.

use rand::{Rng, RngExt};
use rand_distr::Exp1;

/// One draw of CRT(y, r), r > 0, exact in distribution; about r log₂ y steps if y ≫ r.
///
/// The first customers, t ≤ 16 + 8r, are drawn one by one. Then a table is rare:
/// in a block t0 ≤ t < 2 t0 all success probabilities are at most that of t0, so
/// candidates are found by geometric skips at that constant probability and each
/// is kept with the ratio of the two probabilities, which is above ½ (thinning).
pub fn draw<R: Rng + ?Sized>(y: u64, r: f64, rng: &mut R) -> u64 {
    // `as u64` saturates, and min comes before the sum: no overflow for large r.
    let single = y.min((8.0 * r) as u64).saturating_add(16).min(y);
    let mut tables = 0;
    for t in 0..single {
        // `random` is below one, so the first customer always takes a table.
        tables += u64::from(rng.random::<f64>() * (r + t as f64) < r);
    }
    // `start` counts the customers already seated: t − 1 in the formula above.
    let mut start = single;
    while start < y {
        let end = start.saturating_mul(2).min(y);
        // −ln(1 − r/(r + start)), so that ⌊Exp(1)/rate⌋ is the geometric skip.
        let rate = (r / start as f64).ln_1p();
        let mut t = start;
        loop {
            let skip = rng.sample::<f64, _>(Exp1) / rate;
            let left = end - t;
            // Written so that a NaN ends the block instead of running past it.
            if skip < left as f64 {
                t += (skip as u64).min(left - 1);
                let kept = rng.random::<f64>() * (r + t as f64) < r + start as f64;
                tables += u64::from(kept);
                t += 1;
            } else {
                break;
            }
        }
        start = end;
    }
    tables
}

/// `E[l]` = Σ_{t=1..y} r/(r + t − 1), in O(y).
pub fn mean(y: u64, r: f64) -> f64 {
    (0..y).rev().map(|t| r / (r + t as f64)).sum()
}

/// `Var[l]` = Σ_{t=1..y} r (t − 1)/(r + t − 1)², in O(y).
pub fn variance(y: u64, r: f64) -> f64 {
    let term = |t: f64| r * t / ((r + t) * (r + t));
    (0..y).rev().map(|t| term(t as f64)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

    /// ln P(l = t) for t = 0..=y, from |s(n+1, k)| = n |s(n, k)| + |s(n, k−1)| in logs.
    fn ln_probabilities(y: u64, r: f64) -> Vec<f64> {
        let mut ln_stirling = vec![0.0];
        for n in 0..y {
            let ln_n = (n as f64).ln();
            let at = |k: Option<usize>| k.and_then(|k| ln_stirling.get(k)).copied().unwrap_or(f64::NEG_INFINITY);
            ln_stirling = (0..n as usize + 2)
                .map(|k| {
                    let (p, q) = (ln_n + at(Some(k)), at(k.checked_sub(1)));
                    let top = p.max(q);
                    if top == f64::NEG_INFINITY { top } else { top + ((p - top).exp() + (q - top).exp()).ln() }
                })
                .collect();
        }
        let ln_norm = libm::lgamma(r) - libm::lgamma(y as f64 + r);
        let ln_r = r.ln();
        let term = |(l, s): (usize, &f64)| s + l as f64 * ln_r + ln_norm;
        ln_stirling.iter().enumerate().map(term).collect()
    }

    #[test]
    fn probabilities_have_the_moments() {
        for (y, r) in [(1, 0.3), (5, 2.0), (60, 0.7), (200, 30.0)] {
            let p: Vec<f64> = ln_probabilities(y, r).iter().map(|l| l.exp()).collect();
            let moment = |f: &dyn Fn(f64) -> f64| p.iter().enumerate().map(|(l, p)| p * f(l as f64)).sum::<f64>();
            let m = mean(y, r);
            assert!((moment(&|_| 1.0) - 1.0).abs() < 1e-10);
            assert!((moment(&|l| l) / m - 1.0).abs() < 1e-10);
            assert!((moment(&|l| (l - m) * (l - m)) - variance(y, r)).abs() < 1e-9);
        }
    }

    #[test]
    fn draws_follow_the_probabilities() {
        let n = 200_000;
        for (y, r) in [(5, 2.0), (10, 0.5), (100, 0.3), (300, 1.0), (200, 7.0)] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(y);
            let mut counts = vec![0.0; y as usize + 1];
            (0..n).for_each(|_| counts[draw(y, r, &mut rng) as usize] += 1.0);
            // Cells with fewer than ten expected draws are pooled.
            let (mut chi2, mut cells, mut rare) = (0.0, 0.0, (0.0, 0.0));
            for (count, ln_p) in counts.iter().zip(ln_probabilities(y, r)) {
                let expected = n as f64 * ln_p.exp();
                if expected < 10.0 {
                    rare = (rare.0 + count, rare.1 + expected);
                } else {
                    chi2 += (count - expected) * (count - expected) / expected;
                    cells += 1.0;
                }
            }
            assert!((rare.0 - rare.1).abs() <= 4.5 * f64::sqrt(rare.1) + 1.0, "{rare:?}");
            let z = (chi2 - (cells - 1.0)) / f64::sqrt(2.0 * (cells - 1.0));
            assert!(z < 4.5, "y = {y}, r = {r}: chi-square {chi2} in {cells} cells");
        }
    }

    #[test]
    fn large_counts_have_mean_and_variance() {
        let n = 100_000;
        for (y, r) in [(1_000, 0.01), (5_000, 0.8), (3_000, 12.0), (100_000, 3.0), (60, 1e3)] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(y + 1);
            let (m, v) = (mean(y, r), variance(y, r));
            let draws: Vec<f64> = (0..n).map(|_| draw(y, r, &mut rng) as f64).collect();
            let average = |f: &dyn Fn(f64) -> f64| draws.iter().map(|&l| f(l)).sum::<f64>() / n as f64;
            let z = (average(&|l| l) - m) / (v / n as f64).sqrt();
            assert!(z.abs() < 4.5, "mean, y = {y}, r = {r}: z = {z}");
            let second = average(&|l| (l - m).powi(2));
            let of_second = average(&|l| (l - m).powi(4)) - second * second;
            let z = (second - v) / (of_second / n as f64).sqrt();
            assert!(z.abs() < 4.5, "variance, y = {y}, r = {r}: z = {z}");
        }
    }

    #[test]
    fn edges() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for r in [1e-300, 1e-3, 1.0, 1e3, 1e300] {
            assert_eq!(draw(0, r, &mut rng), 0);
            assert_eq!(draw(1, r, &mut rng), 1);
            for y in [2, 17, 1_000] {
                assert!((1..=y).contains(&draw(y, r, &mut rng)));
            }
        }
        assert_eq!((mean(0, 1.0), variance(0, 1.0)), (0.0, 0.0));
        assert!(draw(u64::MAX, 0.5, &mut rng) >= 1);
        assert_eq!(draw(1_000, f64::NAN, &mut rng), 0);
    }
}
