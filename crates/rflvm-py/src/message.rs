//! The engine's messages in Python's terms: settings are parameters, and actions are methods.

use rflvm_study::Config;
use rflvm_study::config::Section;
use rflvm_study::message::Naming;
use rflvm_study::settings::Setting;

/// Parameters and methods.
pub struct Parameters;

impl Naming for Parameters {
    fn typed(&self, name: &str, value: Option<&str>) -> String {
        match (name, value) {
            ("more-draws" | "more-warmup", Some(text)) => {
                let number = text.split_once(' ').map_or(text, |(number, _)| number);
                format!("model.resume({}={number})", name.trim_start_matches("more-"))
            }
            ("resume" | "replay", _) => "resume()".into(),
            ("refit", _) => "fit()".into(),
            ("restart", _) => "fit(…, overwrite=True)".into(),
            ("overwrite", _) => "overwrite=True".into(),
            // A frame has a column per part of the time.
            ("time", Some(names)) if names.contains(',') => format!("times=X[['{}']]", names.replace(',', "', '")),
            ("summary", _) => "diagnostics_".into(),
            ("method", Some("mcmc")) => "fit()".into(),
            ("fit" | "doctor", _) => format!("{name}()"),
            // A prior within a family: student-t.dof.
            ("priors", Some(prior)) => {
                let (keys, ends) = (prior.replace('.', "': {'"), "}".repeat(prior.split('.').count()));
                format!("priors={{'{keys}': …{ends}")
            }
            (name, Some(value)) => {
                let quote = if value.parse::<f64>().is_ok() { "" } else { "'" };
                in_its_group(name, &format!("{}={quote}{value}{quote}", parameter(name)))
            }
            (name, None) => parameter(name),
        }
    }

    fn noun(&self, name: &str) -> String {
        parameter(name)
    }
}

/// The name of a setting in Python.
fn parameter(name: &str) -> String {
    // Passed to `fit`, or to the method of the query, rather than to the estimator.
    match name {
        "out" => return "store".into(),
        "time" => return "times".into(),
        "sequence" => return "sequences".into(),
        "backtest" => return "origins".into(),
        _ => {}
    }
    let known = Config::table().into_iter().find(|setting| setting.name == name).and_then(|setting| setting.python);
    known.map_or_else(|| name.replace('-', "_"), String::from)
}

/// A parameter with its value, as it is typed.
fn in_its_group(name: &str, typed: &str) -> String {
    let is_own = |setting: &Setting| setting.name == name && setting.python.is_some() && !setting.is_parameter;
    let section = Section::all().into_iter().find(|section| section.settings.iter().any(is_own));
    match section.and_then(|section| Some((section.name, section.class?))) {
        Some((group, (class, _))) => format!("{group}=rflvm.{class}({typed})"),
        None => typed.into(),
    }
}
