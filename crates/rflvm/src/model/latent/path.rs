//! The Gaussian prior of one axis of X along one sequence, in the three representations of its covariance C. It provides what a
//! sampler needs: the density, C⁻¹x, a root (C = LLᵀ, so that x = Lu with u standard normal), and windows of rows given the others.

use super::dense::Dense;
use super::inducing::Inducing;
use super::markov::Markov;
use super::window::{Conditional, Window};
use crate::error::NumericalError;
use rand::Rng;
use std::f64::consts::TAU;
use std::ops::Range;

/// The prior of a path.
#[derive(Debug, Clone)]
pub enum Path {
    /// C as a matrix.
    Dense(Dense),
    /// C by a state-space model.
    Markov(Box<Markov>),
    /// C of low rank plus a diagonal.
    Inducing(Inducing),
}

impl Path {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Path::Dense(path) => path.rows(),
            Path::Markov(path) => path.rows(),
            Path::Inducing(path) => path.rows(),
        }
    }

    /// ln N(x | 0, C).
    pub fn ln_density(&self, x: &[f64]) -> f64 {
        let (square, ln_det) = match self {
            Path::Dense(path) => (path.square(x), path.ln_det()),
            Path::Markov(path) => (path.square(x), path.ln_det()),
            Path::Inducing(path) => (path.square(x), path.ln_det()),
        };
        -0.5 * (square + ln_det + x.len() as f64 * TAU.ln())
    }

    /// C⁻¹x.
    pub fn precision(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Path::Dense(path) => path.precision(x),
            Path::Markov(path) => path.precision(x),
            Path::Inducing(path) => path.precision(x),
        }
    }

    /// Cx.
    pub fn covariance(&self, x: &[f64]) -> Vec<f64> {
        self.colour(&self.colour_back(x))
    }

    /// Number of noise values from which a path is made.
    pub fn noise(&self) -> usize {
        match self {
            Path::Dense(path) => path.rows(),
            Path::Markov(path) => path.rows(),
            Path::Inducing(path) => path.rows() + path.rank(),
        }
    }

    /// Lu.
    pub fn colour(&self, u: &[f64]) -> Vec<f64> {
        match self {
            Path::Dense(path) => path.colour(u),
            Path::Markov(path) => path.colour(u),
            Path::Inducing(path) => path.colour(u),
        }
    }

    /// Lᵀx.
    pub fn colour_back(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Path::Dense(path) => path.colour_back(x),
            Path::Markov(path) => path.colour_back(x),
            Path::Inducing(path) => path.colour_back(x),
        }
    }

    /// u with Lu = x. If there is more noise than rows, a draw of it given x.
    pub fn whiten<R: Rng + ?Sized>(&self, x: &[f64], rng: &mut R) -> Vec<f64> {
        match self {
            Path::Dense(path) => path.whiten(x),
            Path::Markov(path) => path.whiten(x),
            Path::Inducing(path) => path.whiten(x, rng),
        }
    }

    /// Rows `window` given the values of all others in x.
    pub fn window<R: Rng + ?Sized>(
        &self,
        window: Range<usize>,
        x: &[f64],
        rng: &mut R,
    ) -> Result<Window, NumericalError> {
        match self {
            Path::Dense(path) => path.window(window, x, rng),
            Path::Markov(path) => Ok(path.window(window, x, rng)),
            Path::Inducing(path) => path.window(window, x, rng),
        }
    }

    /// Each hidden row, in order and separately, given the values in x of those that are not hidden.
    pub fn marginals(&self, hidden: &[bool], x: &[f64]) -> Result<Vec<Conditional>, NumericalError> {
        match self {
            Path::Dense(path) => path.marginals(hidden, x),
            Path::Markov(path) => Ok(path.marginals(hidden, x)),
            Path::Inducing(path) => path.marginals(hidden, x),
        }
    }

    /// A draw of the hidden rows given the values of all others in x.
    pub fn fill<R: Rng + ?Sized>(&self, hidden: &[bool], x: &mut [f64], rng: &mut R) -> Result<(), NumericalError> {
        match self {
            Path::Dense(path) => path.fill(hidden, x, rng),
            Path::Markov(path) => {
                path.fill(hidden, x, rng);
                Ok(())
            }
            Path::Inducing(path) => path.fill(hidden, x, rng),
        }
    }
}
