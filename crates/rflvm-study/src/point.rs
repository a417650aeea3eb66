//! A MAP estimate: the maximum of the posterior, and its curvature.

use crate::error::Error;
use crate::fit::Fit;
use rflvm::error::{RunError, SpecError};
use rflvm::init::map::{Map, MapFit};
use rflvm::linalg::Mat;
use rflvm::run::pool;

/// The most initialisations that may be requested.
const MOST_STARTS: usize = 1000;

/// The maximum, and the conditional covariance of each position there.
pub fn point(fit: &Fit, starts: usize) -> Result<(MapFit, Vec<Mat>), Error> {
    check(fit, starts)?;
    let settings = Map { starts, init: fit.settings.init, ..Map::default() };
    fit.use_instructions();
    let failed = |source| Error::Run(RunError::Numerical { chain: 1, sweep: 0, source });
    let climb = || {
        let point = settings.fit(&fit.model, fit.stream())?;
        let spread = point.spread(&fit.model)?;
        Ok((point, spread))
    };
    pool(&fit.settings)?.install(climb).map_err(failed)
}

/// Checks that the fit can have a point estimate.
pub fn check(fit: &Fit, starts: usize) -> Result<(), SpecError> {
    check_starts(starts)?;
    if fit.model.has_relevance() {
        let rule = "a point estimate cannot learn the number of axes; give a number, or use ⟨fit⟩".into();
        return Err(SpecError::Setting { setting: "latent-dim", value: "auto".into(), rule });
    }
    Ok(())
}

/// Checks the number of initialisations.
pub fn check_starts(starts: usize) -> Result<(), SpecError> {
    if (1..=MOST_STARTS).contains(&starts) {
        return Ok(());
    }
    let rule = format!("it must be between 1 and {MOST_STARTS}");
    Err(SpecError::Setting { setting: "starts", value: starts.to_string(), rule })
}
