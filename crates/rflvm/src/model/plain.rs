//! The plain columns of H, in addition to the Fourier features: covariates u_n, which are given and do not move with X, and s·x_n, the linear
//! part of the map. Their weights have the prior of the features' weights: γ_j ~ N(0, τ_j²/λ_j) for covariates in units of their
//! prior, and a kernel k(x, x') + s² x·x'.

use crate::linalg::Mat;
use serde::{Deserialize, Serialize};

/// Covariates and the scale of the linear part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plain {
    /// u, N×C, in units of their prior; without columns if there are no covariates.
    u: Mat,
    /// s; zero without a linear part.
    s: f64,
}

impl Plain {
    /// Of covariates and s.
    pub fn new(u: Mat, s: f64) -> Self {
        Plain { u, s }
    }

    /// Neither covariates nor a linear part.
    pub fn none(rows: usize) -> Self {
        Plain { u: Mat::zeros(rows, 0), s: 0.0 }
    }

    /// Number of columns, for D axes.
    pub fn width(&self, dim: usize) -> usize {
        self.u.cols() + if self.is_linear() { dim } else { 0 }
    }

    /// C.
    pub fn count(&self) -> usize {
        self.u.cols()
    }

    /// Whether there is a linear part.
    pub fn is_linear(&self) -> bool {
        self.s > 0.0
    }

    /// s.
    pub fn s(&self) -> f64 {
        self.s
    }

    /// Covariates of row n.
    pub fn covariates(&self, n: usize) -> &[f64] {
        self.u.row(n)
    }

    /// The plain columns of some rows.
    pub fn of_rows(&self, rows: &[usize]) -> Self {
        Plain { u: Mat::from_fn(rows.len(), self.u.cols(), |i, c| self.u[(rows[i], c)]), s: self.s }
    }

    pub(super) fn set_s(&mut self, s: f64) {
        self.s = s;
    }

    /// The columns of row n at position x, times a weight.
    pub(super) fn fill(&self, n: usize, x: &[f64], weight: f64, to: &mut [f64]) {
        fill(self.u.row(n), x, self.s, weight, to);
    }
}

/// weight · [u, s·x]; without s·x if there is no room for it.
pub(super) fn fill(u: &[f64], x: &[f64], s: f64, weight: f64, to: &mut [f64]) {
    let (covariates, linear) = to.split_at_mut(u.len());
    covariates.iter_mut().zip(u).for_each(|(to, u)| *to = weight * u);
    linear.iter_mut().zip(x).for_each(|(to, x)| *to = weight * s * x);
}
