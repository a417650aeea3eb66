//! ½(N − L) ln|XᵀX|: the measure under which X has the scale of its prior.
//!
//! x_n → Aᵀx_n with w_l → A⁻¹w_l leaves F unchanged, and the density alone would choose A by ln p(X) + ln p(W): with N rows and L
//! frequencies it shrinks X to √(L/N) of its prior scale, although nearly all posterior mass is where
//! XᵀX ≈ N·I. Along A the posterior has the volume |A|^(N−L) (model section 5, "linear"), which moves the maximum there.

use super::hamiltonian::Potential;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, mul};
use crate::model::Model;
use std::ops::Range;

/// A log density of q = (X, …) plus the volume term.
pub struct Volume<P> {
    inner: P,
    rows: usize,
    dim: usize,
    frequencies: usize,
}

impl<P: Potential> Volume<P> {
    /// For a potential over (X, W, …).
    pub fn new(inner: P, model: &Model) -> Self {
        Volume { inner, rows: model.rows(), dim: model.latent_dim(), frequencies: model.frequencies() }
    }

    /// Returns the potential.
    pub fn finish(self) -> P {
        self.inner
    }
}

impl<P: Potential> Potential for Volume<P> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let ln_density = self.inner.evaluate(q, g);
        let x = Mat::from_vec(self.rows, self.dim, q[..self.rows * self.dim].to_vec());
        let Ok(factor) = scatter(&x) else { return f64::NAN };
        let weight = self.rows as f64 - self.frequencies as f64;
        let mut inverse = factor.inverse();
        inverse.as_mut_slice().iter_mut().for_each(|v| *v *= weight);
        mul(&mut g[..self.rows * self.dim], x.view(), inverse.view(), true);
        ln_density + 0.5 * weight * factor.ln_det()
    }

    fn sum(&self, len: usize, part: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
        self.inner.sum(len, part)
    }
}

/// ½(N − L) ln|XᵀX|.
pub fn ln_volume(x: &Mat, frequencies: usize) -> Result<f64, NumericalError> {
    Ok(0.5 * (x.rows() as f64 - frequencies as f64) * scatter(x)?.ln_det())
}

fn scatter(x: &Mat) -> Result<Cholesky, NumericalError> {
    let mut scatter = Mat::zeros(x.cols(), x.cols());
    mul(scatter.as_mut_slice(), x.view().transpose(), x.view(), false);
    Cholesky::new(&scatter, "map")
}
