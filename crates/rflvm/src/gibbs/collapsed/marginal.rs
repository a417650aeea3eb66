//! The collapsed Gaussian with its gradient, for the Hamiltonian move on (X, W).

use super::{Factored, Target};
use crate::gibbs::gradient::{Layout, to_positions};
use crate::gibbs::hamiltonian::Potential;
use crate::linalg::{Mat, par_mul};
use crate::model::features::fill;
use crate::model::spectral::Spectral;

/// ln p(Y | X, W) + ln p(X) + ln p(W | clusters) with its gradient:
/// ∂H = −J·HP + Σ_j (a_n/b_j) e_j g_jᵀ.
pub struct Marginal<'a> {
    target: &'a Target,
    spectral: &'a Spectral,
    layout: Layout,
    x: Mat,
    w: Mat,
    h: Mat,
    dh: Mat,
}

impl<'a> Marginal<'a> {
    /// Given the clusters.
    pub fn new(target: &'a Target, spectral: &'a Spectral, layout: Layout) -> Self {
        let (n, m) = (target.y.rows(), target.precision.len());
        let dim = spectral.clusters[0].mu.len();
        let (x, w) = (Mat::zeros(n, dim), Mat::zeros((m - 1) / 2, dim));
        Marginal { target, spectral, layout, x, w, h: Mat::zeros(n, m), dh: Mat::zeros(n, m) }
    }
}

impl Potential for Marginal<'_> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let (x, w, _) = self.layout.split(q);
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        fill(&self.x, &self.w, &mut self.h);
        // A candidate whose A has no factor is a rejection, not an error.
        let Ok(mut factored) = Factored::new(self.target, &self.h) else { return f64::NAN };
        let columns = self.target.y.cols() as f64;
        let ln_rates: f64 = factored.rate.iter().map(|b| b.ln()).sum();
        let ln_marginal = -0.5 * columns * factored.ln_det - self.target.shape * ln_rates;
        factored.p.as_mut_slice().iter_mut().for_each(|p| *p *= -columns);
        par_mul(&mut self.dh, self.h.view(), factored.p.view(), false);
        for row in factored.e.as_mut_slice().chunks_exact_mut(factored.rate.len()) {
            row.iter_mut().zip(&factored.rate).for_each(|(e, b)| *e *= self.target.shape / b);
        }
        par_mul(&mut self.dh, factored.e.view(), factored.g.view().transpose(), true);
        let (gx, gw, _) = self.layout.split_mut(g);
        ln_marginal + to_positions(&self.x, &self.w, &self.h, &self.dh, self.spectral, gx, gw)
    }
}
