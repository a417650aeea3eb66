//! Settings that would change nothing: they are refused rather than ignored, since whoever typed them expects otherwise.

use crate::choices::KernelKind;
use crate::config::Config;
use rflvm::internal::error::SpecError;
use rflvm::internal::spec;

/// Checks what was typed, given all settings; a file may have more than its model needs.
pub fn check(typed: &Config, all: &Config) -> Result<(), SpecError> {
    if let Some(value) = typed.model.length_scale.filter(|_| all.model.kernel != Some(KernelKind::Rbf)) {
        let rule = "the learned kernel has none; leave it out, or add ⟨kernel=rbf⟩".into();
        return Err(SpecError::Setting { setting: "length-scale", value: value.to_string(), rule });
    }
    if let (Some(trials), Some(family)) = (&typed.trials, all.likelihood.as_deref().filter(|_| !all.is_auto()))
        && !spec::about(family)?.cells.have_trials()
    {
        let rule = format!("the family {family} has no trials; leave it out, or choose another with ⟨likelihood⟩");
        return Err(SpecError::Setting { setting: "trials", value: trials.clone(), rule });
    }
    Ok(())
}
