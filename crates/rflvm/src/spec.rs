//! From the names that users type to families.

use crate::closest::closest;
use crate::error::SpecError;
use crate::model::Priors;
use crate::model::family::{About, Family, REGISTRY, Trials};
use std::sync::Arc;

/// The names of the families, in the order of the [`REGISTRY`].
pub const FAMILIES: [&str; REGISTRY.len()] = {
    let mut names = [""; REGISTRY.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = REGISTRY[place].name;
        place += 1;
    }
    names
};

/// The family that users call `name`. Case does not matter, spaces and underscores count as hyphens, and aliases
/// (`normal`, `nb`, `zip`, …) are understood.
pub fn about(name: &str) -> Result<&'static About, SpecError> {
    let plain = name.trim().to_lowercase().replace(['_', ' '], "-");
    let called = |plain: &str| REGISTRY.iter().copied().find(|about| names(about).any(|name| name == plain));
    called(&plain).ok_or_else(|| {
        // A typo in an alias suggests the family itself.
        let all: Vec<&str> = REGISTRY.iter().flat_map(|about| names(about)).collect();
        let meant = closest(&plain, &all).and_then(called);
        let known = FAMILIES.join(", ");
        SpecError::Unknown {
            what: "likelihood",
            name: name.into(),
            known: meant.map_or(known.clone(), |meant| format!("{known}; did you mean {}?", meant.name)),
        }
    })
}

fn names(about: &'static About) -> impl Iterator<Item = &'static str> {
    [about.name].into_iter().chain(about.aliases.iter().copied())
}

/// The name under which the family that users call `name` is stored.
pub fn canonical(name: &str) -> Result<&'static str, SpecError> {
    Ok(about(name)?.name)
}

/// The family called `name`, with its default priors. `trials` is for families that have them; for ordered levels, it is their number.
pub fn family(name: &str, trials: Option<Trials>) -> Result<Arc<dyn Family>, SpecError> {
    family_with(name, trials, &Priors::default())
}

/// The family called `name`, with the given priors, whose ranges are checked when a model is made.
pub fn family_with(name: &str, trials: Option<Trials>, priors: &Priors) -> Result<Arc<dyn Family>, SpecError> {
    let about = about(name)?;
    if trials.is_some() && !about.cells.have_trials() && !about.cells.are_levels() {
        let with: Vec<&str> = REGISTRY.iter().filter(|a| a.cells.have_trials()).map(|a| a.name).collect();
        let rule = format!("{} has no trials, only {} does; leave them out", about.name, with.join(", "));
        return Err(SpecError::Setting { setting: "trials", value: "given".into(), rule });
    }
    (about.new)(trials, priors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_all_their_names() {
        for about in REGISTRY {
            for called in names(about) {
                assert_eq!(canonical(called), Ok(about.name));
                assert_eq!(canonical(&called.to_uppercase().replace('-', "_")), Ok(about.name));
            }
            let trials = about.cells.have_trials().then_some(Trials::Same(3));
            let family = family(about.name, trials).unwrap();
            assert_eq!((family.name(), family.about().unwrap().name), (about.name, about.name));
            assert!(!family.example(0).is_empty() || family.parameters().is_empty(), "{}", about.name);
        }
        let mut all: Vec<&str> = REGISTRY.iter().flat_map(|about| names(about)).collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "two families have the same name: {all:?}");
        assert_eq!(canonical(" Negative Binomial "), Ok("negative-binomial"));
        assert_eq!(family("NB", None).unwrap().name(), "negative-binomial");
    }

    #[test]
    fn suggestions_are_about_statistics_that_are_checked() {
        for about in REGISTRY {
            for (statistic, _, text) in about.suggestions {
                assert!(about.statistics.contains(statistic), "{}: {text}", about.name);
            }
        }
    }

    #[test]
    fn trials_are_for_families_that_have_them() {
        let sentence = family("poisson", Some(Trials::Same(3))).unwrap_err().to_string();
        assert!(sentence.contains("poisson has no trials, only binomial does"), "{sentence}");
        assert!(family("binomial", None).unwrap_err().to_string().contains("choose bernoulli"));
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
