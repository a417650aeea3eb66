//! The prior of W in a gradient move.
//!
//! Given (μ_k, Σ_k), W and Σ_k hold each other: the frequencies of a cluster tell its scale to within a few per cent, and the scale them, so that both
//! together change slowly. So the move integrates (μ_k, Σ_k) out, and they are redrawn right after it:
//!
//! ```text
//! ln p(W | z) = −Σ_k ½ν_k ln|Ψ_k| + constant,   ∂w_l = −ν_k Ψ_k⁻¹(w_l − m_k),   k = z_l,
//! ```
//!
//! with NIW(m_k, λ_k, Ψ_k, ν_k) the posterior of cluster k given its frequencies.

use crate::dist::niw::Niw;
use crate::linalg::{Cholesky, Mat};
use crate::model::spectral::{Kernel, Spectral};

/// ln p(W) given the clusters, or given the assignments only.
pub struct FrequencyPrior<'a> {
    spectral: &'a Spectral,
    /// The base measure, if clusters are integrated out.
    base: Option<Niw>,
}

impl<'a> FrequencyPrior<'a> {
    /// Given (μ_k, Σ_k).
    pub fn given(spectral: &'a Spectral) -> Self {
        FrequencyPrior { spectral, base: None }
    }

    /// With (μ_k, Σ_k) integrated out where the kernel is learned: redraw them after the move.
    pub fn integrated(kernel: &Kernel, spectral: &'a Spectral) -> Self {
        let base = match kernel {
            Kernel::Learned(mixture) => Some(mixture.base(&spectral.psi)),
            Kernel::Rbf { .. } => None,
        };
        FrequencyPrior { spectral, base }
    }

    /// ln p(W | …) up to a constant, and its gradient in `gw`; NaN if W is not finite.
    pub fn gradient(&self, w: &Mat, gw: &mut [f64]) -> f64 {
        let dim = w.cols();
        let Some(base) = &self.base else {
            let mut ln_density = 0.0;
            for (l, (g, w)) in gw.chunks_exact_mut(dim).zip(w.iter_rows()).enumerate() {
                let cluster = self.spectral.cluster(l);
                g.copy_from_slice(&cluster.gradient(w));
                ln_density += cluster.ln_density(w);
            }
            return ln_density;
        };
        let mut ln_density = 0.0;
        for k in 0..self.spectral.count() {
            let posterior = base.posterior(self.spectral.members(w, k, None));
            let Ok(psi) = Cholesky::new(&posterior.psi, "gradient") else { return f64::NAN };
            ln_density -= 0.5 * posterior.nu * psi.ln_det();
            let own = gw.chunks_exact_mut(dim).zip(w.iter_rows()).zip(&self.spectral.z).filter(|(_, z)| **z == k);
            for ((g, w), _) in own {
                g.iter_mut().zip(w.iter().zip(&posterior.m)).for_each(|(g, (w, m))| *g = posterior.nu * (m - w));
                psi.solve(g);
            }
        }
        ln_density
    }
}
