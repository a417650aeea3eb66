//! A path by inducing points (FITC; Snelson & Ghahramani 2006): C = VVᵀ + Λ, where Vz is the prediction from the values at the
//! inducing points, and Λ the remaining variance of each row. O(N) for a fixed number of points.

use super::problem::Problem;
use super::window::{Conditional, Window};
use crate::dist::{normal, normals};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, Symmetric, gram};
use crate::par;
use crate::simd;
use rand::Rng;
use std::ops::Range;

/// Variance added to the inducing values: their kernel matrix is nearly singular if they are close together.
const JITTER: f64 = 1e-8;

/// V, Λ and the factor of B = I + VᵀΛ⁻¹V.
#[derive(Debug, Clone)]
pub struct Inducing {
    v: Mat,
    diagonal: Vec<f64>,
    b: Symmetric,
    factor: Cholesky,
}

impl Inducing {
    pub(super) fn new(problem: &Problem<'_>, points: &[f64]) -> Result<Self, NumericalError> {
        let (n, k) = (problem.times.len(), points.len());
        let rank = k + usize::from(problem.trend.is_some());
        let jitter = |a: usize, b: usize| if a == b { JITTER } else { 0.0 };
        let own = Mat::from_fn(k, k, |a, b| problem.kernel(points[a], points[b]) + jitter(a, b));
        let own = Cholesky::new(&own, "inducing points")?;
        let mut v = Mat::zeros(n, rank);
        let mut diagonal = vec![0.0; n];
        let rows = v.as_mut_slice().chunks_mut(rank).zip(&mut diagonal).enumerate();
        par::for_each(rows, 1, |(row, (v, rest))| {
            let deltas = &mut Vec::new();
            let (line, v) = v.split_at_mut(rank - k);
            line.iter_mut().for_each(|l| *l = problem.line(row));
            let at = problem.times[row];
            problem.kernels(at, points, deltas, v);
            own.solve_lower(v);
            let left = problem.kernel(at, at) - simd::dot(v, v);
            *rest = left.max(0.0) + problem.noise(row);
        });
        let weights: Vec<f64> = diagonal.iter().map(|d| d.recip()).collect();
        let b = gram(&v, Some(&weights), &vec![1.0; rank]);
        let factor = Cholesky::new(b.clone(), "inducing points")?;
        Ok(Inducing { v, diagonal, b, factor })
    }

    pub(super) fn rows(&self) -> usize {
        self.v.rows()
    }

    /// Length of z.
    pub(super) fn rank(&self) -> usize {
        self.v.cols()
    }

    pub(super) fn ln_det(&self) -> f64 {
        self.diagonal.iter().map(|d| d.ln()).sum::<f64>() + self.factor.ln_det()
    }

    pub(super) fn square(&self, x: &[f64]) -> f64 {
        simd::dot(x, &self.precision(x))
    }

    /// VᵀΛ⁻¹x over some rows.
    fn told(&self, x: &[f64], rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let mut told = vec![0.0; self.rank()];
        rows.for_each(|n| simd::axpy(x[n] / self.diagonal[n], self.v.row(n), &mut told));
        told
    }

    /// Λ⁻¹x − Λ⁻¹V B⁻¹ VᵀΛ⁻¹x (Woodbury).
    pub(super) fn precision(&self, x: &[f64]) -> Vec<f64> {
        let mut z = self.told(x, 0..x.len());
        self.factor.solve(&mut z);
        let row = |n: usize| (x[n] - simd::dot(self.v.row(n), &z)) / self.diagonal[n];
        (0..x.len()).map(row).collect()
    }

    /// u is z followed by the rows' own noise.
    pub(super) fn colour(&self, u: &[f64]) -> Vec<f64> {
        let (z, own) = u.split_at(self.rank());
        let row = |(n, e): (usize, &f64)| simd::dot(self.v.row(n), z) + self.diagonal[n].sqrt() * e;
        own.iter().enumerate().map(row).collect()
    }

    pub(super) fn colour_back(&self, x: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.rank()];
        x.iter().zip(self.v.iter_rows()).for_each(|(&x, v)| simd::axpy(x, v, &mut u));
        u.extend(x.iter().zip(&self.diagonal).map(|(x, d)| d.sqrt() * x));
        u
    }

    pub(super) fn whiten<R: Rng + ?Sized>(&self, x: &[f64], rng: &mut R) -> Vec<f64> {
        let mut u = self.factor.draw_from_precision(&self.told(x, 0..x.len()), 1.0, rng);
        for (n, x) in x.iter().enumerate() {
            let own = (x - simd::dot(self.v.row(n), &u[..self.rank()])) / self.diagonal[n].sqrt();
            u.push(own);
        }
        u
    }

    pub(super) fn window<R: Rng + ?Sized>(
        &self,
        window: Range<usize>,
        x: &[f64],
        rng: &mut R,
    ) -> Result<Window, NumericalError> {
        // z given the rows outside, then the rows inside given z: they depend on each other only through z.
        let factor = self.without(&window)?;
        let mut mean = self.told(x, (0..window.start).chain(window.end..x.len()));
        factor.solve(&mut mean);
        let mut z = normals(self.rank(), rng);
        factor.solve_upper(&mut z);
        let draw = |n: usize, rng: &mut R| simd::dot(self.v.row(n), &z) + self.diagonal[n].sqrt() * normal(rng);
        Ok(Window {
            mean: window.clone().map(|n| simd::dot(self.v.row(n), &mean)).collect(),
            draw: window.map(|n| draw(n, rng)).collect(),
        })
    }

    /// The factor of I + VᵀΛ⁻¹V over the rows outside a window.
    fn without(&self, window: &Range<usize>) -> Result<Cholesky, NumericalError> {
        let rank = self.rank();
        let of = |rows: Range<usize>, prior: f64| {
            let v = Mat::from_vec(rows.len(), rank, self.v.as_slice()[rows.start * rank..rows.end * rank].to_vec());
            let weights: Vec<f64> = self.diagonal[rows].iter().map(|d| d.recip()).collect();
            gram(&v, Some(&weights), &vec![prior; rank]).to_mat()
        };
        let b = if window.len() * 2 > self.rows() {
            let (mut before, after) = (of(0..window.start, 1.0), of(window.end..self.rows(), 0.0));
            before.as_mut_slice().iter_mut().zip(after.as_slice()).for_each(|(b, a)| *b += a);
            before
        } else {
            let (mut all, inside) = (self.b.to_mat(), of(window.clone(), 0.0));
            all.as_mut_slice().iter_mut().zip(inside.as_slice()).for_each(|(b, i)| *b -= i);
            all
        };
        Cholesky::new(&b, "window")
    }

    pub(super) fn fill<R: Rng + ?Sized>(
        &self,
        hidden: &[bool],
        x: &mut [f64],
        rng: &mut R,
    ) -> Result<(), NumericalError> {
        let factor = self.given_seen(hidden)?;
        let told = self.told(x, (0..x.len()).filter(|&n| !hidden[n]));
        let z = factor.draw_from_precision(&told, 1.0, rng);
        for n in (0..x.len()).filter(|&n| hidden[n]) {
            x[n] = simd::dot(self.v.row(n), &z) + self.diagonal[n].sqrt() * normal(rng);
        }
        Ok(())
    }

    pub(super) fn marginals(&self, hidden: &[bool], x: &[f64]) -> Result<Vec<Conditional>, NumericalError> {
        let factor = self.given_seen(hidden)?;
        let mut z = self.told(x, (0..x.len()).filter(|&n| !hidden[n]));
        factor.solve(&mut z);
        let of = |n: usize| {
            let mut v = self.v.row(n).to_vec();
            let mean = simd::dot(&v, &z);
            factor.solve_lower(&mut v);
            Conditional { mean, variance: simd::dot(&v, &v) + self.diagonal[n] }
        };
        Ok((0..x.len()).filter(|&n| hidden[n]).map(of).collect())
    }

    /// The factor of I + VᵀΛ⁻¹V over the rows that are not hidden.
    fn given_seen(&self, hidden: &[bool]) -> Result<Cholesky, NumericalError> {
        let seen: Vec<f64> = self.diagonal.iter().zip(hidden).map(|(d, &h)| if h { 0.0 } else { d.recip() }).collect();
        Cholesky::new(gram(&self.v, Some(&seen), &vec![1.0; self.rank()]), "forecast")
    }
}
