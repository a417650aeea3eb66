//! L-BFGS ascent on a log density (Nocedal & Wright 2006, algorithm 7.5): fits the initial state of a chain and computes
//! MAP estimates.
//!
//! Why not a crate: `argmin` 0.11 (12 pairs, Moré–Thuente) is as good from a fitted start: joint density of the
//! Poisson S-curve, 500×100, M = 100, −1,960 after 415 evaluations and 1.0 s, ours −1,978 after 415 and 0.9 s; after 211 and 207
//! evaluations −2,405 and −2,435. But from zero weights, where initialisation starts, its Moré–Thuente and Hager–Zhang searches stop
//! at the first candidate whose e^f overflows, with nothing gained, where backtracking simply continues; it cannot hold coordinates
//! fixed, and it brings ten crates, including a second `rand`. `lbfgs` 0.3 is the recursion without a line search; `ganesh` depends
//! on nalgebra, and it and `liblbfgs` were not measured.

use crate::hmc::hamiltonian::Potential;
use crate::simd::dot;
use std::collections::VecDeque;

/// Pairs of steps and gradient changes that approximate the curvature.
const MEMORY: usize = 12;

/// Number of steps over which a gain is measured.
const JUDGED: usize = 10;

/// Result of an optimisation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// The final log density, which is not finite only if the initial one was not.
    pub value: f64,
    /// Number of steps taken.
    pub iterations: usize,
    /// Whether it stopped because there was nothing more to gain.
    pub has_stalled: bool,
}

/// When an optimisation ends, and its units.
#[derive(Debug, Clone, Copy)]
pub struct Limit<'a> {
    /// Coordinates of scale zero are held fixed, the others are measured in units of their scale.
    pub scales: &'a [f64],
    /// Most steps.
    pub iterations: usize,
    /// It stops once ten steps together gain less than this.
    pub gain: f64,
}

/// Optimises from `q`.
pub fn maximise(potential: &mut impl Potential, q: &mut Vec<f64>, limit: Limit<'_>) -> Optimum {
    let Limit { scales, iterations, gain } = limit;
    let scaled = |g: &mut [f64]| g.iter_mut().zip(scales).for_each(|(g, s)| *g *= s);
    let mut g = vec![0.0; q.len()];
    let mut value = potential.evaluate(q, &mut g);
    scaled(&mut g);
    let mut pairs: VecDeque<Correction> = VecDeque::new();
    let (mut next, mut candidate, mut direction) = (vec![0.0; q.len()], vec![0.0; q.len()], vec![0.0; q.len()]);
    let (mut judged, mut taken_in_all, mut has_stalled) = (value, 0, false);
    for i in 0..iterations {
        if !value.is_finite() {
            break;
        }
        if i > 0 && i % JUDGED == 0 {
            if value - judged < gain {
                has_stalled = true;
                break;
            }
            judged = value;
        }
        ascend(potential, &g, &pairs, &mut direction);
        let product = |a: &[f64], b: &[f64]| potential.sum(a.len(), &|i| dot(&a[i.clone()], &b[i]));
        let mut slope = product(&direction, &g);
        if slope <= 0.0 {
            direction.copy_from_slice(&g);
            slope = product(&g, &g);
            pairs.clear();
        }
        if slope < 1e-10 {
            has_stalled = true;
            break;
        }
        // The first step has no curvature information: unit length, in units of the scales.
        let mut step = if pairs.is_empty() { 1.0 / product(&direction, &direction).sqrt() } else { 1.0 };
        let mut taken = false;
        for _ in 0..25 {
            for (((c, q), d), s) in candidate.iter_mut().zip(q.iter()).zip(&direction).zip(scales) {
                *c = q + step * d * s;
            }
            let there = potential.evaluate(&candidate, &mut next);
            if there > value + 1e-4 * step * slope {
                scaled(&mut next);
                let mut pair =
                    if pairs.len() == MEMORY { pairs.pop_front().unwrap_or_default() } else { Correction::default() };
                pair.set(
                    potential,
                    direction.iter().map(|d| step * d),
                    g.iter().zip(&next).map(|(old, new)| old - new),
                );
                if pair.product > 1e-12 * pair.moved_square {
                    pairs.push_back(pair);
                }
                std::mem::swap(&mut g, &mut next);
                std::mem::swap(q, &mut candidate);
                value = there;
                taken = true;
                taken_in_all += 1;
                break;
            }
            step *= 0.4;
        }
        if !taken {
            if pairs.is_empty() {
                has_stalled = true;
                break;
            }
            pairs.clear();
        }
    }
    Optimum { value, iterations: taken_in_all, has_stalled }
}

/// A step s and the change y of the gradient along it, y·s > 0. In single precision, since there are many of them and each may be
/// as long as the table is wide; products use the rounded numbers, so that the implied curvature is positive.
#[derive(Default)]
struct Correction {
    moved: Vec<f32>,
    change: Vec<f32>,
    product: f64,
    moved_square: f64,
    change_square: f64,
}

impl Correction {
    fn set(&mut self, potential: &impl Potential, moved: impl Iterator<Item = f64>, change: impl Iterator<Item = f64>) {
        self.moved.clear();
        self.moved.extend(moved.map(|s| s as f32));
        self.change.clear();
        self.change.extend(change.map(|y| y as f32));
        let product = |a: &[f32], b: &[f32]| {
            potential.sum(a.len(), &|i| {
                let (mut wide, mut sum) = ([0.0; PIECE], 0.0);
                for (a, b) in a[i.clone()].chunks(PIECE).zip(b[i].chunks(PIECE)) {
                    sum += dot_short(a, widened(b, &mut wide));
                }
                sum
            })
        };
        self.product = product(&self.change, &self.moved);
        self.moved_square = product(&self.moved, &self.moved);
        self.change_square = product(&self.change, &self.change);
    }
}

/// Numbers converted to double precision at a time.
const PIECE: usize = 512;

fn widened<'a>(from: &[f32], to: &'a mut [f64; PIECE]) -> &'a [f64] {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = f64::from(*from));
    &to[..from.len()]
}

fn dot_short(a: &[f32], b: &[f64]) -> f64 {
    let mut wide = [0.0; PIECE];
    a.chunks(PIECE).zip(b.chunks(PIECE)).map(|(a, b)| dot(widened(a, &mut wide), b)).sum()
}

/// d += weight · a.
fn add(weight: f64, a: &[f32], d: &mut [f64]) {
    d.iter_mut().zip(a).for_each(|(d, a)| *d += weight * f64::from(*a));
}

/// The two-loop recursion: curvature⁻¹ · g in `d`.
fn ascend(potential: &impl Potential, g: &[f64], pairs: &VecDeque<Correction>, d: &mut [f64]) {
    let product = |a: &[f32], b: &[f64]| potential.sum(a.len(), &|i| dot_short(&a[i.clone()], &b[i]));
    d.copy_from_slice(g);
    let mut weights = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let weight = product(&pair.moved, d) / pair.product;
        add(-weight, &pair.change, d);
        weights.push(weight);
    }
    if let Some(pair) = pairs.back() {
        let scale = pair.product / pair.change_square;
        d.iter_mut().for_each(|d| *d *= scale);
    }
    for (pair, weight) in pairs.iter().zip(weights.into_iter().rev()) {
        add(weight - product(&pair.change, d) / pair.product, &pair.moved, d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley, negated; its maximum is at (1, 1).
    struct Valley;

    impl Potential for Valley {
        fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
            let (x, y) = (q[0], q[1]);
            g[0] = 2.0 * (1.0 - x) + 400.0 * x * (y - x * x);
            g[1] = -200.0 * (y - x * x);
            -(1.0 - x).powi(2) - 100.0 * (y - x * x).powi(2)
        }
    }

    #[test]
    fn finds_the_top_and_leaves_held_coordinates() {
        let mut q = vec![-1.2, 1.0];
        let limit = |scales, gain| Limit { scales, iterations: 200, gain };
        maximise(&mut Valley, &mut q, limit(&[1.0, 1.0], 0.0));
        assert!((q[0] - 1.0).abs() < 1e-4 && (q[1] - 1.0).abs() < 1e-4, "{q:?}");
        let mut held = vec![-1.2, 0.3];
        maximise(&mut Valley, &mut held, limit(&[0.0, 1.0], 0.0));
        assert_eq!(held[0], -1.2);
        assert!((held[1] - 1.44).abs() < 1e-4);
        let mut brief = vec![-1.2, 1.0];
        let optimum = maximise(&mut Valley, &mut brief, limit(&[1.0, 1.0], 1e-6));
        assert!(optimum.has_stalled && optimum.iterations < 200 && optimum.value > -1e-3, "{optimum:?}");
    }
}
