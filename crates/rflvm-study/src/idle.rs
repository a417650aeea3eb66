//! Settings that would change nothing: they are refused rather than ignored, since whoever typed them expects otherwise.

use crate::choices::{InitAt, KernelKind, Method};
use crate::config::{ComputeConfig, Config, SamplingConfig};
use rflvm::internal::error::SpecError;
use rflvm::internal::spec;

/// Checks what was typed, given all settings; a file may have more than its model needs.
pub fn check(typed: &Config, all: &Config) -> Result<(), SpecError> {
    if let Some(value) = typed.model.length_scale.filter(|_| all.model.kernel != Some(KernelKind::Rbf)) {
        let rule = "the learned kernel has none; leave it out, or add ⟨kernel=rbf⟩".into();
        return Err(SpecError::Setting { setting: "length-scale", value: value.to_string(), rule });
    }
    match all.sampling.method {
        Some(Method::Map) => check_point(typed)?,
        _ => {
            if let Some(starts) = typed.sampling.starts {
                let rule = "chains have no such number; leave it out, or add ⟨method=map⟩".into();
                return Err(SpecError::Setting { setting: "starts", value: starts.to_string(), rule });
            }
        }
    }
    if let (Some(trials), Some(family)) = (&typed.trials, all.likelihood.as_deref().filter(|_| !all.is_auto()))
        && !spec::about(family)?.cells.have_trials()
        && !spec::about(family)?.cells.are_levels()
    {
        let rule = format!("the family {family} has no trials; leave it out, or choose another with ⟨likelihood⟩");
        return Err(SpecError::Setting { setting: "trials", value: trials.clone(), rule });
    }
    Ok(())
}

/// Refuses settings that have no meaning for a point estimate.
fn check_point(typed: &Config) -> Result<(), SpecError> {
    let SamplingConfig { warmup, draws, thin, chains, keep, init, .. } = &typed.sampling;
    let ComputeConfig { checkpoint, .. } = &typed.compute;
    let of_chains = [
        ("warmup", warmup.is_some()),
        ("draws", draws.is_some()),
        ("thin", thin.is_some()),
        ("chains", chains.is_some()),
        ("keep", keep.is_some()),
        ("checkpoint", checkpoint.is_some()),
    ];
    if let Some((setting, _)) = of_chains.into_iter().find(|(_, is_given)| *is_given) {
        let rule = "a point estimate has no chains; omit it, or use ⟨method=mcmc⟩".into();
        return Err(SpecError::Setting { setting, value: "given".into(), rule });
    }
    if *init == Some(InitAt::Map) {
        let rule = "⟨method=map⟩ computes a MAP estimate and cannot start from one; choose pca or random".into();
        return Err(SpecError::Setting { setting: "init", value: "map".into(), rule });
    }
    Ok(())
}
