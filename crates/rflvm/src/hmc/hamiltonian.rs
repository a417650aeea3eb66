//! Hamiltonian Monte Carlo (Neal 2011) on any log density with a gradient; independent of the model.

use super::directions::{Directions, Modes};
use crate::dist::normals;
use crate::par;
use crate::simd;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A Hamiltonian trajectory: scales of the coordinates, step size in these units, number of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Standard deviation of each coordinate of q; zero for a coordinate that is held fixed.
    pub scales: Vec<f64>,
    /// Directions along which the first coordinates of q move together, each as long as the posterior is wide along it. Each has its
    /// own momentum besides those of the coordinates. May be empty.
    pub modes: Modes,
    /// Step size.
    pub step: f64,
    /// Mean number of leapfrog steps.
    pub leapfrogs: usize,
}

/// A log density with its gradient.
pub trait Potential {
    /// ln p(q) up to a constant, and its gradient in `g`.
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64;

    /// Draws the momenta of coordinates that the potential holds besides q. They have a standard normal density besides what `evaluate` returns, and
    /// rotate with their momenta by the exact flow of that density, so that the step need not shrink with their number.
    fn draw_momenta<R: Rng + ?Sized>(&mut self, _rng: &mut R) {}

    /// Rotates them with their momenta.
    fn turn(&mut self, _sin: f64, _cos: f64) {}

    /// Energy of them and of their momenta.
    fn turning_energy(&mut self) -> f64 {
        0.0
    }

    /// Σ over the `len` coordinates of q of what `part` says of some that adjoin each other: where several processes share them, of those of all.
    fn sum(&self, len: usize, part: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        part(0..len)
    }

    /// Adds `step` times their gradient at the last `evaluate` to their momenta, once. There may be as many of them as
    /// cells of the table, so their gradient is never stored.
    fn kick(&mut self, _step: f64) {}
}

/// Result of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrajectoryEnd {
    /// Whether q is accepted; if not, q holds the rejected point, and the caller keeps the old one.
    pub is_accepted: bool,
    /// Acceptance probability.
    pub acceptance: f64,
}

/// One trajectory from `q`, in place. A coordinate of scale zero moves only together with others, along the trajectory's
/// modes and `directions`.
pub fn hamiltonian<R: Rng + ?Sized>(
    potential: &mut impl Potential,
    q: &mut [f64],
    trajectory: &Trajectory,
    directions: Option<&dyn Directions>,
    rng: &mut R,
) -> TrajectoryEnd {
    let mut g = vec![0.0; q.len()];
    // q has momenta p and r: q' = Sp + Ar, p' = Sg, r' = Aᵀg, as if q were Sa + Ab with a and b of unit mass.
    let together: Vec<&dyn Directions> = [&trajectory.modes as &dyn Directions].into_iter().chain(directions).collect();
    let mut p = normals(q.len(), rng);
    potential.draw_momenta(rng);
    let mut r = normals(together.iter().map(|d| d.count()).sum(), rng);
    let before = potential.evaluate(q, &mut g) - energy(potential, &p, &r);
    let steps = trajectory.steps(rng);
    let step = trajectory.step * rng.random_range(0.8..1.2);
    let mut ln_density = f64::NAN;
    trajectory.kick(potential, &together, &mut p, &mut r, &g, 0.5 * step);
    for i in 1..=steps {
        trajectory.drift(potential, &together, q, &p, &r, step);
        ln_density = potential.evaluate(q, &mut g);
        if !ln_density.is_finite() {
            return TrajectoryEnd { is_accepted: false, acceptance: 0.0 };
        }
        trajectory.kick(potential, &together, &mut p, &mut r, &g, if i == steps { 0.5 * step } else { step });
    }
    let ratio = (ln_density - energy(potential, &p, &r) - before).exp();
    // A diverging trajectory can end with a NaN momentum, and `NaN.min(1.0)` is 1.
    let acceptance = if ratio.is_nan() { 0.0 } else { ratio.min(1.0) };
    TrajectoryEnd { is_accepted: rng.random::<f64>() < acceptance, acceptance }
}

impl Trajectory {
    /// Number of steps. Lengths are exponential (Bou-Rabee & Sanz-Serna 2017): no trajectory keeps returning to its start, and
    /// for the same mean they have twice the mean square, which determines mixing along directions longer than a trajectory.
    fn steps<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        const LONGEST: f64 = 5.0;
        let mean = self.leapfrogs as f64;
        let length = (-mean * (1.0 - rng.random::<f64>()).ln()).min(LONGEST * mean);
        length.ceil().max(1.0) as usize
    }

    fn kick(
        &self,
        potential: &mut impl Potential,
        together: &[&dyn Directions],
        p: &mut [f64],
        r: &mut [f64],
        g: &[f64],
        step: f64,
    ) {
        p.iter_mut().zip(g).zip(&self.scales).for_each(|((p, g), s)| *p += step * s * g);
        potential.kick(step);
        let mut rest = r;
        for directions in together {
            let (own, others) = rest.split_at_mut(directions.count());
            directions.pull(g, step, own);
            rest = others;
        }
    }

    /// Straight, or along the exact flow of ½(q² + p²).
    fn drift(
        &self,
        potential: &mut impl Potential,
        together: &[&dyn Directions],
        q: &mut [f64],
        p: &[f64],
        r: &[f64],
        step: f64,
    ) {
        q.iter_mut().zip(p).zip(&self.scales).for_each(|((q, p), s)| *q += step * s * *p);
        let mut rest = r;
        for directions in together {
            let (own, others) = rest.split_at(directions.count());
            directions.push(own, step, q);
            rest = others;
        }
        let (sin, cos) = step.sin_cos();
        potential.turn(sin, cos);
    }
}

/// Kinetic energy of the momenta, and energy of the rotating coordinates.
fn energy(potential: &mut impl Potential, p: &[f64], r: &[f64]) -> f64 {
    half_square(p) + half_square(r) + potential.turning_energy()
}

/// ½|v|².
pub(super) fn half_square(v: &[f64]) -> f64 {
    0.5 * par::sum(v.len(), 1, |i| simd::dot(&v[i.clone()], &v[i]))
}

#[cfg(test)]
mod tests;
