//! What to fit, apart from the data and families.

use super::amplitude::Amplitude;
use super::latent::TimeSpec;
use super::spectral::Kernel;
use crate::error::SpecError;

/// What to fit, apart from the data and families.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// D.
    pub latent_dim: usize,
    /// M = 2L, an even number.
    pub features: usize,
    /// Prior of the frequencies.
    pub kernel: Kernel,
    /// How strong the signal of a column is; as its family has it by default if not given.
    pub amplitude: Option<Amplitude>,
    /// s_c²: variance of the intercepts about the link of their column's mean, in units of τ_j²/λ_j.
    pub intercept_variance: f64,
    /// Prior of X over time, where the data have times.
    pub time: TimeSpec,
}

impl Default for ModelSpec {
    fn default() -> Self {
        ModelSpec {
            latent_dim: 2,
            features: 100,
            kernel: Kernel::default(),
            amplitude: None,
            intercept_variance: 5.0,
            time: TimeSpec::default(),
        }
    }
}

/// Upper limits: beyond any use, and below anything that overflows.
const MOST_FEATURES: usize = 10_000;
const MOST_AXES: usize = 100;

impl ModelSpec {
    /// Whether a table of so many columns can have this model.
    pub(super) fn check(&self, columns: usize) -> Result<(), SpecError> {
        let fail = |setting, value: String, rule: &str| Err(SpecError::Setting { setting, value, rule: rule.into() });
        let most = columns.min(MOST_AXES);
        if !(1..=most).contains(&self.latent_dim) {
            let why = if most == columns { ", the number of columns" } else { "" };
            let rule = format!("it must be between 1 and {most}{why}; use --latent-dim {most}");
            return fail("latent-dim", self.latent_dim.to_string(), &rule);
        }
        if !(2..=MOST_FEATURES).contains(&self.features) || !self.features.is_multiple_of(2) {
            let rule = format!(
                "features come in sine–cosine pairs, so their number must be even, between 2 and {MOST_FEATURES}"
            );
            return fail("features", self.features.to_string(), &rule);
        }
        if let Kernel::Rbf { length_scale } = self.kernel
            && !(length_scale > 0.0 && length_scale.is_finite())
        {
            return fail("length-scale", length_scale.to_string(), "it must be a positive number");
        }
        if let Some(amplitude) = self.amplitude.filter(|amplitude| !amplitude.is_valid()) {
            return fail("amplitude", format!("{amplitude:?}"), "its numbers must be positive");
        }
        if !(self.intercept_variance > 0.0 && self.intercept_variance.is_finite()) {
            let value = self.intercept_variance.to_string();
            return fail("intercept-variance", value, "it must be a positive number");
        }
        Ok(())
    }
}
