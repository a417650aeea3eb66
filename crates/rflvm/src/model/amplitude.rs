//! τ_j: how strong the signal of a column is. β_j ~ N(b_0j, (τ_j²/λ_j) diag(1, …, 1, s_c²)), λ_j the weight scale of the family: for a
//! Gaussian column 1/σ_j², so that τ_j is the ratio of signal to noise.
//!
//! Learned, τ_j is half-t with ν degrees of freedom: p(τ) ∝ (1 + τ²/(ν s²))^(−(ν+1)/2), a half-Cauchy for ν = 1 (Gelman 2006).

use super::partial::partial;
use crate::dist::ln_gamma;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::fmt;

/// Prior of τ_j.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amplitude {
    /// τ_j² is known, the same for all columns.
    Fixed(f64),
    /// One τ_j per column, half-t.
    Learned(HalfT),
    /// One τ for all columns of a block, half-t.
    Shared(HalfT),
}

/// The positive half of a Student-t about zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HalfT {
    /// s.
    pub scale: f64,
    /// ν.
    pub dof: f64,
}

partial!(HalfT { scale, dof });

impl Default for HalfT {
    fn default() -> Self {
        HalfT { scale: 1.0, dof: 1.0 }
    }
}

impl HalfT {
    /// Whether its numbers are positive and finite.
    pub(super) fn is_valid(&self) -> bool {
        [self.scale, self.dof].iter().all(|v| *v > 0.0 && v.is_finite())
    }

    /// ln of the density of u = ln τ².
    pub fn ln_density(&self, u: f64) -> f64 {
        let HalfT { scale, dof } = *self;
        let constant = ln_gamma(0.5 * (dof + 1.0)) - ln_gamma(0.5 * dof) - 0.5 * (PI * dof).ln() - scale.ln();
        constant + 0.5 * u - 0.5 * (dof + 1.0) * (u.exp() / (dof * scale * scale)).ln_1p()
    }

    /// A draw of τ².
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let t = rand_distr::StudentT::new(self.dof).map_or(f64::NAN, |law| rng.sample(law));
        (self.scale * t).powi(2)
    }

    /// A typical τ².
    pub fn middle(&self) -> f64 {
        self.scale * self.scale
    }
}

impl Amplitude {
    /// The prior of τ, if it is learned.
    pub fn prior(&self) -> Option<HalfT> {
        match self {
            Amplitude::Fixed(_) => None,
            Amplitude::Learned(prior) | Amplitude::Shared(prior) => Some(*prior),
        }
    }

    /// A typical τ² before the data are seen.
    pub fn middle(&self) -> f64 {
        match self {
            Amplitude::Fixed(tau2) => *tau2,
            Amplitude::Learned(prior) | Amplitude::Shared(prior) => prior.middle(),
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        match self {
            Amplitude::Fixed(tau2) => *tau2 > 0.0 && tau2.is_finite(),
            Amplitude::Learned(prior) | Amplitude::Shared(prior) => prior.is_valid(),
        }
    }
}

impl fmt::Display for Amplitude {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, HalfT { scale, dof }) = match self {
            Amplitude::Fixed(tau2) => return write!(out, "{tau2}"),
            Amplitude::Learned(prior) => ("learned", prior),
            Amplitude::Shared(prior) => ("shared", prior),
        };
        write!(out, "{name} (scale {scale}, dof {dof})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_density_of_ln_tau2_integrates_to_one_and_draws_follow_it() {
        for prior in [HalfT::default(), HalfT { scale: 2.5, dof: 4.0 }] {
            let step = 0.01;
            let cells = (-6000..6000).map(|i| f64::from(i) * step);
            let total: f64 = cells.map(|u| step * prior.ln_density(u).exp()).sum();
            assert!((total - 1.0).abs() < 1e-6, "{total}");
            let below: f64 = (-6000..0).map(|i| step * prior.ln_density((f64::from(i) + 0.5) * step).exp()).sum();
            let rng = &mut Stream::new(4).rng();
            let drawn = (0..20_000).filter(|_| prior.draw(rng) < 1.0).count() as f64 / 20_000.0;
            assert!((drawn - below).abs() < 4.0 * (0.25_f64 / 20_000.0).sqrt(), "{drawn} for {below}");
        }
    }
}
