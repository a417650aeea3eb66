//! Hyperparameters of one axis of X over time, and their prior.

use crate::dist::{ln_normal, logistic, normal};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_10;

/// Prior of ln ℓ, in units of the longest sequence's span: mostly between a seventieth and seven tenths of it.
const LN_LENGTH_SCALE: (f64, f64) = (-LN_10, 1.0);
/// Prior of the logit of ρ: median one hundredth, mostly between 0.05% and one sixth.
const LOGIT_NOISE: (f64, f64) = (-4.59511985013459, 1.5);

/// Hyperparameters of one axis of X.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// ℓ_d, in units of the longest sequence's span.
    pub length_scale: f64,
    /// ρ_d: fraction of the variance that is white noise.
    pub noise: f64,
}

impl Axis {
    /// From standard normal coordinates of the prior.
    pub fn at([length_scale, noise]: [f64; 2]) -> Self {
        Axis {
            length_scale: (LN_LENGTH_SCALE.0 + LN_LENGTH_SCALE.1 * length_scale).exp(),
            noise: logistic(LOGIT_NOISE.0 + LOGIT_NOISE.1 * noise),
        }
    }

    /// Its coordinates.
    pub fn coordinates(&self) -> [f64; 2] {
        let logit = self.noise.ln() - (-self.noise).ln_1p();
        [(self.length_scale.ln() - LN_LENGTH_SCALE.0) / LN_LENGTH_SCALE.1, (logit - LOGIT_NOISE.0) / LOGIT_NOISE.1]
    }

    /// ln p(ℓ, ρ).
    pub fn ln_prior(&self) -> f64 {
        let jacobian =
            (self.length_scale * LN_LENGTH_SCALE.1).ln() + (self.noise * (1.0 - self.noise) * LOGIT_NOISE.1).ln();
        self.ln_coordinates() - jacobian
    }

    /// The same with the odds of the noise multiplied by e^2u.
    pub fn louder(&self, u: f64) -> Self {
        let [length_scale, noise] = self.coordinates();
        Axis::at([length_scale, noise + 2.0 * u / LOGIT_NOISE.1])
    }

    /// Log prior density of the coordinates.
    pub fn ln_coordinates(&self) -> f64 {
        self.coordinates().iter().map(|&c| ln_normal(c, 0.0, 1.0)).sum()
    }

    /// A draw from the prior.
    pub fn draw<R: Rng + ?Sized>(rng: &mut R) -> Self {
        Axis::at([normal(rng), normal(rng)])
    }
}
