//! Hyperparameters of one axis of X over time, and their prior.

use crate::dist::{ln_normal, logistic, normal};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_10;

/// Prior of ln ℓ, in units of the longest sequence's span: from a seventieth to seven tenths of it, most likely.
const LN_LENGTH_SCALE: (f64, f64) = (-LN_10, 1.0);
/// Prior of the logit of ρ: a hundredth; from a twentieth of a percent to a sixth, most likely.
const LOGIT_NOISE: (f64, f64) = (-4.59511985013459, 1.5);

/// Hyperparameters of one axis of X.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// ℓ_d, in units of the longest sequence's span.
    pub length_scale: f64,
    /// ρ_d: share of white noise in the variance.
    pub noise: f64,
}

impl Axis {
    /// At standard normal coordinates of the prior.
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

    /// The same with the odds of the noise e^2u times what they were.
    pub fn louder(&self, u: f64) -> Self {
        let [length_scale, noise] = self.coordinates();
        Axis::at([length_scale, noise + 2.0 * u / LOGIT_NOISE.1])
    }

    /// ln of the prior's density of the coordinates.
    pub fn ln_coordinates(&self) -> f64 {
        self.coordinates().iter().map(|&c| ln_normal(c, 0.0, 1.0)).sum()
    }

    /// A draw from the prior.
    pub fn draw<R: Rng + ?Sized>(rng: &mut R) -> Self {
        Axis::at([normal(rng), normal(rng)])
    }
}
