//! A cluster of frequencies: a multivariate Gaussian with its factor.

use super::LN_SQRT_2PI;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A multivariate Gaussian with its Cholesky factor: a cluster of frequencies.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "SavedCluster", into = "SavedCluster")]
pub struct Cluster {
    /// Mean.
    pub mu: Vec<f64>,
    /// Covariance.
    pub sigma: Mat,
    cholesky: Cholesky,
}

/// A cluster as serialised: the factor is recomputed from the covariance.
#[derive(Serialize, Deserialize)]
struct SavedCluster {
    mu: Vec<f64>,
    sigma: Mat,
}

impl TryFrom<SavedCluster> for Cluster {
    type Error = NumericalError;

    fn try_from(stored: SavedCluster) -> Result<Self, NumericalError> {
        Cluster::new(stored.mu, stored.sigma)
    }
}

impl From<Cluster> for SavedCluster {
    fn from(cluster: Cluster) -> Self {
        SavedCluster { mu: cluster.mu, sigma: cluster.sigma }
    }
}

impl Cluster {
    /// Fails if Σ is not positive definite.
    pub fn new(mu: Vec<f64>, sigma: Mat) -> Result<Self, NumericalError> {
        let cholesky = Cholesky::new(&sigma, "clusters")?;
        Ok(Cluster { mu, sigma, cholesky })
    }

    /// ln N(w | μ, Σ).
    pub fn ln_density(&self, w: &[f64]) -> f64 {
        let mut r: Vec<f64> = w.iter().zip(&self.mu).map(|(w, m)| w - m).collect();
        self.cholesky.solve_lower(&mut r);
        -0.5 * r.iter().map(|v| v * v).sum::<f64>() - 0.5 * self.cholesky.ln_det() - r.len() as f64 * LN_SQRT_2PI
    }

    /// Σ⁻¹(μ − w): the gradient of ln N(w | μ, Σ).
    pub fn gradient(&self, w: &[f64]) -> Vec<f64> {
        let mut r: Vec<f64> = w.iter().zip(&self.mu).map(|(w, m)| m - w).collect();
        self.cholesky.solve(&mut r);
        r
    }

    /// Σ⁻¹.
    pub fn precision(&self) -> Mat {
        self.cholesky.inverse()
    }

    /// A draw from N(0, Σ).
    pub fn centred_draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<f64> {
        let mut z = super::normals(self.mu.len(), rng);
        self.cholesky.mul_lower(&mut z);
        z
    }
}
