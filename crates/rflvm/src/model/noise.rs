//! Priors of columns' noise and dispersions: pooled over the columns, or each column for itself.

use super::gamma::Gamma;
use super::pool::Pool;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Weak enough for noise of one percent of the column's spread.
const NOISE: Gamma = Gamma { shape: 0.5, rate: 1e-4 };

/// Prior of the noise of columns, as the gamma of their precisions.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "NoiseWords", into = "NoiseWords")]
pub enum Noise {
    /// Columns have a common level and spread.
    Pooled(Pool),
    /// Each column for itself.
    Independent(Gamma),
}

// Independent ones are written as versions wrote them that knew no others: the digest of a fit is made of this.
impl fmt::Debug for Noise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Noise::Pooled(pool) => pool.fmt(out),
            Noise::Independent(law) => law.fmt(out),
        }
    }
}

impl Default for Noise {
    fn default() -> Self {
        Noise::Independent(NOISE)
    }
}

/// As users write it: `{ pooled = {} }`, or shape and rate, of which those left out have their defaults.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoiseWords {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pooled: Option<Pool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
}

impl TryFrom<NoiseWords> for Noise {
    type Error = &'static str;

    fn try_from(words: NoiseWords) -> Result<Self, Self::Error> {
        match words {
            NoiseWords { pooled: Some(pool), shape: None, rate: None } => Ok(Noise::Pooled(pool)),
            NoiseWords { pooled: None, shape, rate } => {
                Ok(Noise::Independent(Gamma { shape: shape.unwrap_or(NOISE.shape), rate: rate.unwrap_or(NOISE.rate) }))
            }
            _ => Err("give either pooled, or shape and rate"),
        }
    }
}

impl From<Noise> for NoiseWords {
    fn from(noise: Noise) -> Self {
        match noise {
            Noise::Pooled(pool) => NoiseWords { pooled: Some(pool), ..Self::default() },
            Noise::Independent(Gamma { shape, rate }) => {
                NoiseWords { shape: Some(shape), rate: Some(rate), ..Self::default() }
            }
        }
    }
}

impl Noise {
    /// The gamma of a precision in units of its column, given the hyperparameters.
    pub fn law(&self, hyper: &[f64]) -> Gamma {
        match self {
            Noise::Pooled(_) => Pool::law(hyper),
            Noise::Independent(law) => *law,
        }
    }

    /// That of one precision for all columns.
    pub(super) fn common(&self) -> Gamma {
        match self {
            Noise::Pooled(_) => NOISE,
            Noise::Independent(law) => *law,
        }
    }

    /// Initial hyperparameters: until the data say more, half of a column's variance counts as noise.
    pub(super) fn start(&self) -> Vec<f64> {
        self.pool().map_or_else(Vec::new, |_| Pool::start(2.0))
    }

    /// The pool, if there is one.
    pub fn pool(&self) -> Option<&Pool> {
        match self {
            Noise::Pooled(pool) => Some(pool),
            Noise::Independent(_) => None,
        }
    }
}

/// Prior of the dispersions r_j of negative binomial columns.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "DispersionWords", into = "DispersionWords")]
pub enum Dispersion {
    /// Columns have a common level, of 1/√r_j, and spread.
    Pooled(Pool),
    /// r_j ~ Ga(shape, rate h), h ~ Ga(rate_shape, rate rate_rate).
    Shaped(Shaped),
}

// As for [`Noise`].
impl fmt::Debug for Dispersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dispersion::Pooled(pool) => pool.fmt(out),
            Dispersion::Shaped(numbers) => numbers.named("Dispersion", out),
        }
    }
}

impl Shaped {
    /// As a structure of this name has its numbers.
    pub(super) fn named(&self, name: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shaped { shape, rate_shape, rate_rate } = self;
        let mut out = out.debug_struct(name);
        out.field("shape", shape).field("rate_shape", rate_shape).field("rate_rate", rate_rate).finish()
    }
}

/// r_j ~ Ga(shape, rate h), h ~ Ga(rate_shape, rate rate_rate).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shaped {
    /// a_r.
    pub shape: f64,
    /// b_r.
    pub rate_shape: f64,
    /// g_r.
    pub rate_rate: f64,
}

/// r_j ~ Ga(1, h), h ~ Ga(1, 1).
const SHAPED: Shaped = Shaped { shape: 1.0, rate_shape: 1.0, rate_rate: 1.0 };

impl Default for Dispersion {
    fn default() -> Self {
        Dispersion::Shaped(SHAPED)
    }
}

/// As users write it: `{ pooled = {} }`, or three numbers, of which those left out have their defaults.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct DispersionWords {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pooled: Option<Pool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate_shape: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate_rate: Option<f64>,
}

impl TryFrom<DispersionWords> for Dispersion {
    type Error = &'static str;

    fn try_from(words: DispersionWords) -> Result<Self, Self::Error> {
        match words {
            DispersionWords { pooled: Some(pool), shape: None, rate_shape: None, rate_rate: None } => {
                Ok(Dispersion::Pooled(pool))
            }
            DispersionWords { pooled: None, shape, rate_shape, rate_rate } => Ok(Dispersion::Shaped(Shaped {
                shape: shape.unwrap_or(SHAPED.shape),
                rate_shape: rate_shape.unwrap_or(SHAPED.rate_shape),
                rate_rate: rate_rate.unwrap_or(SHAPED.rate_rate),
            })),
            _ => Err("give either pooled, or shape, rate-shape and rate-rate"),
        }
    }
}

impl From<Dispersion> for DispersionWords {
    fn from(prior: Dispersion) -> Self {
        match prior {
            Dispersion::Pooled(pool) => DispersionWords { pooled: Some(pool), ..Self::default() },
            Dispersion::Shaped(Shaped { shape, rate_shape, rate_rate }) => DispersionWords {
                pooled: None,
                shape: Some(shape),
                rate_shape: Some(rate_shape),
                rate_rate: Some(rate_rate),
            },
        }
    }
}
