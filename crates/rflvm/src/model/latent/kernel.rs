//! Covariance of a latent path over time. The stationary kernels have k(0) = 1 and a length-scale ℓ in units of time.
//!
//! Paths that wander have no stationary variance, and W carries their scale, so it is fixed by the span of the longest sequence, the unit
//! of time: over it, the increments of a random walk have variance 1. A path begins at the first time of its sequence, with variance 1.
//! A walk looks the same at every scale and has no length-scale; its ℓ keeps its prior.

use crate::error::SpecError;
use crate::simd;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// The covariance between two times of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TimeKernel {
    /// exp(−δ²/2ℓ²): very smooth.
    Rbf,
    /// exp(−δ/ℓ): Ornstein–Uhlenbeck, rough.
    Matern12,
    /// (1 + √3δ/ℓ) exp(−√3δ/ℓ): one derivative.
    Matern32,
    /// (1 + √5δ/ℓ + 5δ²/3ℓ²) exp(−√5δ/ℓ): two derivatives.
    #[default]
    Matern52,
    /// 1/(1 + δ²/2ℓ²), the rational quadratic with one degree of freedom: smooth, with long-range correlation.
    Cauchy,
    /// 1 + min(t, t'), t from the start: increments of variance δ, and no mean to return to.
    RandomWalk,
    /// 1 + tt' + m²(3M − m)/2, m and M the smaller and the larger of t and t': a value, a slope and bends, each with variance 1 at t = 1
    /// (the process of the cubic smoothing spline).
    IntegratedRandomWalk,
    /// exp(−δ/10ℓ) cos(2πδ/P): a rotation with period P whose phase and amplitude last about ten length-scales.
    Seasonal,
    /// Half the variance Matérn 1/2, half seasonal.
    Matern12Seasonal,
    /// Half the variance Matérn 3/2, half seasonal.
    Matern32Seasonal,
    /// Half the variance Matérn 5/2, half seasonal.
    Matern52Seasonal,
    /// Half a random walk, half seasonal.
    RandomWalkSeasonal,
    /// Half an integrated random walk, half seasonal.
    IntegratedRandomWalkSeasonal,
}

/// How many length-scales a season lasts.
pub(super) const LASTING: f64 = 10.0;
/// Variance of the bends of an integrated random walk, whose third is that of its value at t = 1.
pub(super) const BENDS: f64 = 3.0;

impl TimeKernel {
    /// All of them, by the names users type.
    pub const NAMES: [(&'static str, TimeKernel); 13] = [
        ("rbf", TimeKernel::Rbf),
        ("matern12", TimeKernel::Matern12),
        ("matern32", TimeKernel::Matern32),
        ("matern52", TimeKernel::Matern52),
        ("cauchy", TimeKernel::Cauchy),
        ("random-walk", TimeKernel::RandomWalk),
        ("integrated-random-walk", TimeKernel::IntegratedRandomWalk),
        ("seasonal", TimeKernel::Seasonal),
        ("matern12+seasonal", TimeKernel::Matern12Seasonal),
        ("matern32+seasonal", TimeKernel::Matern32Seasonal),
        ("matern52+seasonal", TimeKernel::Matern52Seasonal),
        ("random-walk+seasonal", TimeKernel::RandomWalkSeasonal),
        ("integrated-random-walk+seasonal", TimeKernel::IntegratedRandomWalkSeasonal),
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

    /// The terms of the sum, which have equal shares of the variance.
    pub fn parts(self) -> &'static [TimeKernel] {
        use TimeKernel::{IntegratedRandomWalk, Matern12, Matern32, Matern52, RandomWalk, Seasonal};
        match self {
            TimeKernel::Rbf => &[TimeKernel::Rbf],
            TimeKernel::Cauchy => &[TimeKernel::Cauchy],
            Matern12 => &[Matern12],
            Matern32 => &[Matern32],
            Matern52 => &[Matern52],
            RandomWalk => &[RandomWalk],
            IntegratedRandomWalk => &[IntegratedRandomWalk],
            Seasonal => &[Seasonal],
            TimeKernel::Matern12Seasonal => &[Matern12, Seasonal],
            TimeKernel::Matern32Seasonal => &[Matern32, Seasonal],
            TimeKernel::Matern52Seasonal => &[Matern52, Seasonal],
            TimeKernel::RandomWalkSeasonal => &[RandomWalk, Seasonal],
            TimeKernel::IntegratedRandomWalkSeasonal => &[IntegratedRandomWalk, Seasonal],
        }
    }

    /// Whether it needs a period.
    pub fn is_seasonal(self) -> bool {
        self.parts().contains(&TimeKernel::Seasonal)
    }

    /// Whether ℓ means anything for it.
    pub fn has_length_scale(self) -> bool {
        !matches!(self, TimeKernel::RandomWalk | TimeKernel::IntegratedRandomWalk)
    }

    /// Whether the covariance depends only on the difference of two times and on ℓ.
    pub(super) fn is_plain(self) -> bool {
        self.is_matern() || !self.is_markov()
    }

    fn is_matern(self) -> bool {
        matches!(self, TimeKernel::Matern12 | TimeKernel::Matern32 | TimeKernel::Matern52)
    }

    /// k(t, t') for times since the start of the sequence, and a period in their unit.
    pub fn between(self, a: f64, b: f64, length_scale: f64, period: f64) -> f64 {
        let parts = self.parts();
        let part = |part: &TimeKernel| match part {
            TimeKernel::RandomWalk => 1.0 + a.min(b),
            TimeKernel::IntegratedRandomWalk => {
                let (low, high) = (a.min(b), a.max(b));
                1.0 + a * b + BENDS * low * low * (3.0 * high - low) / 6.0
            }
            TimeKernel::Seasonal => {
                let delta = (a - b).abs();
                (-delta / (LASTING * length_scale)).exp() * (TAU * delta / period).cos()
            }
            stationary => stationary.at(a - b, length_scale),
        };
        parts.iter().map(part).sum::<f64>() / parts.len() as f64
    }

    /// k(δ) of a kernel that depends only on the difference of two times and on ℓ.
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
            _ => (1.0 + 0.5 * r * r).recip(),
        }
    }

    /// The same times a scale, for many time differences, given in `deltas`, which is overwritten.
    pub fn fill(self, deltas: &mut [f64], length_scale: f64, scale: f64, out: &mut [f64]) {
        let per = match self {
            TimeKernel::Rbf => 0.5_f64.sqrt(),
            TimeKernel::Matern12 => 1.0,
            TimeKernel::Matern32 => 3_f64.sqrt(),
            TimeKernel::Matern52 => 5_f64.sqrt(),
            _ => 0.5_f64.sqrt(),
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
        !matches!(self, TimeKernel::Rbf | TimeKernel::Cauchy)
    }
}
