//! A path as a state-space model (Hartikainen & Särkkä 2010): its value and first derivatives are the state of a linear
//! stochastic differential equation, the states of a sum lie one after the other, and a linear trend is one more, constant coordinate. The
//! Kalman filter's innovations are L⁻¹x for the Cholesky factor L of C, so that everything is exact in O(N).

use super::problem::Problem;
use super::sde::{Coordinates, MOST, Square, Start, Transition, sandwich, start, step, transposed};
use super::window::{Conditional, Window};
use crate::dist::normals;
use crate::simd;
use rand::Rng;
use std::ops::Range;

/// Gaps that differ by no more than this fraction of themselves are equal.
const SAME_GAP: f64 = 1e-6;

/// The parts of the filter that do not depend on x: the root of the variance of a row's innovation (zero for a hidden row), and the gain
/// of the state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gain {
    pub root: f64,
    pub k: Coordinates,
}

/// The variance of a row's noise; nothing for a hidden row.
pub(super) type Noise<'a> = &'a dyn Fn(usize) -> Option<f64>;

/// Calls a method for the number of coordinates.
macro_rules! of_size {
    ($size:expr, $method:ident($path:expr, $($argument:expr),*)) => {
        match $size {
            1 => $path.$method::<1>($($argument),*),
            2 => $path.$method::<2>($($argument),*),
            3 => $path.$method::<3>($($argument),*),
            4 => $path.$method::<4>($($argument),*),
            5 => $path.$method::<5>($($argument),*),
            _ => $path.$method::<MOST>($($argument),*),
        }
    };
}

/// The first coordinates of a matrix.
fn head<const S: usize>(whole: &Square) -> [[f64; S]; S] {
    std::array::from_fn(|i| std::array::from_fn(|j| whole[i][j]))
}

/// The matrix of all coordinates, zero beyond the first ones.
fn whole<const S: usize>(head: &[[f64; S]; S]) -> Square {
    let mut whole = [[0.0; MOST]; MOST];
    head.iter().zip(&mut whole).for_each(|(from, to)| to[..S].copy_from_slice(from));
    whole
}

/// x_n = h_n·a_n + noise.
#[derive(Debug, Clone)]
pub struct Markov {
    /// Number of coordinates in use.
    size: usize,
    /// The first coordinate of the second term of a sum, which a path also contains.
    second: Option<usize>,
    /// The trend's value at each row: the entry of h_n for its slope.
    line: Option<Vec<f64>>,
    noise: Vec<f64>,
    /// Boxed, since a path is one of several forms, and the others are small.
    first: Box<Square>,
    steps: Vec<Transition>,
    /// Index of the step that follows row n.
    next: Vec<u32>,
    gains: Vec<Gain>,
}

impl Markov {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let times = problem.times;
        let Start { size: own, heads, covariance: mut first } = start(problem);
        let size = own + usize::from(problem.trend.is_some());
        if problem.trend.is_some() {
            first[own][own] = 1.0;
        }
        let (mut steps, mut next) = (Vec::new(), Vec::with_capacity(times.len()));
        let mut gap = f64::NAN;
        for pair in times.windows(2) {
            let delta = pair[1] - pair[0];
            // Regular times share one step; gaps that differ only by the rounding of a written time count as equal.
            if (delta - gap).abs() > SAME_GAP * delta || gap.is_nan() {
                gap = delta;
                let mut next = step(problem, delta);
                if problem.trend.is_some() {
                    next.f[own][own] = 1.0;
                }
                steps.push(next);
            }
            next.push(steps.len() as u32 - 1);
        }
        let noise = (0..times.len()).map(|n| problem.noise(n)).collect();
        let line = problem.trend.map(<[f64]>::to_vec);
        let second = heads.get(1).copied();
        let mut markov = Markov { size, second, line, noise, first: Box::new(first), steps, next, gains: Vec::new() };
        markov.gains = markov.filter(|_| false);
        markov
    }

    pub(super) fn rows(&self) -> usize {
        self.noise.len()
    }

    /// h_n·a.
    fn seen(&self, n: usize, a: &[f64]) -> f64 {
        let own = a[0] + self.second.map_or(0.0, |second| a[second]);
        own + self.line.as_ref().map_or(0.0, |line| line[n] * a[self.size - 1])
    }

    /// The filter's gains when some rows are hidden; those have none.
    fn filter(&self, is_hidden: impl Fn(usize) -> bool) -> Vec<Gain> {
        self.filter_through(&|n| (!is_hidden(n)).then(|| self.noise[n]))
    }

    /// The filter's gains for other variances of the rows' noise than their own; nothing for a hidden row.
    pub(super) fn filter_through(&self, noise: Noise<'_>) -> Vec<Gain> {
        self.filter_from(noise, None)
    }

    /// The same, and passes to `see` the covariance of each row's state given the rows before it.
    fn filter_from(&self, noise: Noise<'_>, see: Option<&mut dyn FnMut(&Square)>) -> Vec<Gain> {
        of_size!(self.size, filter_sized(self, noise, see))
    }

    /// The filter of a known number of coordinates, so that the small matrices live in registers: column processes run this a dozen times per column
    /// and sweep.
    fn filter_sized<const S: usize>(&self, noise: Noise<'_>, mut see: Option<&mut dyn FnMut(&Square)>) -> Vec<Gain> {
        let mut p: [[f64; S]; S] = head(&self.first);
        let mut gains = Vec::with_capacity(self.rows());
        let (mut last, mut f, mut q) = (u32::MAX, [[0.0; S]; S], [[0.0; S]; S]);
        for n in 0..self.rows() {
            if let Some(see) = &mut see {
                see(&whole(&p));
            }
            let mut gain = Gain { root: 0.0, k: [0.0; MOST] };
            if let Some(noise) = noise(n) {
                let mut ph = [0.0; S];
                (0..S).for_each(|i| ph[i] = self.seen(n, &p[i]));
                let s = self.seen(n, &ph) + noise;
                for i in 0..S {
                    gain.k[i] = ph[i] / s;
                    for j in 0..S {
                        p[i][j] -= ph[i] * ph[j] / s;
                    }
                }
                gain.root = s.sqrt();
            }
            gains.push(gain);
            if let Some(&step) = self.next.get(n) {
                if step != last {
                    let next = &self.steps[step as usize];
                    (last, f, q) = (step, head(&next.f), head(&next.q));
                }
                let mut fp = [[0.0; S]; S];
                for i in 0..S {
                    for j in 0..S {
                        fp[i][j] = (0..S).map(|k| f[i][k] * p[k][j]).sum();
                    }
                }
                for i in 0..S {
                    for j in 0..S {
                        p[i][j] = (0..S).map(|k| fp[i][k] * f[j][k]).sum::<f64>() + q[i][j];
                    }
                }
            }
        }
        gains
    }

    /// The variance of each row of the path given the rows that are seen through the given noise (none for a hidden row), by the backward
    /// recursion of Bryson & Frazier (1963): with Λ the information of the rows from n on about the state, P − PΛP is its covariance.
    pub(super) fn smoothed(&self, noise: Noise<'_>) -> Vec<f64> {
        let size = self.size;
        let mut predicted = Vec::with_capacity(self.rows());
        let gains = self.filter_from(noise, Some(&mut |p| predicted.push(*p)));
        let mut variances = vec![0.0; self.rows()];
        let mut lambda = [[0.0; MOST]; MOST];
        for n in (0..self.rows()).rev() {
            if let Some(&step) = self.next.get(n) {
                lambda = sandwich(&transposed(&self.steps[step as usize].f), &lambda, size);
            }
            let (gain, p) = (&gains[n], &predicted[n]);
            let mut h = [0.0; MOST];
            self.add_seen(n, 1.0, &mut h);
            if gain.root > 0.0 {
                // (I − khᵀ)ᵀ Λ (I − khᵀ) + hhᵀ/s.
                let kept: Square =
                    std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j) - h[i] * gain.k[j]));
                lambda = sandwich(&kept, &lambda, size);
                for i in 0..size {
                    (0..size).for_each(|j| lambda[i][j] += h[i] * h[j] / gain.root.powi(2));
                }
            }
            let mut ph = [0.0; MOST];
            (0..size).for_each(|i| ph[i] = self.seen(n, &p[i]));
            let told: f64 = (0..size).map(|i| ph[i] * (0..size).map(|j| lambda[i][j] * ph[j]).sum::<f64>()).sum();
            // The row's own noise is part of the path, and rows elsewhere say nothing about it.
            variances[n] = (self.seen(n, &ph) - told).max(0.0) + if gain.root > 0.0 { 0.0 } else { self.noise[n] };
        }
        variances
    }

    /// The state that follows a row whose innovation is v.
    fn advance(&self, n: usize, gain: &Gain, a: &Coordinates, v: f64) -> Coordinates {
        let mut updated = *a;
        (0..self.size).for_each(|i| updated[i] += gain.k[i] * v);
        let Some(&step) = self.next.get(n) else { return updated };
        let f = &self.steps[step as usize].f;
        let mut to = [0.0; MOST];
        for i in 0..self.size {
            to[i] = (0..self.size).map(|j| f[i][j] * updated[j]).sum();
        }
        to
    }

    /// Fᵀλ of the step that follows row n.
    fn retreat(&self, n: usize, lambda: &Coordinates) -> Coordinates {
        let Some(&step) = self.next.get(n) else { return *lambda };
        let f = &self.steps[step as usize].f;
        let mut to = [0.0; MOST];
        for j in 0..self.size {
            to[j] = (0..self.size).map(|i| f[i][j] * lambda[i]).sum();
        }
        to
    }

    /// Adds c·h_n.
    fn add_seen(&self, n: usize, c: f64, to: &mut Coordinates) {
        to[0] += c;
        if let Some(second) = self.second {
            to[second] += c;
        }
        if let Some(line) = &self.line {
            to[self.size - 1] += c * line[n];
        }
    }

    /// L⁻¹x of the rows that are not hidden, zero for the others.
    pub(super) fn innovations(&self, gains: &[Gain], x: &[f64]) -> Vec<f64> {
        of_size!(self.size, innovations_sized(self, gains, x))
    }

    /// Innovations of a known number of coordinates.
    fn innovations_sized<const S: usize>(&self, gains: &[Gain], x: &[f64]) -> Vec<f64> {
        let (mut a, mut u) = ([0.0; S], vec![0.0; x.len()]);
        let (mut last, mut f) = (u32::MAX, [[0.0; S]; S]);
        for (n, gain) in gains.iter().enumerate() {
            let v = if gain.root > 0.0 { x[n] - self.seen(n, &a) } else { 0.0 };
            u[n] = if gain.root > 0.0 { v / gain.root } else { 0.0 };
            (0..S).for_each(|i| a[i] += gain.k[i] * v);
            let Some(&step) = self.next.get(n) else { break };
            if step != last {
                (last, f) = (step, head(&self.steps[step as usize].f));
            }
            let before = a;
            (0..S).for_each(|i| a[i] = (0..S).map(|j| f[i][j] * before[j]).sum());
        }
        u
    }

    /// The transpose of [`Markov::innovations`].
    pub(super) fn innovations_back(&self, gains: &[Gain], u: &[f64]) -> Vec<f64> {
        let mut lambda = [0.0; MOST];
        let mut x = vec![0.0; u.len()];
        for (n, gain) in gains.iter().enumerate().rev() {
            let mut mu = self.retreat(n, &lambda);
            if gain.root > 0.0 {
                x[n] = u[n] / gain.root + (0..self.size).map(|i| gain.k[i] * mu[i]).sum::<f64>();
                self.add_seen(n, -x[n], &mut mu);
            }
            lambda = mu;
        }
        x
    }

    /// The noise of row n.
    pub(super) fn noise(&self, n: usize) -> f64 {
        self.noise[n]
    }

    /// [`Markov::innovations`] of many vectors, the columns of a table whose row n is given by `row(n)` times `factor`; the results are the
    /// columns of `out`.
    pub(super) fn innovations_of<'b>(
        &self,
        gains: &[Gain],
        factor: f64,
        row: impl Fn(usize) -> &'b [f64],
        out: &mut [f64],
    ) {
        let width = out.len() / gains.len();
        let mut states = vec![vec![0.0; width]; self.size];
        let (mut next, mut v) = (states.clone(), vec![0.0; width]);
        for ((n, gain), out) in gains.iter().enumerate().zip(out.chunks_exact_mut(width)) {
            if gain.root > 0.0 {
                v.iter_mut().zip(row(n)).zip(&states[0]).for_each(|((v, h), a)| *v = factor * h - a);
                if let Some(second) = self.second {
                    simd::axpy(-1.0, &states[second], &mut v);
                }
                if let Some(line) = &self.line {
                    simd::axpy(-line[n], &states[self.size - 1], &mut v);
                }
                out.iter_mut().zip(&v).for_each(|(out, v)| *out = v / gain.root);
                states.iter_mut().zip(&gain.k).for_each(|(state, k)| simd::axpy(*k, &v, state));
            } else {
                out.fill(0.0);
            }
            let Some(&step) = self.next.get(n) else { break };
            let f = &self.steps[step as usize].f;
            for (to, f) in next.iter_mut().zip(f) {
                to.fill(0.0);
                states.iter().zip(f).for_each(|(state, f)| simd::axpy(*f, state, to));
            }
            std::mem::swap(&mut states, &mut next);
        }
    }

    pub(super) fn ln_det(&self) -> f64 {
        2.0 * self.gains.iter().map(|g| g.root.ln()).sum::<f64>()
    }

    pub(super) fn square(&self, x: &[f64]) -> f64 {
        self.whiten(x).iter().map(|u| u * u).sum()
    }

    pub(super) fn whiten(&self, x: &[f64]) -> Vec<f64> {
        self.innovations(&self.gains, x)
    }

    pub(super) fn precision(&self, x: &[f64]) -> Vec<f64> {
        self.innovations_back(&self.gains, &self.innovations(&self.gains, x))
    }

    pub(super) fn colour(&self, u: &[f64]) -> Vec<f64> {
        let mut a = [0.0; MOST];
        let mut x = Vec::with_capacity(u.len());
        for (n, gain) in self.gains.iter().enumerate() {
            let v = gain.root * u[n];
            x.push(self.seen(n, &a) + v);
            a = self.advance(n, gain, &a, v);
        }
        x
    }

    pub(super) fn colour_back(&self, x: &[f64]) -> Vec<f64> {
        let mut lambda = [0.0; MOST];
        let mut u = vec![0.0; x.len()];
        for (n, gain) in self.gains.iter().enumerate().rev() {
            let mut mu = self.retreat(n, &lambda);
            u[n] = gain.root * (x[n] + (0..self.size).map(|i| gain.k[i] * mu[i]).sum::<f64>());
            self.add_seen(n, x[n], &mut mu);
            lambda = mu;
        }
        u
    }

    /// E[x | the rows that are not hidden], by C C_rr⁻¹x_r; only the entries of hidden rows are meaningful.
    fn expected(&self, gains: &[Gain], x: &[f64]) -> Vec<f64> {
        let solved = self.innovations_back(gains, &self.innovations(gains, x));
        self.colour(&self.colour_back(&solved))
    }

    pub(super) fn window<R: Rng + ?Sized>(&self, window: Range<usize>, x: &[f64], rng: &mut R) -> Window {
        let gains = self.filter(|n| window.contains(&n));
        let mean = self.expected(&gains, x)[window.clone()].to_vec();
        // A path from the prior, minus its prediction from its own rows outside the window (Matheron).
        let path = self.colour(&normals(self.rows(), rng));
        let told = self.expected(&gains, &path);
        let draw = window.map(|n| path[n] - told[n]).collect();
        Window { mean, draw }
    }

    pub(super) fn marginals(&self, hidden: &[bool], x: &[f64]) -> Vec<Conditional> {
        let gains = self.filter(|n| hidden[n]);
        let mean = self.expected(&gains, x);
        let of = |n: usize| {
            // Row n of C; minus the prediction from the rows that are not hidden.
            let mut row = vec![0.0; x.len()];
            row[n] = 1.0;
            let row = self.colour(&self.colour_back(&row));
            let told: f64 = self.innovations(&gains, &row).iter().map(|u| u * u).sum();
            Conditional { mean: mean[n], variance: row[n] - told }
        };
        (0..x.len()).filter(|&n| hidden[n]).map(of).collect()
    }

    pub(super) fn fill<R: Rng + ?Sized>(&self, hidden: &[bool], x: &mut [f64], rng: &mut R) {
        let gains = self.filter(|n| hidden[n]);
        let path = self.colour(&normals(self.rows(), rng));
        let rest: Vec<f64> = x.iter().zip(&path).map(|(x, p)| x - p).collect();
        let told = self.expected(&gains, &rest);
        (0..x.len()).filter(|&n| hidden[n]).for_each(|n| x[n] = path[n] + told[n]);
    }
}
