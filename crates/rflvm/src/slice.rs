//! Slice sampling on closures: elliptical (Murray, Adams & MacKay 2010) and univariate (Neal 2003).
//! Independent of the model; a candidate with a NaN density is rejected.

use crate::dist::normal;
use rand::{Rng, RngExt};
use std::f64::consts::TAU;

/// Result of an elliptical slice.
#[derive(Debug, Clone, Copy)]
pub struct Landing {
    /// Cosine of the angle: weight of the old point.
    pub cos: f64,
    /// Sine of the angle: weight of the auxiliary draw.
    pub sin: f64,
    /// Log-likelihood there.
    pub ln_lik: f64,
    /// Number of candidates evaluated.
    pub tries: u32,
}

/// A bracket that shrank this often is narrower than the spacing of floats; the point stays.
const MAX_SHRINKS: u32 = 200;

/// An elliptical slice whose candidates are judged from outside, so that many of them can go on side by side.
#[derive(Debug, Clone)]
pub struct Ellipse {
    threshold: f64,
    current: f64,
    angle: f64,
    low: f64,
    high: f64,
    tries: u32,
}

impl Ellipse {
    /// From log-likelihood `current`.
    pub fn new<R: Rng + ?Sized>(rng: &mut R, current: f64) -> Self {
        let threshold = current + rng.random::<f64>().ln();
        let angle = rng.random::<f64>() * TAU;
        Ellipse { threshold, current, angle, low: angle - TAU, high: angle, tries: 0 }
    }

    /// Cosine and sine of the candidate: weights of the old point and of the auxiliary draw.
    pub fn candidate(&self) -> (f64, f64) {
        let (sin, cos) = self.angle.sin_cos();
        (cos, sin)
    }

    /// Judges the candidate by its log-likelihood; `None` if there is another one.
    pub fn judge<R: Rng + ?Sized>(&mut self, rng: &mut R, ln_lik: f64) -> Option<Landing> {
        self.tries += 1;
        let tries = self.tries;
        if ln_lik > self.threshold {
            let (cos, sin) = self.candidate();
            return Some(Landing { cos, sin, ln_lik, tries });
        }
        if tries == MAX_SHRINKS {
            return Some(Landing { cos: 1.0, sin: 0.0, ln_lik: self.current, tries });
        }
        if self.angle < 0.0 {
            self.low = self.angle;
        } else {
            self.high = self.angle;
        }
        self.angle = self.low + rng.random::<f64>() * (self.high - self.low);
        None
    }
}

/// One elliptical slice step from log-likelihood `current`; `price(cos, sin)` is the log-likelihood of
/// `cos · old + sin · auxiliary`, both relative to the prior's centre.
pub fn elliptical<R: Rng + ?Sized>(rng: &mut R, current: f64, mut price: impl FnMut(f64, f64) -> f64) -> Landing {
    let mut ellipse = Ellipse::new(rng, current);
    loop {
        let (cos, sin) = ellipse.candidate();
        if let Some(landing) = ellipse.judge(rng, price(cos, sin)) {
            return landing;
        }
    }
}

/// One elliptical slice step of a vector with a standard normal prior, from log-likelihood `current`. The last evaluated candidate is
/// the accepted one, unless the point stayed (`sin` is then 0). `workspace` is scratch memory.
pub fn standard<R: Rng + ?Sized>(
    rng: &mut R,
    x: &mut [f64],
    current: f64,
    workspace: &mut Vec<f64>,
    mut price: impl FnMut(&[f64]) -> f64,
) -> Landing {
    workspace.clear();
    workspace.extend((0..x.len()).map(|_| normal(rng)));
    workspace.extend_from_slice(x);
    let (auxiliary, candidate) = workspace.split_at_mut(x.len());
    let landing = elliptical(rng, current, |cos, sin| {
        let cells = candidate.iter_mut().zip(&*x).zip(&*auxiliary);
        cells.for_each(|((to, x), nu)| *to = cos * x + sin * nu);
        price(candidate)
    });
    if landing.sin != 0.0 {
        x.copy_from_slice(candidate);
    }
    landing
}

/// Which end of an interval is being sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Left,
    Right,
    Shrink,
}

/// A univariate slice, by stepping out and shrinkage, whose candidates are judged from outside.
#[derive(Debug, Clone)]
pub struct Interval {
    from: f64,
    current: f64,
    threshold: f64,
    width: f64,
    low: f64,
    high: f64,
    left: u32,
    right: u32,
    phase: Phase,
    candidate: f64,
    shrinks: u32,
}

impl Interval {
    /// From `x` with log density `current`.
    pub fn new<R: Rng + ?Sized>(rng: &mut R, x: f64, current: f64, width: f64) -> Self {
        const MAX_STEPS: u32 = 64;
        let threshold = current + rng.random::<f64>().ln();
        let low = x - rng.random::<f64>() * width;
        // The step budget is divided at random between the two ends, which keeps the move reversible.
        let left = rng.random_range(0..MAX_STEPS);
        let right = MAX_STEPS - 1 - left;
        let (high, phase) = (low + width, Phase::Left);
        let mut interval =
            Interval { from: x, current, threshold, width, low, high, left, right, phase, candidate: low, shrinks: 0 };
        interval.settle(rng);
        interval
    }

    /// The candidate.
    pub fn candidate(&self) -> f64 {
        self.candidate
    }

    /// Goes on to the next end whose budget is not spent, or into the interval.
    fn settle<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        if self.phase == Phase::Left && self.left == 0 {
            self.phase = Phase::Right;
        }
        if self.phase == Phase::Right && self.right == 0 {
            self.phase = Phase::Shrink;
        }
        self.candidate = match self.phase {
            Phase::Left => self.low,
            Phase::Right => self.high,
            Phase::Shrink => self.low + rng.random::<f64>() * (self.high - self.low),
        };
    }

    /// Judges the candidate by its log density. Returns the new point and its log density, or `None` if there is another candidate.
    pub fn judge<R: Rng + ?Sized>(&mut self, rng: &mut R, value: f64) -> Option<(f64, f64)> {
        let is_inside = value > self.threshold;
        match self.phase {
            Phase::Left if is_inside => (self.low, self.left) = (self.low - self.width, self.left - 1),
            Phase::Left => self.phase = Phase::Right,
            Phase::Right if is_inside => (self.high, self.right) = (self.high + self.width, self.right - 1),
            Phase::Right => self.phase = Phase::Shrink,
            Phase::Shrink if is_inside => return Some((self.candidate, value)),
            Phase::Shrink => {
                self.shrinks += 1;
                if self.shrinks == MAX_SHRINKS {
                    return Some((self.from, self.current));
                }
                if self.candidate < self.from {
                    self.low = self.candidate;
                } else {
                    self.high = self.candidate;
                }
            }
        }
        self.settle(rng);
        None
    }
}

/// One univariate slice step from `x` with log density `current`, by stepping out and shrinkage.
/// Returns the new point and its log density.
pub fn univariate<R: Rng + ?Sized>(
    rng: &mut R,
    x: f64,
    current: f64,
    width: f64,
    mut ln_density: impl FnMut(f64) -> f64,
) -> (f64, f64) {
    let mut interval = Interval::new(rng, x, current, width);
    loop {
        if let Some(landing) = interval.judge(rng, ln_density(interval.candidate())) {
            return landing;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use rand_distr::StandardNormal;

    /// Mean and its standard error from batch means, which account for autocorrelation.
    fn mean_and_error(values: &[f64]) -> (f64, f64) {
        let batch = values.len() / 50;
        let means: Vec<f64> = values.chunks_exact(batch).map(|b| b.iter().sum::<f64>() / batch as f64).collect();
        let mean = means.iter().sum::<f64>() / 50.0;
        let var = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 49.0;
        (mean, (var / 50.0).sqrt())
    }

    #[test]
    fn elliptical_slice_draws_from_a_gaussian_posterior() {
        // Prior N(0, 1), likelihood N(y = 1.5 | x, 0.25): posterior N(1.2, 0.2).
        let mut rng = Stream::new(1).rng();
        let ln_lik = |x: f64| -0.5 * (1.5 - x).powi(2) / 0.25;
        let mut x = 0.0;
        let mut draws = Vec::new();
        for _ in 0..100_000 {
            let nu: f64 = rng.sample(StandardNormal);
            let landing = elliptical(&mut rng, ln_lik(x), |c, s| ln_lik(c * x + s * nu));
            x = landing.cos * x + landing.sin * nu;
            draws.push(x);
        }
        let (mean, error) = mean_and_error(&draws);
        assert!((mean - 1.2).abs() < 4.0 * error, "{mean} ± {error}");
        let squares: Vec<f64> = draws.iter().map(|x| (x - 1.2).powi(2)).collect();
        let (var, error) = mean_and_error(&squares);
        assert!((var - 0.2).abs() < 4.0 * error, "{var} ± {error}");
    }

    #[test]
    fn univariate_slice_draws_from_a_gamma_in_logs() {
        // u = ln g with g ~ Ga(2.5, 1): ln density 2.5 u − e^u. E[g] = Var[g] = 2.5.
        let mut rng = Stream::new(2).rng();
        let ln_density = |u: f64| 2.5 * u - u.exp();
        let mut u = 0.0;
        let mut draws = Vec::new();
        for _ in 0..100_000 {
            u = univariate(&mut rng, u, ln_density(u), 1.0, ln_density).0;
            draws.push(u.exp());
        }
        let (mean, error) = mean_and_error(&draws);
        assert!((mean - 2.5).abs() < 4.0 * error, "{mean} ± {error}");
        let squares: Vec<f64> = draws.iter().map(|g| (g - 2.5).powi(2)).collect();
        let (var, error) = mean_and_error(&squares);
        assert!((var - 2.5).abs() < 4.0 * error, "{var} ± {error}");
    }

    #[test]
    fn candidates_that_are_not_numbers_are_rejected() {
        let mut rng = Stream::new(3).rng();
        let landing = elliptical(&mut rng, 0.0, |_, sin| if sin.abs() > 1e-3 { f64::NAN } else { 0.0 });
        assert!(landing.sin.abs() <= 1e-3);
    }
}
