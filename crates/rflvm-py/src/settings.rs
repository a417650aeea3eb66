//! The table of settings, for Python's checks of parameters.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::model::Priors;
use rflvm_study::config::Section;
use serde_json::json;

/// The settings that Python has, as JSON: `name`, `group` (their section of config.toml, "" for none) and its `class`, `parameter`,
/// `is_parameter` of the estimator itself, `earlier` names, `kind`, `default`, `range`, `choices`.
#[pyfunction]
pub fn settings() -> String {
    let mut all = Vec::new();
    for Section { name: group, class, settings, .. } in Section::all() {
        for setting in settings.into_iter().filter(|setting| setting.python.is_some()) {
            let choices: Vec<&str> = setting.choices.iter().map(|(word, _)| *word).collect();
            all.push(json!({
                "name": setting.name, "group": group, "class": class.map(|(name, _)| name), "parameter": setting.python,
                "is_parameter": setting.is_parameter, "earlier": setting.earlier, "kind": setting.kind.name(),
                "default": setting.default, "range": setting.range, "choices": choices,
            }));
        }
    }
    json!(all).to_string()
}

/// All priors as JSON: those given, also as JSON, and the defaults of the others.
#[pyfunction]
pub fn priors(given: &str) -> PyResult<String> {
    let priors: Priors = serde_json::from_str(given).map_err(|error| {
        // Users gave a mapping, which has no lines and columns.
        let words = error.to_string();
        let words = words.split(" at line ").next().unwrap_or_default();
        let words = words.replace("invalid type: ", "found ").replace("f64", "a number");
        // Names are in backticks, and have underscores here.
        let part = |(i, part): (usize, &str)| if i % 2 == 1 { part.replace('-', "_") } else { part.into() };
        let words = words.split('`').enumerate().map(part).collect::<Vec<_>>().join("`");
        PyValueError::new_err(format!("priors cannot be read: {words}"))
    })?;
    Ok(json!(priors).to_string())
}
