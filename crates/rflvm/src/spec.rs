//! From names, as users type them, to families.

use crate::error::SpecError;
use crate::model::family::{
    Binomial, Family, Gaussian, Generic, Multinomial, NegativeBinomial, Poisson, StudentT, Trials, ZeroInflatedPoisson,
};
use std::sync::Arc;

/// The families that have a name.
pub const FAMILIES: [&str; 8] = [
    "gaussian",
    "poisson",
    "bernoulli",
    "binomial",
    "negative-binomial",
    "multinomial",
    "student-t",
    "zero-inflated-poisson",
];

/// The family called `name`, with its default priors. `trials` is for `binomial`, which needs them.
pub fn family(name: &str, trials: Option<Trials>) -> Result<Arc<dyn Family>, SpecError> {
    if trials.is_some() && name != "binomial" {
        let (setting, value) = ("trials", "given".into());
        return Err(SpecError::Setting { setting, value, rule: format!("only binomial has trials, not {name}") });
    }
    Ok(match name {
        "gaussian" => Arc::new(Gaussian::default()),
        "poisson" => Arc::new(Poisson),
        "bernoulli" => Arc::new(Binomial::bernoulli()),
        "binomial" => {
            let (setting, value) = ("trials", "not given".into());
            let rule = "a binomial needs its number of trials; give it, or choose bernoulli for yes/no data".into();
            Arc::new(Binomial::new(trials.ok_or(SpecError::Setting { setting, value, rule })?))
        }
        "negative-binomial" => Arc::new(NegativeBinomial::default()),
        "multinomial" => Arc::new(Multinomial),
        "student-t" => Arc::new(Generic(StudentT::default())),
        "zero-inflated-poisson" => Arc::new(Generic(ZeroInflatedPoisson)),
        _ => {
            let known = FAMILIES.join(", ");
            return Err(SpecError::Unknown { what: "likelihood", name: name.into(), known });
        }
    })
}
