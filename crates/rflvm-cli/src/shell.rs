//! Commands that can be pasted into a shell.

use rflvm_study::Config;
use rflvm_study::message::listed;
use serde_json::Value;
use std::path::Path;

pub use rflvm_study::message::quoted;

/// A path that cannot be taken for a flag.
pub fn path(path: &Path) -> String {
    let word = path.display().to_string();
    quoted(&if word.starts_with('-') { format!("./{word}") } else { word })
}

/// The settings as flags, except for the table: settings have the names of their flags.
pub fn flags(config: &Config) -> Vec<String> {
    let mut flags = Vec::new();
    // All settings can be represented in JSON.
    collect(&serde_json::to_value(config).unwrap_or_default(), &mut flags);
    flags
}

fn collect(settings: &Value, flags: &mut Vec<String>) {
    for (name, value) in settings.as_object().into_iter().flatten().filter(|(name, _)| *name != "table") {
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
        let text = match value {
            Value::Null => continue,
            Value::Object(_) => {
                collect(value, flags);
                continue;
            }
            Value::Array(words) => words.iter().map(|own| listed(&word(own))).collect::<Vec<_>>().join(","),
            value => word(value),
        };
        // A switch needs an equals sign before its value, and so does a value that begins like a flag.
        let equals = value.is_boolean() || text.starts_with('-');
        flags.push(format!("--{name}{}{}", if equals { "=" } else { " " }, quoted(&text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm_study::config::{ModelConfig, PathsConfig, SamplingConfig};

    #[test]
    fn settings_are_flags_that_the_program_understands() {
        use crate::args::{Command, Program};
        use clap::Parser;
        use rflvm_study::settings::Names;
        let config = Config {
            table: Some("t.csv".into()),
            id: Some("the name".into()),
            without: Some(Names(vec!["a".into(), "b c".into(), "d, e".into()])),
            separator: Some(";".parse().unwrap()),
            decimal: Some(",".parse().unwrap()),
            na: Some(Names(vec!["-999".into(), "?".into()])),
            model: ModelConfig { latent_dim: Some("auto:3".parse().unwrap()), ..ModelConfig::default() },
            paths: PathsConfig { time_trend: Some(true), ..PathsConfig::default() },
            sampling: SamplingConfig { keep: Some(Names(vec!["w".into(), "f".into()])), ..SamplingConfig::default() },
            ..Config::default()
        };
        // Split as the shell does.
        let script = format!("printf '%s\\n' rflvm doctor t.csv {}", flags(&config).join(" "));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        let Command::Doctor(args) = Program::try_parse_from(words.lines()).unwrap().command else { panic!("{words}") };
        assert_eq!(args.config.0, config);
    }

    #[test]
    fn words_are_quoted_where_the_shell_would_split_them() {
        assert_eq!(quoted("data/a-1.csv"), "data/a-1.csv");
        assert_eq!(quoted("größe"), "größe");
        for word in ["", "two words", ";", "it's", "$HOME", "a\\b", "a;b&c|d", "*?[x]", "\"q\"", "~", "#", "!x", "(a)"]
        {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
