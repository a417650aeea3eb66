//! The prior of the frequencies, and so of the kernel: a Dirichlet-process mixture of Gaussians
//! (w_l | z_l ~ N(μ_z, Σ_z), (μ_k, Σ_k) ~ NIW, z ~ CRP(α), α ~ Ga), or a fixed RBF kernel.

use crate::dist::cluster::Cluster;
use crate::dist::niw::Niw;
use crate::dist::{gamma, ln_gamma, ln_gamma_density};
use crate::error::NumericalError;
use crate::linalg::Mat;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// Ψ0 = diag(ψ_1, …, ψ_D): how rough the map is along each axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scales {
    /// Known and equal for all axes: the prior is then invariant to rotations of X.
    Equal(f64),
    /// √ψ_d ~ half-Cauchy with this scale, one per axis. An axis that the data do not support becomes flat: its ψ_d, and with it
    /// all w_ld, go to zero. The half-Cauchy is ψ_d | r_d ~ Ga(½, r_d), r_d ~ Ga(½, scale²), so that all updates are conjugate.
    Learned(f64),
}

/// The Dirichlet-process mixture. Defaults as in the model's section 2.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// λ0; `None` for its default D.
    pub lambda0: Option<f64>,
    /// Ψ0.
    pub scales: Scales,
    /// ν0; `None` for its default D+2.
    pub nu0: Option<f64>,
    /// Shape of α's gamma prior.
    pub alpha_shape: f64,
    /// Rate of α's gamma prior.
    pub alpha_rate: f64,
}

impl Default for Mixture {
    fn default() -> Self {
        Mixture { lambda0: None, scales: Scales::Equal(1.0), nu0: None, alpha_shape: 3.0, alpha_rate: 1.0 / 3.0 }
    }
}

impl Mixture {
    /// The base measure NIW(0, λ0, diag(ψ), ν0).
    pub fn base(&self, psi: &[f64]) -> Niw {
        let dim = psi.len();
        Niw {
            m: vec![0.0; dim],
            lambda: self.lambda0.unwrap_or(dim as f64),
            psi: Mat::from_fn(dim, dim, |d, e| if d == e { psi[d] } else { 0.0 }),
            nu: self.nu0.unwrap_or(dim as f64 + 2.0),
        }
    }

    /// Initial ψ and rates r: the scale itself.
    pub fn start_scales(&self, dim: usize) -> (Vec<f64>, Vec<f64>) {
        match self.scales {
            Scales::Equal(psi) => (vec![psi; dim], Vec::new()),
            Scales::Learned(scale) => (vec![scale * scale; dim], vec![0.5 / (scale * scale); dim]),
        }
    }

    /// ψ and r from their prior.
    fn draw_scales<R: Rng + ?Sized>(&self, dim: usize, rng: &mut R) -> (Vec<f64>, Vec<f64>) {
        let Scales::Learned(scale) = self.scales else { return self.start_scales(dim) };
        let rates: Vec<f64> = (0..dim).map(|_| gamma(0.5, scale * scale, rng)).collect();
        (rates.iter().map(|&r| gamma(0.5, r, rng)).collect(), rates)
    }
}

/// Where the frequencies come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Kernel {
    /// Learned: a Dirichlet-process mixture over frequencies.
    Learned(Mixture),
    /// Known: k(x, x') = exp(−|x − x'|²/(2ℓ²)), so w ~ N(0, I/ℓ²).
    Rbf {
        /// ℓ.
        length_scale: f64,
    },
}

impl Default for Kernel {
    fn default() -> Self {
        Kernel::Learned(Mixture::default())
    }
}

/// Clusters of frequencies: assignments z, parameters (μ_k, Σ_k), concentration α.
/// A fixed kernel is one cluster that never changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Spectral {
    /// z_l, in 0..K.
    pub z: Vec<usize>,
    /// (μ_k, Σ_k).
    pub clusters: Vec<Cluster>,
    /// α.
    pub alpha: f64,
    /// ψ, one per axis; empty for a known kernel.
    pub psi: Vec<f64>,
    /// r, one per axis if ψ is learned, otherwise empty.
    pub psi_rate: Vec<f64>,
}

impl Spectral {
    /// A draw from the prior, and W from it.
    pub fn draw_prior<R: Rng + ?Sized>(
        kernel: &Kernel,
        frequencies: usize,
        dim: usize,
        rng: &mut R,
    ) -> Result<(Spectral, Mat), NumericalError> {
        let spectral = match kernel {
            Kernel::Rbf { length_scale } => Spectral::rbf(*length_scale, frequencies, dim)?,
            Kernel::Learned(mixture) => {
                let alpha = gamma(mixture.alpha_shape, mixture.alpha_rate, rng);
                let mut z = Vec::with_capacity(frequencies);
                let mut sizes: Vec<f64> = Vec::new();
                for l in 0..frequencies {
                    let mut u = rng.random::<f64>() * (l as f64 + alpha);
                    let k = sizes.iter().position(|&n| {
                        u -= n;
                        u < 0.0
                    });
                    let k = k.unwrap_or(sizes.len());
                    if k == sizes.len() {
                        sizes.push(0.0);
                    }
                    sizes[k] += 1.0;
                    z.push(k);
                }
                let (psi, psi_rate) = mixture.draw_scales(dim, rng);
                let base = mixture.base(&psi);
                let clusters = sizes.iter().map(|_| base.draw(rng)).collect::<Result<_, _>>()?;
                Spectral { z, clusters, alpha, psi, psi_rate }
            }
        };
        let mut w = Mat::zeros(frequencies, dim);
        for (l, &k) in spectral.z.iter().enumerate() {
            let cluster = &spectral.clusters[k];
            let noise = cluster.centred_draw(rng);
            w.row_mut(l).iter_mut().zip(cluster.mu.iter().zip(noise)).for_each(|(w, (m, e))| *w = m + e);
        }
        Ok((spectral, w))
    }

    /// The one cluster of a known kernel.
    pub fn rbf(length_scale: f64, frequencies: usize, dim: usize) -> Result<Spectral, NumericalError> {
        let cluster = Cluster::new(vec![0.0; dim], Mat::identity(dim, length_scale.powi(-2)))?;
        let (psi, psi_rate) = (Vec::new(), Vec::new());
        Ok(Spectral { z: vec![0; frequencies], clusters: vec![cluster], alpha: 1.0, psi, psi_rate })
    }

    /// The cluster of frequency l.
    pub fn cluster(&self, l: usize) -> &Cluster {
        &self.clusters[self.z[l]]
    }

    /// K.
    pub fn count(&self) -> usize {
        self.clusters.len()
    }

    /// The frequencies of cluster k, except `without`.
    pub(crate) fn members<'a>(
        &'a self,
        w: &'a Mat,
        k: usize,
        without: Option<usize>,
    ) -> impl Iterator<Item = &'a [f64]> + Clone {
        let of_cluster = move |&(l, &z): &(usize, &usize)| z == k && Some(l) != without;
        self.z.iter().enumerate().filter(of_cluster).map(|(l, _)| w.row(l))
    }

    /// ln p(W | z, clusters).
    pub fn ln_frequencies(&self, w: &Mat) -> f64 {
        w.iter_rows().enumerate().map(|(l, w)| self.cluster(l).ln_density(w)).sum()
    }

    /// ln p(z, clusters, α, ψ, r); zero for a known kernel.
    pub fn ln_prior(&self, kernel: &Kernel) -> Result<f64, NumericalError> {
        let Kernel::Learned(mixture) = kernel else { return Ok(0.0) };
        let base = mixture.base(&self.psi);
        let mut total = ln_gamma_density(self.alpha, mixture.alpha_shape, mixture.alpha_rate);
        if let Scales::Learned(scale) = mixture.scales {
            for (&psi, &rate) in self.psi.iter().zip(&self.psi_rate) {
                total += ln_gamma_density(psi, 0.5, rate) + ln_gamma_density(rate, 0.5, scale * scale);
            }
        }
        // CRP: α^K Π (n_k − 1)! Γ(α)/Γ(α + L).
        total +=
            self.count() as f64 * self.alpha.ln() + ln_gamma(self.alpha) - ln_gamma(self.alpha + self.z.len() as f64);
        for (k, cluster) in self.clusters.iter().enumerate() {
            let size = self.z.iter().filter(|&&z| z == k).count();
            total += ln_gamma(size as f64) + base.ln_density(&cluster.mu, &cluster.sigma)?;
        }
        Ok(total)
    }
}
