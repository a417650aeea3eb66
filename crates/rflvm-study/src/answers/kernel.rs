//! The learned kernel: its curves and spectral density, and K(X, X) of some rows.

use super::positions::Positions;
use super::{Answer, Column, OF_AXIS, stream};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::{RunError, SpecError};
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::kernel::{Covariance, Curve, Learned, diameter};

/// Most rows of a kernel matrix: its mean and standard deviation then take 400 MB.
const MOST_ROWS: usize = 5000;

/// The curves along each axis and over all directions, with their names.
pub struct Curves {
    /// x1, x2, …, all.
    pub names: Vec<String>,
    /// k(δ) and the density of |w|.
    pub learned: Learned,
}

/// The curves of a fit.
pub fn kernel(fit: &Fit, drawn: &Drawn) -> Result<Curves, Error> {
    let fitted = drawn.fitted(fit, stream::KERNEL);
    let frame = fitted.frame()?;
    let embedding = fitted.embedding(&frame)?;
    Ok(curves(&fitted, &Positions { frame, embedding })?)
}

/// The curves in the frame of the positions, over their range.
pub fn curves(fitted: &Fitted<'_>, Positions { frame, embedding }: &Positions) -> Result<Curves, RunError> {
    let names = (1..=frame.axes()).map(|d| format!("x{d}")).chain(["all".into()]).collect();
    Ok(Curves { names, learned: fitted.kernel(frame, diameter(&embedding.mean), DRAWS)? })
}

impl Curves {
    /// `along,delta,mean,q05,q95` of k(δ).
    pub fn kernel(&self) -> Answer {
        self.columns(("delta", OF_AXIS), "", &self.learned.kernel)
    }

    /// `along,frequency,mean,q05,q95` of the density of |w|.
    pub fn density(&self) -> Answer {
        self.columns(("frequency", "1 / latent axis"), "latent axis", &self.learned.density)
    }

    fn columns(&self, (place, unit): (&str, &'static str), of_value: &'static str, curves: &[Curve]) -> Answer {
        let along = curves.iter().enumerate().flat_map(|(i, curve)| curve.at.iter().map(move |_| i)).collect();
        let numbers = |name: &str, unit, part: &dyn Fn(&Curve) -> Vec<f64>| {
            Column::numbers(name, unit, curves.iter().flat_map(part).collect())
        };
        Answer {
            columns: vec![
                Column::names("along", self.names.clone(), along),
                numbers(place, unit, &|curve| curve.at.clone()),
                numbers("mean", of_value, &|curve| curve.mean.clone()),
                numbers("q05", of_value, &|curve| curve.band.iter().map(|band| band[0]).collect()),
                numbers("q95", of_value, &|curve| curve.band.iter().map(|band| band[1]).collect()),
            ],
        }
    }
}

/// Posterior mean and standard deviation of K(X, X) of some rows, which must not be too many.
pub fn covariance(fit: &Fit, drawn: &Drawn, rows: &[usize]) -> Result<Covariance, Error> {
    check_rows(rows.len())?;
    Ok(drawn.fitted(fit, stream::KERNEL).covariance(rows, DRAWS)?)
}

/// Checks that a kernel matrix of `count` rows is not too large.
pub fn check_rows(count: usize) -> Result<(), SpecError> {
    if (1..=MOST_ROWS).contains(&count) {
        return Ok(());
    }
    let rule =
        format!("a kernel matrix can have 1 to {MOST_ROWS} rows; choose a subset, such as the first {MOST_ROWS}");
    Err(SpecError::Setting { setting: "rows", value: format!("{count} rows"), rule })
}
