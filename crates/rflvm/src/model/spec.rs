//! Settings of the model, apart from the data and families.

use super::latent::{TimeKernel, TimeSpec};
use super::priors::Priors;
use super::spectral::Kernel;
use crate::error::SpecError;

/// Settings of the model, apart from the data and families.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// D.
    pub latent_dim: usize,
    /// M = 2L, an even number.
    pub features: usize,
    /// Prior of the frequencies.
    pub kernel: Kernel,
    /// Whether the map has a linear part: kernel k(x, x') + s² x·x', s learned.
    pub linear: bool,
    /// All priors. The model takes those of weights and paths from here; those of families and frequencies are passed when these are
    /// made, by [`crate::spec::family_with`] and [`Priors::mixture`].
    pub priors: Priors,
    /// Prior of X over time, if the data have times.
    pub time: TimeSpec,
    /// Kernel of column processes over time, if the data have times; none for no such paths.
    pub column_process: Option<TimeKernel>,
}

impl Default for ModelSpec {
    fn default() -> Self {
        ModelSpec {
            latent_dim: 2,
            features: 100,
            kernel: Kernel::default(),
            linear: false,
            priors: Priors::default(),
            time: TimeSpec::default(),
            column_process: None,
        }
    }
}

// Upper limits: larger than any useful value, small enough that nothing overflows.
/// The largest number of random features.
pub const MOST_FEATURES: usize = 10_000;
/// The largest number of latent axes.
pub const MOST_AXES: usize = 100;

impl ModelSpec {
    /// Whether there is a period if anything is seasonal, and only then.
    pub fn check_season(&self) -> Result<(), SpecError> {
        let fail = |value: String, rule: String| Err(SpecError::Setting { setting: "period", value, rule });
        let column_process = self.column_process.filter(|kernel| kernel.is_seasonal());
        match (self.time.period, column_process) {
            (None, Some(kernel)) => fail(
                "not given".into(),
                format!(
                    "column processes with the kernel {} need it; give it in the units of the times (days for dates)",
                    kernel.name()
                ),
            ),
            (Some(period), None) if !self.time.kernel.is_seasonal() => fail(
                period.to_string(),
                format!(
                    "the time-kernel {} has no season; omit it, or choose a seasonal time-kernel",
                    self.time.kernel.name()
                ),
            ),
            _ => Ok(()),
        }
    }

    /// Whether the settings are valid for a table with this many columns.
    pub(super) fn check(&self, columns: usize) -> Result<(), SpecError> {
        let fail = |setting, value: String, rule: &str| Err(SpecError::Setting { setting, value, rule: rule.into() });
        let most = columns.min(MOST_AXES);
        if !(1..=most).contains(&self.latent_dim) {
            let why = if most == columns { ", the number of columns" } else { "" };
            let rule = format!("it must be between 1 and {most}{why}");
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
        if let Some(kernel) = self.column_process.filter(|kernel| !kernel.is_markov()) {
            let rule = "column processes need a Matérn kernel, a walk, a season, or a sum of these";
            return fail("column-process", kernel.name().into(), rule);
        }
        self.check_season()?;
        self.priors.check(self.latent_dim)
    }
}
