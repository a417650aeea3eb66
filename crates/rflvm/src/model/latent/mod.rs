//! Priors of X. Rows without times are independent, x_n ~ N(0, I); rows with times follow a Gaussian process over them:
//! x_·d has covariance (1 − ρ_d) k(t, t'; ℓ_d) + ρ_d [n = n'] within a sequence, and sequences are independent given the
//! hyperparameters ℓ_d and ρ_d, which they share.

mod ahead;
mod axis;
mod column_path;
mod dense;
mod dynamics;
mod inducing;
mod kernel;
mod markov;
mod noisy;
mod path;
mod paths;
mod problem;
mod sde;
mod sequence;
#[cfg(test)]
mod tests;
mod window;

pub use axis::{Axis, AxisPrior};
#[doc(hidden)]
pub use column_path::{ColumnPath, Seen};
pub use dynamics::Dynamics;
pub use kernel::TimeKernel;
#[doc(hidden)]
pub use path::Path;
#[doc(hidden)]
pub use paths::Paths;
#[doc(hidden)]
pub use window::{Conditional, Window};

use crate::error::SpecError;
use serde::{Deserialize, Serialize};

/// How the covariance of a path is represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Form {
    /// State space where the kernel has that form; for rbf and cauchy, dense matrices for short sequences and inducing points for long ones.
    #[default]
    Automatic,
    /// Dense matrices: exact for every kernel, O(N³).
    Dense,
    /// A state-space model: exact for all kernels but rbf and cauchy, O(N).
    StateSpace,
    /// Inducing points (FITC), the paper's choice for long sequences: O(N) for a fixed number of them.
    Inducing,
}

impl Form {
    /// All of them, by the names users type.
    pub const NAMES: [(&'static str, Form); 4] = [
        ("automatic", Form::Automatic),
        ("dense", Form::Dense),
        ("state-space", Form::StateSpace),
        ("inducing", Form::Inducing),
    ];
}

/// The prior of X over time; used if the data have times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeSpec {
    /// The kernel.
    pub kernel: TimeKernel,
    /// Whether a linear trend, with unit slope per standard deviation of the times, is added to each path.
    pub trend: bool,
    /// How the covariance is represented.
    pub form: Form,
    /// Number of inducing points per sequence.
    pub inducing: usize,
    /// The period of a seasonal kernel, in the units of the times.
    pub period: Option<f64>,
}

/// Upper limit: beyond it, dense matrices are no slower.
pub const MOST_INDUCING: usize = 10_000;

impl TimeSpec {
    /// Whether the settings are consistent.
    pub fn check(&self) -> Result<(), SpecError> {
        let wrong = |setting, value: String, rule: String| Err(SpecError::Setting { setting, value, rule });
        if !(2..=MOST_INDUCING).contains(&self.inducing) {
            let rule = format!("a sequence must have between 2 and {MOST_INDUCING} inducing points");
            return wrong("inducing", self.inducing.to_string(), rule);
        }
        if self.form == Form::StateSpace && !self.kernel.is_markov() {
            let kernel = self.kernel.name();
            let rule = format!(
                "the Matérn kernels, walks and seasons have that form, not {kernel}; choose dense or inducing, or a Matérn time-kernel"
            );
            return wrong("time-form", "state-space".into(), rule);
        }
        let kernel = self.kernel.name();
        match self.period {
            None if self.kernel.is_seasonal() => {
                let rule =
                    format!("the time-kernel {kernel} needs it; give it in the units of the times (days for dates)");
                wrong("period", "not given".into(), rule)?;
            }
            Some(period) if !(period > 0.0 && period.is_finite()) => {
                wrong("period", period.to_string(), "it must be a positive number".into())?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Default for TimeSpec {
    fn default() -> Self {
        TimeSpec { kernel: TimeKernel::default(), trend: false, form: Form::default(), inducing: 64, period: None }
    }
}
