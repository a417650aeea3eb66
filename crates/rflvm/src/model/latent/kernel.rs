//! Covariance of a latent path over time: k(0) = 1, a length-scale ℓ in units of time.

use crate::error::SpecError;
use crate::simd;
use serde::{Deserialize, Serialize};

/// The covariance between two times of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TimeKernel {
    /// exp(−δ²/2ℓ²): very smooth.
    #[default]
    Rbf,
    /// exp(−δ/ℓ): Ornstein–Uhlenbeck, rough.
    Matern12,
    /// (1 + √3δ/ℓ) exp(−√3δ/ℓ): one derivative.
    Matern32,
    /// (1 + √5δ/ℓ + 5δ²/3ℓ²) exp(−√5δ/ℓ): two derivatives.
    Matern52,
    /// 1/(1 + δ²/2ℓ²), the rational quadratic with one degree of freedom: smooth, with long-range correlation.
    Cauchy,
}

impl TimeKernel {
    /// All of them, by the names users type.
    pub const NAMES: [(&'static str, TimeKernel); 5] = [
        ("rbf", TimeKernel::Rbf),
        ("matern12", TimeKernel::Matern12),
        ("matern32", TimeKernel::Matern32),
        ("matern52", TimeKernel::Matern52),
        ("cauchy", TimeKernel::Cauchy),
    ];

    /// The kernel called `name`.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kernel)| *kernel);
        let known = || Self::NAMES.map(|(name, _)| name).join(", ");
        found.ok_or_else(|| SpecError::Unknown { what: "time kernel", name: name.into(), known: known() })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kernel)| *kernel == self).map_or("", |(name, _)| name)
    }

    /// k(δ).
    pub fn at(self, delta: f64, length_scale: f64) -> f64 {
        let r = delta.abs() / length_scale;
        match self {
            TimeKernel::Rbf => (-0.5 * r * r).exp(),
            TimeKernel::Matern12 => (-r).exp(),
            TimeKernel::Matern32 => {
                let s = 3_f64.sqrt() * r;
                (1.0 + s) * (-s).exp()
            }
            TimeKernel::Matern52 => {
                let s = 5_f64.sqrt() * r;
                (1.0 + s + s * s / 3.0) * (-s).exp()
            }
            TimeKernel::Cauchy => (1.0 + 0.5 * r * r).recip(),
        }
    }

    /// scale · k(δ) for many time differences, given in `deltas`, which is overwritten.
    pub fn fill(self, deltas: &mut [f64], length_scale: f64, scale: f64, out: &mut [f64]) {
        let per = match self {
            TimeKernel::Rbf => 0.5_f64.sqrt(),
            TimeKernel::Matern12 => 1.0,
            TimeKernel::Matern32 => 3_f64.sqrt(),
            TimeKernel::Matern52 => 5_f64.sqrt(),
            TimeKernel::Cauchy => 0.5_f64.sqrt(),
        } / length_scale;
        if self == TimeKernel::Cauchy {
            out.iter_mut().zip(deltas).for_each(|(out, d)| *out = scale / (1.0 + (*d * per).powi(2)));
            return;
        }
        let power = |r: f64| if self == TimeKernel::Rbf { -r * r } else { -r };
        deltas.iter_mut().for_each(|d| *d = power(d.abs() * per));
        simd::exp_into(deltas, out);
        let factor = |power: f64| match self {
            TimeKernel::Matern32 => 1.0 - power,
            TimeKernel::Matern52 => 1.0 - power + power * power / 3.0,
            _ => 1.0,
        };
        out.iter_mut().zip(deltas).for_each(|(out, power)| *out *= scale * factor(*power));
    }

    /// Whether a path is exactly the first coordinate of a linear stochastic differential equation.
    pub fn is_markov(self) -> bool {
        matches!(self, TimeKernel::Matern12 | TimeKernel::Matern32 | TimeKernel::Matern52)
    }
}
