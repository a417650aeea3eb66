//! A MAP estimate: the maximum of the posterior, and its curvature.

use crate::device::{self, Card, DeviceChoice};
use crate::error::Error;
use crate::fit::Fit;
use crate::folder::FolderLock;
use crate::run::check_starts;
use rflvm::internal::error::{RunError, SpecError};
use rflvm::internal::init::Init;
use rflvm::internal::init::map::{Map, MapFit, is_exact};
use rflvm::internal::linalg::Mat;
use rflvm::internal::run::{Settings, pool};

/// The maximum, and the conditional covariance of each position there.
pub fn point(fit: &Fit, starts: usize) -> Result<(MapFit, Vec<Mat>), Error> {
    check(fit, starts)?;
    let map = Map { starts, init: fit.settings.init, ..Map::default() };
    fit.use_instructions();
    let card = card(fit)?;
    let failed = |source| Error::Run(RunError::Numerical { chain: 1, sweep: 0, source });
    let climb = || {
        let point = match card {
            None => map.fit(&fit.model, fit.stream()),
            Some(card) => map.fit_on(device::opener(card)(&fit.model, 0)?, &fit.model, fit.stream()),
        };
        let point = point.map_err(failed)?;
        let spread = point.spread(&fit.model).map_err(failed)?;
        Ok((point, spread))
    };
    pool(&fit.settings)?.install(climb)
}

/// Takes the right to write an estimate into the folder, as [`Fit::lock`] does for a fit.
pub fn lock(fit: &Fit, overwrite: bool) -> Result<FolderLock, Error> {
    fit.lock_for(&one(fit), card(fit)?, overwrite)
}

/// The card on which the maximum is sought, if there is one.
fn card(fit: &Fit) -> Result<Option<Card>, Error> {
    if is_exact(&fit.model) { Ok(None) } else { fit.card_for(&one(fit)) }
}

/// An estimate takes the memory of one chain, and no search for modes precedes it.
fn one(fit: &Fit) -> Settings {
    let init = if matches!(fit.settings.init, Init::Search | Init::Spread) { Init::Pca } else { fit.settings.init };
    Settings { chains: 1, init, ..fit.settings.clone() }
}

/// Checks that the fit can have a point estimate.
pub fn check(fit: &Fit, starts: usize) -> Result<(), SpecError> {
    check_starts(starts)?;
    if fit.model.has_relevance() {
        let rule = "a point estimate cannot learn the number of axes; give a number, or use ⟨method=mcmc⟩".into();
        return Err(SpecError::Setting { setting: "latent-dim", value: "auto".into(), rule });
    }
    match fit.config.compute.device {
        Some(choice @ DeviceChoice::Cuda(_)) if is_exact(&fit.model) => {
            let rule = "a point estimate of a complete Gaussian table has its weights integrated out, on the CPU alone; let device be cpu";
            Err(SpecError::Setting { setting: "device", value: choice.to_string(), rule: rule.into() })
        }
        _ => Ok(()),
    }
}
