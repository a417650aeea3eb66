//! Pareto-smoothed importance sampling of Vehtari, Simpson, Gelman, Yao & Gabry (2024, JMLR 25(72)), matching ArviZ's values.
//!
//! The largest M = min(S/5, 3√(S/r)) of S weights are replaced by the order statistics F⁻¹((z − ½)/M) of a generalised Pareto
//! distribution fitted to them, F⁻¹(p) = σ((1 − p)^(−k) − 1)/k, and none may exceed the largest raw weight. The shape k
//! measures reliability: up to 0.7 the result can be trusted.

use crate::dist::ln_sum_exp;

/// The shape above which importance sampling is unreliable.
pub const TRUSTED: f64 = 0.7;
/// With fewer weights than this there is no tail to fit.
const FEWEST_IN_TAIL: usize = 5;

/// Smoothed weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoothed {
    /// Their logarithms; the weights sum to one.
    pub ln_weights: Vec<f64>,
    /// k̂; infinite if the tail is too short to fit.
    pub k: f64,
}

/// Smooths weights given by their logarithms; `efficiency` is r, effective draws over draws.
pub fn smooth(ln_ratios: &[f64], efficiency: f64) -> Smoothed {
    let top = ln_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut ln_weights: Vec<f64> = ln_ratios.iter().map(|v| v - top).collect();
    let mut k = f64::INFINITY;
    let order = sorted(&ln_weights);
    let draws = order.len() as f64;
    let tail = (draws / 5.0).min(3.0 * (draws / efficiency).sqrt()).ceil() as usize;
    if order.len() > tail {
        let cut = ln_weights[order[order.len() - tail - 1]].max(f64::MIN_POSITIVE.ln());
        let tail: Vec<usize> = order.into_iter().filter(|&i| ln_weights[i] > cut).collect();
        if tail.len() >= FEWEST_IN_TAIL {
            let excesses: Vec<f64> = tail.iter().map(|&i| ln_weights[i].exp() - cut.exp()).collect();
            let fitted = Pareto::fit(&excesses);
            k = fitted.k;
            if k.is_finite() {
                for (z, &i) in tail.iter().enumerate() {
                    let p = (z as f64 + 0.5) / tail.len() as f64;
                    ln_weights[i] = (fitted.quantile(p) + cut.exp()).ln().min(0.0);
                }
            }
        }
    }
    let normaliser = ln_sum_exp(&ln_weights);
    ln_weights.iter_mut().for_each(|v| *v -= normaliser);
    Smoothed { ln_weights, k }
}

fn sorted(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

/// A generalised Pareto distribution with lower bound zero.
struct Pareto {
    k: f64,
    sigma: f64,
}

impl Pareto {
    /// The fit of Zhang & Stephens (2009, Technometrics 51(3)) to sorted values, with k shrunk towards ½ by ten pseudo-observations.
    fn fit(x: &[f64]) -> Self {
        let n = x.len() as f64;
        let points = 30 + n.sqrt() as usize;
        let (quarter, last) = (x[(n / 4.0 + 0.5) as usize - 1], x[x.len() - 1]);
        let shape = |b: f64| x.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;
        let grid: Vec<f64> = (0..points)
            .map(|i| (1.0 - (points as f64 / (i as f64 + 0.5)).sqrt()) / (3.0 * quarter) + 1.0 / last)
            .collect();
        let profile = |&b: &f64| {
            let k = shape(b);
            n * ((-b / k).ln() - k - 1.0)
        };
        let profile: Vec<f64> = grid.iter().map(profile).collect();
        let weight = |&at: &f64| 1.0 / profile.iter().map(|other| (other - at).exp()).sum::<f64>();
        let weights: Vec<f64> = profile.iter().map(weight).collect();
        let kept = || grid.iter().zip(&weights).filter(|(_, w)| **w >= 10.0 * f64::EPSILON);
        let b = kept().map(|(b, w)| b * w).sum::<f64>() / kept().map(|(_, w)| w).sum::<f64>();
        let k = shape(b);
        Pareto { k: (n * k + 5.0) / (n + 10.0), sigma: -k / b }
    }

    fn quantile(&self, p: f64) -> f64 {
        let tail = (-p).ln_1p();
        self.sigma * if self.k.abs() < f64::EPSILON { -tail } else { (-self.k * tail).exp_m1() / self.k }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios, their spread, r; then ArviZ's answers.
    const ARVIZ: [(usize, f64, f64, [f64; 4]); 6] = [
        (20, 1.0, 1.0, [f64::INFINITY, -10.868348891208102, -1.4527712976536746, 11.974527220028639]),
        (100, 0.3, 1.0, [-0.37420805735252644, -6.505558559000376, -3.546318137694799, 45.5646280043721]),
        (100, 2.0, 0.4, [0.368727187816553, -21.54522381734742, -1.8169543419769034, 31.656389782018532]),
        (600, 1.0, 0.7, [-0.29448455139457763, -14.097026388676298, -4.1481031302290665, 287.7075211316745]),
        (1000, 0.05, 1.0, [-0.7588721664043023, -7.169211677979098, -6.67038506208832, 499.3542793677128]),
        (2000, 3.0, 0.1, [1.5206455944524406, -33.98240685587129, -4.004628569304674, 953.2173700613382]),
    ];

    /// A fixed sequence that looks irregular.
    fn ratios(count: usize, spread: f64) -> Vec<f64> {
        (0..count).map(|i| spread * ((i as f64 * 12.9898).sin() * 4.0 + (i as f64 * 0.37).cos())).collect()
    }

    /// Values of `arviz.psislw` of ArviZ 0.23.4 for these ratios: k̂, then the smallest and largest log weight and Σ i·weight.
    #[test]
    fn the_numbers_are_those_of_arviz() {
        for (count, spread, efficiency, expected) in ARVIZ {
            let smoothed = smooth(&ratios(count, spread), efficiency);
            let ln = &smoothed.ln_weights;
            let (low, high) = ln.iter().fold((0.0_f64, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
            let place: f64 = ln.iter().enumerate().map(|(i, v)| i as f64 * v.exp()).sum();
            for (ours, theirs) in [smoothed.k, low, high, place].into_iter().zip(expected) {
                let close = ours == theirs || (ours - theirs).abs() <= 1e-8 * theirs.abs();
                assert!(close, "{count} ratios: {ours}, by ArviZ {theirs}");
            }
        }
    }

    #[test]
    fn few_or_equal_weights_are_left_alone() {
        for ratios in [vec![0.3], vec![1.0, 2.0, 3.0], vec![-7.0; 100]] {
            let smoothed = smooth(&ratios, 1.0);
            assert!(smoothed.k.is_infinite());
            assert!((smoothed.ln_weights.iter().map(|v| v.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
            let shift = smoothed.ln_weights[0] - ratios[0];
            assert!(smoothed.ln_weights.iter().zip(&ratios).all(|(w, r)| (w - r - shift).abs() < 1e-12));
        }
    }

    /// Pareto(k) weights have that k̂: its posterior standard deviation is about (1 + k)/√M, here M = 200.
    #[test]
    fn the_shape_of_a_pareto_tail_is_found() {
        for k in [0.2, 0.5, 0.9] {
            let ratios: Vec<f64> = (0..4000).map(|i| -k * (1.0 - (f64::from(i) + 0.5) / 4000.0).ln()).collect();
            let found = smooth(&ratios, 1.0).k;
            assert!((found - k).abs() < 4.0 * (1.0 + k) / 190.0_f64.sqrt(), "{found} for {k}");
        }
    }
}
