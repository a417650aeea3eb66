//! The table of settings, for Python's checks of parameters.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::model::Priors;
use rflvm_study::Config;
use rflvm_study::config::{ModelConfig, PathConfig, RunConfig};
use rflvm_study::settings::Group;
use serde_json::json;

/// The settings that are parameters of the estimator, as JSON: `name`, `group` in config.toml ("" for none), `parameter`, `kind`,
/// `default`, `range`, `choices`.
#[pyfunction]
pub fn settings() -> String {
    let groups = [
        ("", Config::describe()),
        ("model", ModelConfig::describe()),
        ("path", PathConfig::describe()),
        ("run", RunConfig::describe()),
    ];
    let mut all = Vec::new();
    for (group, settings) in groups {
        for setting in settings.into_iter().filter(|setting| setting.python.is_some()) {
            let choices: Vec<&str> = setting.choices.iter().map(|(word, _)| *word).collect();
            all.push(json!({
                "name": setting.name, "group": group, "parameter": setting.python, "kind": setting.kind.name(),
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
