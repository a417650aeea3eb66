//! The engine's messages in the program's terms: settings are flags, and actions are commands.

use crate::shell::quoted;
use rflvm_study::message::Naming;

/// Flags and commands.
pub struct Flags;

impl Naming for Flags {
    fn typed(&self, name: &str, value: Option<&str>) -> String {
        let dir = || quoted(value.unwrap_or("DIR"));
        match (name, value) {
            ("more-draws" | "more-warmup", Some(text)) => {
                let (number, dir) = text.split_once(' ').unwrap_or((text, "DIR"));
                let flag = name.trim_start_matches("more-");
                format!("`rflvm resume {} --{flag} {number}`", path(dir))
            }
            ("resume", _) => format!("`rflvm resume {}`", dir()),
            ("replay", _) => format!("`rflvm resume {} --debug`", dir()),
            ("refit", _) => format!("`rflvm fit --config {}/config.toml`", dir()),
            ("restart", _) => format!("`rflvm fit --config {0}/config.toml --out {0} --overwrite`", dir()),
            ("summary" | "fit", None) => format!("`rflvm {name}`"),
            ("doctor", Some(table)) => format!("`rflvm doctor {}`", path(table)),
            ("doctor", None) => "`rflvm doctor`".into(),
            ("doctor-blocks", _) => "`rflvm doctor --blocks-out`".into(),
            ("priors", Some(prior)) => format!("`[priors] {prior}` in config.toml"),
            (name, Some(value)) => format!("--{name} {}", quoted(value)),
            (name, None) => format!("--{name}"),
        }
    }

    fn noun(&self, name: &str) -> String {
        name.into()
    }
}

/// A path that cannot be mistaken for a flag.
fn path(text: &str) -> String {
    crate::shell::path(text.as_ref())
}
