//! Sections as version 0.2 wrote them: `[run]`, which is now `[sampling]` and `[compute]`, and `[path]`, now `[paths]`.

use super::{ComputeConfig, Config, SamplingConfig, Section};
use crate::note::Note;
use crate::settings::Group;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::path::Path;

/// The section `[run]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunConfig {
    sampling: SamplingConfig,
    compute: ComputeConfig,
}

/// The name of a setting of that section.
struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Section::all().into_iter().filter(|section| ["sampling", "compute"].contains(&section.name));
        let mut settings = known.flat_map(|section| section.settings);
        match settings.find(|setting| setting.name == name || setting.alias == Some(&name)) {
            Some(setting) => Ok(Name(setting.name)),
            None => Err(D::Error::custom(format!("unknown field `{name}`"))),
        }
    }
}

impl<'de> Deserialize<'de> for RunConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = RunConfig;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RunConfig, A::Error> {
                let mut run = RunConfig::default();
                while let Some(Name(name)) = map.next_key()? {
                    let is_read = run.sampling.read(&name, &mut map)? || run.compute.read(&name, &mut map)?;
                    debug_assert!(is_read, "{name} is in one of the two");
                }
                Ok(run)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Config {
    /// The same settings in the sections of this version.
    pub(super) fn renewed(mut self) -> Self {
        self.paths = self.paths.or(self.path.take().unwrap_or_default());
        let RunConfig { sampling, compute } = self.run.take().unwrap_or_default();
        self.sampling = self.sampling.or(sampling);
        self.compute = self.compute.or(compute);
        self
    }

    /// A warning about a file whose sections have the names of version 0.2, for those who keep such files.
    pub fn earlier(path: Option<&Path>) -> Option<Note> {
        let path = path?;
        let text = std::fs::read_to_string(path).ok()?;
        let read: Config = toml::from_str(&text).ok()?;
        let run = read.run.map(|_| "[run] is now [sampling] and [compute]");
        let paths = read.path.map(|_| "[path] is now [paths]");
        let changes: Vec<&str> = [run, paths].into_iter().flatten().collect();
        let words =
            format!("{}: {}; the earlier names will be removed in version 0.4", path.display(), changes.join(", and "));
        (!changes.is_empty()).then(|| Note::warn(words))
    }
}
