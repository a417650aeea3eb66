//! The sections of settings: of config.toml, of docs/settings.md and of `--help`, and the classes of Python.

use super::{ComputeConfig, Config, ModelConfig, PathsConfig, SamplingConfig};
use crate::settings::{Group, Setting};

/// Settings that belong together.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its name in config.toml; empty for the settings that are above all sections.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its class in Python, and what that holds.
    pub class: Option<(&'static str, &'static str)>,
    /// Its settings.
    pub settings: Vec<Setting>,
}

impl Section {
    /// All sections, in the order of config.toml.
    pub fn all() -> Vec<Section> {
        let section = |name, title, class, settings| Section { name, title, class, settings };
        vec![
            section("", "The table", None, Config::describe()),
            section(
                "model",
                "The model",
                Some(("Model", "The map from positions to columns, and its kernel")),
                ModelConfig::describe(),
            ),
            section(
                "paths",
                "Paths over time",
                Some(("Paths", "How positions change over time")),
                PathsConfig::describe(),
            ),
            section(
                "sampling",
                "Sampling",
                Some(("Sampling", "How many chains are sampled, for how long, and where they begin")),
                SamplingConfig::describe(),
            ),
            section(
                "compute",
                "Computing",
                Some(("Compute", "Where and how chains are computed; the draws do not depend on most of it")),
                ComputeConfig::describe(),
            ),
        ]
    }
}
