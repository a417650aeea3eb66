//! From names, as users type them, to families.

use crate::closest::closest;
use crate::error::SpecError;
use crate::model::Priors;
use crate::model::family::{
    Binomial, Family, Gaussian, Generic, Multinomial, NegativeBinomial, Poisson, StudentT, Trials, ZeroInflatedPoisson,
};
use crate::model::priors::Dispersion;
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

/// What else families are called.
const ALIASES: [(&str, &str); 14] = [
    ("normal", "gaussian"),
    ("nb", "negative-binomial"),
    ("negbin", "negative-binomial"),
    ("negbinomial", "negative-binomial"),
    ("negativebinomial", "negative-binomial"),
    ("t", "student-t"),
    ("student", "student-t"),
    ("studentt", "student-t"),
    ("zip", "zero-inflated-poisson"),
    ("categorical", "multinomial"),
    ("category", "multinomial"),
    ("logistic", "bernoulli"),
    ("binary", "bernoulli"),
    ("boolean", "bernoulli"),
];

/// The name under which a family is known and stored: any case, underscores or spaces for hyphens, and the usual aliases
/// (`normal`, `nb`, `zip`, …) are understood.
pub fn canonical(name: &str) -> Result<&'static str, SpecError> {
    let plain = name.trim().to_lowercase().replace(['_', ' '], "-");
    let own = FAMILIES.into_iter().find(|family| *family == plain);
    let found = own.or_else(|| ALIASES.iter().find(|(alias, _)| *alias == plain).map(|(_, family)| *family));
    found.ok_or_else(|| {
        // A typo of an alias leads to the family itself.
        let names: Vec<&str> = FAMILIES.into_iter().chain(ALIASES.iter().map(|(alias, _)| *alias)).collect();
        let meant = closest(&plain, &names).and_then(|near| canonical(near).ok());
        let known = FAMILIES.join(", ");
        SpecError::Unknown {
            what: "likelihood",
            name: name.into(),
            known: meant.map_or(known.clone(), |meant| format!("{known}; did you mean {meant}?")),
        }
    })
}

/// The family called `name`, with its default priors. `trials` is for `binomial`, which needs them.
pub fn family(name: &str, trials: Option<Trials>) -> Result<Arc<dyn Family>, SpecError> {
    family_with(name, trials, &Priors::default())
}

/// The family called `name`, with the priors given; their ranges are checked by the model.
pub fn family_with(name: &str, trials: Option<Trials>, priors: &Priors) -> Result<Arc<dyn Family>, SpecError> {
    let name = canonical(name)?;
    if trials.is_some() && name != "binomial" {
        let (setting, value) = ("trials", "given".into());
        return Err(SpecError::Setting { setting, value, rule: format!("only binomial has trials, not {name}") });
    }
    Ok(match name {
        "gaussian" => Arc::new(Gaussian { shape: priors.noise.shape, rate: priors.noise.rate }),
        "poisson" => Arc::new(Poisson),
        "bernoulli" => Arc::new(Binomial::bernoulli()),
        "binomial" => {
            let (setting, value) = ("trials", "not given".into());
            let rule = "a binomial needs its number of trials; give it, or choose bernoulli for yes/no data".into();
            Arc::new(Binomial::new(trials.ok_or(SpecError::Setting { setting, value, rule })?))
        }
        "negative-binomial" => {
            let Dispersion { shape, rate_shape, rate_rate } = priors.dispersion;
            Arc::new(NegativeBinomial { shape, rate_shape, rate_rate })
        }
        "multinomial" => Arc::new(Multinomial),
        "student-t" => Arc::new(StudentT::new(priors.student_t)),
        _ => Arc::new(Generic(ZeroInflatedPoisson { prior: priors.zero_inflation })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_all_their_names() {
        for name in FAMILIES {
            assert_eq!(canonical(name), Ok(name));
            assert_eq!(canonical(&name.to_uppercase().replace('-', "_")), Ok(name));
            let trials = (name == "binomial").then_some(Trials::Same(3));
            assert!(family(name, trials).is_ok(), "{name}");
        }
        for (alias, name) in ALIASES {
            assert_eq!(canonical(alias), Ok(name));
            assert!(FAMILIES.contains(&name), "{alias}");
        }
        assert_eq!(canonical(" Negative Binomial "), Ok("negative-binomial"));
        assert_eq!(family("NB", None).unwrap().name(), "negative-binomial");
    }

    #[test]
    fn a_typo_is_answered_by_the_name_that_was_meant() {
        for (typo, meant) in [("poison", "poisson"), ("guassian", "gaussian"), ("nromal", "gaussian")] {
            let sentence = canonical(typo).unwrap_err().to_string();
            assert!(sentence.ends_with(&format!("did you mean {meant}?")) && sentence.contains(typo), "{sentence}");
        }
        assert!(!canonical("weibull").unwrap_err().to_string().contains("did you mean"));
    }
}
