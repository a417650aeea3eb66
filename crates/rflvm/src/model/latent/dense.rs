//! C as a matrix: exact for every kernel, O(N³) to factor.

use super::problem::Problem;
use super::window::{Conditional, Window};
use crate::dist::normals;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, Symmetric};
use crate::simd;
use rand::Rng;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

thread_local! {
    /// Memory for C and for differences of times: a fit computes many of one size.
    static SCRATCH: RefCell<(Symmetric, Vec<f64>)> = RefCell::default();
}

/// The factor of C, and C⁻¹ once requested.
#[derive(Debug, Clone)]
pub struct Dense {
    cholesky: Cholesky,
    inverse: OnceLock<Mat>,
}

impl Dense {
    pub(super) fn new(problem: &Problem<'_>) -> Result<Self, NumericalError> {
        let mut cholesky = Cholesky::default();
        SCRATCH.with_borrow_mut(|(c, deltas)| {
            c.compute(problem.times.len(), |n, column| {
                problem.kernels(problem.times[n], &problem.times[n..], deltas, column);
                if let Some(line) = problem.trend {
                    simd::axpy(line[n], &line[n..], column);
                }
                column[0] += problem.noise(n);
            });
            cholesky.factor(c, "paths")
        })?;
        Ok(Dense { cholesky, inverse: OnceLock::new() })
    }

    pub(super) fn rows(&self) -> usize {
        self.cholesky.order()
    }

    /// C⁻¹.
    pub(crate) fn inverse(&self) -> &Mat {
        self.inverse.get_or_init(|| self.cholesky.inverse())
    }

    pub(super) fn ln_det(&self) -> f64 {
        self.cholesky.ln_det()
    }

    /// xᵀC⁻¹x.
    pub(super) fn square(&self, x: &[f64]) -> f64 {
        let u = self.whiten(x);
        simd::dot(&u, &u)
    }

    pub(super) fn precision(&self, x: &[f64]) -> Vec<f64> {
        if let Some(inverse) = self.inverse.get() {
            return inverse.iter_rows().map(|row| simd::dot(row, x)).collect();
        }
        let mut solved = x.to_vec();
        self.cholesky.solve(&mut solved);
        solved
    }

    pub(super) fn colour(&self, u: &[f64]) -> Vec<f64> {
        let mut x = u.to_vec();
        self.cholesky.mul_lower(&mut x);
        x
    }

    pub(super) fn colour_back(&self, x: &[f64]) -> Vec<f64> {
        let mut u = x.to_vec();
        self.cholesky.mul_upper(&mut u);
        u
    }

    pub(super) fn whiten(&self, x: &[f64]) -> Vec<f64> {
        let mut u = x.to_vec();
        self.cholesky.solve_lower(&mut u);
        u
    }

    pub(super) fn window<R: Rng + ?Sized>(
        &self,
        window: Range<usize>,
        x: &[f64],
        rng: &mut R,
    ) -> Result<Window, NumericalError> {
        self.given(&window.collect::<Vec<_>>(), x, rng)
    }

    pub(super) fn fill<R: Rng + ?Sized>(
        &self,
        hidden: &[bool],
        x: &mut [f64],
        rng: &mut R,
    ) -> Result<(), NumericalError> {
        let rows: Vec<usize> = (0..x.len()).filter(|&n| hidden[n]).collect();
        rows.iter().for_each(|&n| x[n] = 0.0);
        let window = self.given(&rows, x, rng)?;
        rows.iter().zip(window.mean.iter().zip(&window.draw)).for_each(|(&n, (mean, draw))| x[n] = mean + draw);
        Ok(())
    }

    pub(super) fn marginals(&self, hidden: &[bool], x: &[f64]) -> Result<Vec<Conditional>, NumericalError> {
        let rows: Vec<usize> = (0..x.len()).filter(|&n| hidden[n]).collect();
        let (factor, mean) = self.conditional(&rows, x)?;
        let covariance = factor.inverse();
        let of = |(i, mean): (usize, f64)| Conditional { mean, variance: covariance[(i, i)] };
        Ok(mean.into_iter().enumerate().map(of).collect())
    }

    /// Rows w given the others: the factor of their precision Q_ww, Q = C⁻¹, and their mean x_w − Q_ww⁻¹(Qx)_w.
    fn conditional(&self, rows: &[usize], x: &[f64]) -> Result<(Cholesky, Vec<f64>), NumericalError> {
        let q = self.inverse();
        let factor = Cholesky::new(&Mat::from_fn(rows.len(), rows.len(), |a, b| q[(rows[a], rows[b])]), "window")?;
        let mut pull: Vec<f64> = rows.iter().map(|&n| simd::dot(q.row(n), x)).collect();
        factor.solve(&mut pull);
        let mean = rows.iter().zip(&pull).map(|(&n, pull)| x[n] - pull).collect();
        Ok((factor, mean))
    }

    fn given<R: Rng + ?Sized>(&self, rows: &[usize], x: &[f64], rng: &mut R) -> Result<Window, NumericalError> {
        let (factor, mean) = self.conditional(rows, x)?;
        let mut draw = normals(rows.len(), rng);
        factor.solve_upper(&mut draw);
        Ok(Window { mean, draw })
    }
}
