//! What columns say about each other's noise: their precisions λ_j = s_j²/σ_j², in units of each column's spread s_j, or the dispersions r_j of counts.
//!
//! ```text
//! λ_j ~ Ga(a, rate b),   level √(b/a) ~ half-t,   spread 1/√a ~ half-t
//! ```
//!
//! The level is a typical standard deviation of the noise; the spread is the coefficient of variation of λ_j, and near zero also the standard
//! deviation of ln λ_j. At spread 0 all columns have the same noise. A gamma has a light upper tail: a column may be noisier than the others at a
//! small price, but much less noisy only if most columns are (Heywood cases). The gamma given (a, b) keeps every conjugate form; a and b
//! are slices, with λ_j given or, where the likelihood is proportional to λ^k e^(−Sλ), integrated out:
//! ln p = Σ_j ln Γ(a + k_j) − ln Γ(a) + a ln b − (a + k_j) ln(b + S_j).

use super::amplitude::HalfT;
use super::gamma::Gamma;
use super::partial::over_defaults;
use crate::dist::ln_gamma;
use crate::maximize_1d::maximize_1d;
use crate::slice;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Priors of the level and of the spread of columns' noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pool {
    /// √(b/a).
    #[serde(deserialize_with = "level")]
    pub level: HalfT,
    /// 1/√a.
    #[serde(deserialize_with = "spread")]
    pub spread: HalfT,
}

impl Default for Pool {
    fn default() -> Self {
        // With 30 degrees of freedom next to a half-normal: columns that differ 30-fold have a spread of about 1.4.
        Pool { level: HalfT { scale: 1.0, dof: 4.0 }, spread: HalfT { scale: 1.0, dof: 30.0 } }
    }
}

over_defaults! {
    level: HalfT = Pool::default().level;
    spread: HalfT = Pool::default().spread;
}

/// Width of a slice of ln level² and of ln spread².
const WIDTH: f64 = 1.0;
/// Slices of each: they cost next to nothing.
const ROUNDS: usize = 2;
/// Above this Stirling's series is used: differences of ln Γ would lose digits.
const LARGE: f64 = 1e3;

/// Number of the λ_j, Σ ln λ_j and Σ λ_j: all that (a, b) depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// Number of columns.
    pub count: f64,
    /// Σ ln λ_j.
    pub ln: f64,
    /// Σ λ_j.
    pub plain: f64,
}

impl Sums {
    /// Σ_j ln Ga(λ_j; a, b), up to a constant.
    pub fn ln(&self, Gamma { shape, rate }: Gamma) -> f64 {
        let (location, mean) = ((rate / shape).ln(), rate / shape * self.plain);
        // a ln b − ln Γ(a) = a (ln(b/a) + 1) + (a ln a − a − ln Γ(a)).
        shape * (self.count * (location + 1.0) + self.ln - mean) + self.count * stirling(shape)
    }
}

/// a ln a − a − ln Γ(a).
fn stirling(a: f64) -> f64 {
    match a > LARGE {
        true => 0.5 * (a / std::f64::consts::TAU).ln() - 1.0 / (12.0 * a),
        false => a * a.ln() - a - ln_gamma(a),
    }
}

/// ln ∫ Ga(λ; a, b) λ^k e^(−Sλ) dλ.
pub fn ln_integrated(Gamma { shape, rate }: Gamma, power: f64, sum: f64) -> f64 {
    // ln Γ(a + k) − ln Γ(a), less k ln b.
    let rising = match shape > LARGE {
        true => {
            let end = shape + power;
            (end - 0.5) * (power / shape).ln_1p() - power + (1.0 / end - 1.0 / shape) / 12.0
                - power * (rate / shape).ln()
        }
        false => ln_gamma(shape + power) - ln_gamma(shape) - power * rate.ln(),
    };
    rising - (shape + power) * (sum / rate).ln_1p()
}

impl Pool {
    /// a = 1, and the rate at which λ_j are about `typical`.
    pub(crate) fn start(typical: f64) -> Vec<f64> {
        vec![1.0, typical.recip()]
    }

    /// The gamma of hyperparameters [a, b].
    pub fn law(hyper: &[f64]) -> Gamma {
        Gamma { shape: hyper[0], rate: hyper[1] }
    }

    /// ln p(ln a, ln b).
    pub fn ln_density(&self, Gamma { shape, rate }: Gamma) -> f64 {
        // (ln level², ln spread²) is a linear function of (ln a, ln b) of determinant ±1.
        self.level.ln_density((rate / shape).ln()) + self.spread.ln_density(-shape.ln())
    }

    /// A draw of [a, b].
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<f64> {
        let (level2, spread2) = (self.level.draw(rng), self.spread.draw(rng));
        vec![spread2.recip(), level2 / spread2]
    }

    /// Slices of ln level² and ln spread² for a likelihood `ln` of (a, b).
    pub fn slice<R: Rng + ?Sized>(&self, hyper: &mut [f64], rng: &mut R, ln: impl Fn(Gamma) -> f64) {
        let mut at = coordinates(hyper);
        let full = |at: [f64; 2]| {
            let law = from(at);
            ln(law) + self.ln_density(law)
        };
        let mut current = full(at);
        for i in (0..2).cycle().take(2 * ROUNDS) {
            let moved = |v: f64| if i == 0 { [v, at[1]] } else { [at[0], v] };
            let (v, there) = slice::univariate(rng, at[i], current, WIDTH, |v| full(moved(v)));
            (at[i], current) = (v, there);
        }
        put(hyper, at);
    }

    /// The level at its mode for a likelihood `ln`. The spread stays: a point estimate pays no penalty for volume, and would end at spread 0.
    pub(crate) fn settle(&self, hyper: &mut [f64], ln: impl Fn(Gamma) -> f64) {
        let [u, v] = coordinates(hyper);
        let full = |u: f64| {
            let law = from([u, v]);
            ln(law) + self.ln_density(law)
        };
        put(hyper, [maximize_1d(u, 0.5, full), v]);
    }
}

/// ln level² and ln spread².
fn coordinates(hyper: &[f64]) -> [f64; 2] {
    [(hyper[1] / hyper[0]).ln(), -hyper[0].ln()]
}

fn from([level, spread]: [f64; 2]) -> Gamma {
    let shape = (-spread).exp();
    Gamma { shape, rate: shape * level.exp() }
}

fn put(hyper: &mut [f64], at: [f64; 2]) {
    let Gamma { shape, rate } = from(at);
    hyper.copy_from_slice(&[shape, rate]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{gamma, ln_gamma_density};
    use crate::rng::Stream;

    #[test]
    fn sums_are_all_that_the_gammas_need() {
        let values = [0.3, 1.7, 2.2_f64];
        let sums = Sums { count: 3.0, ln: values.iter().map(|v| v.ln()).sum(), plain: values.iter().sum() };
        let plain = |law: Gamma| values.iter().map(|&v| ln_gamma_density(v, law.shape, law.rate)).sum::<f64>();
        let from = Gamma { shape: 1.3, rate: 0.4 };
        for (shape, rate) in [(0.2, 3.0), (40.0, 31.0), (999.0, 800.0), (1001.0, 800.0), (5e4, 4e4)] {
            let law = Gamma { shape, rate };
            let (fast, slow) = (sums.ln(law) - sums.ln(from), plain(law) - plain(from));
            assert!((fast - slow).abs() < 1e-9 * slow.abs().max(1.0), "{law:?}: {fast}, {slow}");
        }
    }

    #[test]
    fn integrals_are_those_of_the_definition_and_tend_to_a_common_value() {
        let (power, sum) = (7.5, 2.1);
        for (shape, rate) in [(0.7, 0.2), (30.0, 12.0), (999.9, 500.0), (1000.1, 500.0)] {
            let peak = (shape + power) / (rate + sum);
            let step = 1e-4;
            let cell = |i: i32| {
                let ln = f64::from(i) * step;
                let value = peak * ln.exp();
                (ln_gamma_density(value, shape, rate) + power * value.ln() - sum * value + value.ln()).exp() * step
            };
            let total: f64 = (-400_000..100_000).map(cell).sum();
            let exact = ln_integrated(Gamma { shape, rate }, power, sum);
            assert!((exact - total.ln()).abs() < 1e-6, "{shape}: {exact}, {}", total.ln());
        }
        let limit = ln_integrated(Gamma { shape: 1e12, rate: 5e11 }, power, sum);
        assert!((limit - (power * 2.0_f64.ln() - sum * 2.0)).abs() < 1e-6, "{limit}");
    }

    #[test]
    fn slices_leave_prior_and_likelihood_invariant() {
        // Alternating λ given (a, b) and (a, b) given λ has the prior of (a, b): half of the draws lie below its median.
        let pool = Pool { level: HalfT { scale: 0.5, dof: 8.0 }, spread: HalfT { scale: 0.6, dof: 8.0 } };
        let (rng, rounds) = (&mut Stream::new(3).rng(), 20_000);
        let mut sorted: Vec<[f64; 2]> = (0..rounds).map(|_| coordinates(&pool.draw(rng))).collect();
        let medians = [0, 1].map(|i| {
            sorted.sort_by(|a, b| a[i].total_cmp(&b[i]));
            sorted[rounds / 2][i]
        });
        let (mut hyper, mut below) = (pool.draw(rng), vec![[0.0; 2]; 50]);
        for i in 0..rounds {
            let values: Vec<f64> = (0..4).map(|_| gamma(hyper[0], hyper[1], rng)).collect();
            let sums = Sums { count: 4.0, ln: values.iter().map(|v| v.ln()).sum(), plain: values.iter().sum() };
            pool.slice(&mut hyper, rng, |law| sums.ln(law));
            let at = coordinates(&hyper);
            (0..2).for_each(|k| {
                below[i * 50 / rounds][k] += f64::from(u8::from(at[k] < medians[k])) * 50.0 / rounds as f64
            });
        }
        for k in 0..2 {
            let mean = below.iter().map(|b| b[k]).sum::<f64>() / 50.0;
            let error = (below.iter().map(|b| (b[k] - mean).powi(2)).sum::<f64>() / (50.0 * 49.0)).sqrt();
            assert!((mean - 0.5).abs() < 4.0 * error.hypot(0.5 / (rounds as f64).sqrt()), "{k}: {mean} ± {error}");
        }
    }
}
