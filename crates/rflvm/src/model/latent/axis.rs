//! Hyperparameters of one axis of X over time, and their prior: ln ℓ and logit ρ are normal.

use crate::dist::{ln_normal, logistic, normal};
use crate::model::priors::{Centred, Priors};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Hyperparameters of one axis of X.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// ℓ_d, in units of the longest sequence's span.
    pub length_scale: f64,
    /// ρ_d: fraction of the variance that is white noise.
    pub noise: f64,
}

/// The prior of both. By default ℓ is mostly between a seventieth and seven tenths of the span, and ρ between 0.05% and one sixth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisPrior {
    /// Of ℓ.
    pub length_scale: Centred,
    /// Of ρ.
    pub noise: Centred,
}

impl Default for AxisPrior {
    fn default() -> Self {
        let priors = Priors::default();
        AxisPrior { length_scale: priors.length_scale, noise: priors.noise_share }
    }
}

/// From the reciprocal, so that a median of 0.1 gives −ln 10 to the last bit and draws are unchanged from versions with that constant.
fn ln_median(prior: &Centred) -> f64 {
    -prior.median.recip().ln()
}

fn logit(p: f64) -> f64 {
    p.ln() - (-p).ln_1p()
}

impl AxisPrior {
    /// The axis at standard normal coordinates of the prior.
    pub fn at(&self, [length_scale, noise]: [f64; 2]) -> Axis {
        Axis {
            length_scale: (ln_median(&self.length_scale) + self.length_scale.sd * length_scale).exp(),
            noise: logistic(logit(self.noise.median) + self.noise.sd * noise),
        }
    }

    /// The coordinates of an axis.
    pub fn coordinates(&self, axis: &Axis) -> [f64; 2] {
        [
            (axis.length_scale.ln() - ln_median(&self.length_scale)) / self.length_scale.sd,
            (logit(axis.noise) - logit(self.noise.median)) / self.noise.sd,
        ]
    }

    /// ln p(ℓ, ρ).
    pub fn ln_density(&self, axis: &Axis) -> f64 {
        let jacobian =
            (axis.length_scale * self.length_scale.sd).ln() + (axis.noise * (1.0 - axis.noise) * self.noise.sd).ln();
        self.ln_coordinates(axis) - jacobian
    }

    /// The axis with the odds of its noise multiplied by e^2u.
    pub fn louder(&self, axis: &Axis, u: f64) -> Axis {
        let [length_scale, noise] = self.coordinates(axis);
        self.at([length_scale, noise + 2.0 * u / self.noise.sd])
    }

    /// Log density of the coordinates.
    pub fn ln_coordinates(&self, axis: &Axis) -> f64 {
        self.coordinates(axis).iter().map(|&c| ln_normal(c, 0.0, 1.0)).sum()
    }

    /// A draw.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Axis {
        self.at([normal(rng), normal(rng)])
    }
}
