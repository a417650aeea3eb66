//! The settings of a fit as flags: one per entry of the engine's table of settings.

use crate::console::{note, speaks};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use rflvm_study::config::{Config, ModelConfig};
use rflvm_study::settings::{Group, Kind, Setting};
use std::ffi::OsString;
use std::path::PathBuf;

/// All settings of a fit.
#[derive(Debug, Clone, Default)]
pub struct ConfigArgs(pub Config);

/// Only the settings of the model.
#[derive(Debug, Clone, Default)]
pub struct ModelArgs(pub ModelConfig);

/// The id of a setting in clap.
pub fn id(setting: &Setting) -> String {
    setting.name.replace('-', "_")
}

/// The flag of a setting, and a hidden one with its earlier name.
fn args(setting: &Setting) -> impl Iterator<Item = Arg> {
    let earlier = setting.alias.map(|name| flag(setting, name).hide(true).conflicts_with(id(setting)));
    [flag(setting, &setting.name)].into_iter().chain(earlier)
}

fn flag(setting: &Setting, long: &str) -> Arg {
    let name = setting.name.clone();
    let placeholder = setting.placeholder.map_or_else(|| name.replace('-', "_").to_uppercase(), String::from);
    let arg = Arg::new(long.replace('-', "_")).value_name(placeholder).help(setting.help_and_default());
    // The table is a positional argument.
    let arg = if name == "table" { arg } else { arg.long(long.to_string()) };
    let arg = arg.allow_hyphen_values(setting.hyphens);
    let arg = arg.conflicts_with_all(setting.conflicts.iter().map(|other| other.replace('-', "_")));
    match setting.kind {
        Kind::Path => arg.value_parser(value_parser!(PathBuf)),
        Kind::Choice => {
            let word = |(word, help): &(&'static str, &'static str)| PossibleValue::new(*word).help(help.trim());
            arg.value_parser(PossibleValuesParser::new(setting.choices.iter().map(word)))
        }
        Kind::Truth => arg
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(["true", "false"]),
        Kind::Names => arg.action(ArgAction::Append),
        Kind::Whole | Kind::Number | Kind::Text => {
            arg.value_parser(move |text: &str| Config::default().set(&name, text.as_ref()).map(|()| text.to_string()))
        }
    }
}

/// What was typed for a setting, if anything.
fn typed(setting: &Setting, matches: &ArgMatches) -> Option<OsString> {
    let by_earlier_name = || {
        let name = setting.alias?;
        let text = typed_as(&name.replace('-', "_"), setting, matches)?;
        if speaks() {
            note(&format!("warning: --{name} is called --{} now", setting.name));
        }
        Some(text)
    };
    typed_as(&id(setting), setting, matches).or_else(by_earlier_name)
}

fn typed_as(id: &str, setting: &Setting, matches: &ArgMatches) -> Option<OsString> {
    match setting.kind {
        Kind::Path => matches.get_one::<PathBuf>(id).map(|path| path.clone().into_os_string()),
        Kind::Names => {
            let words: Vec<String> = matches.get_many::<String>(id)?.cloned().collect();
            Some(words.join(",").into())
        }
        _ => matches.get_one::<String>(id).map(OsString::from),
    }
}

/// Sets everything that was typed.
fn fill(
    settings: Vec<Setting>,
    matches: &ArgMatches,
    mut set: impl FnMut(&Setting, OsString) -> Result<(), String>,
) -> Result<(), Error> {
    for setting in settings {
        if let Some(text) = typed(&setting, matches) {
            set(&setting, text).map_err(|problem| {
                Error::raw(ErrorKind::ValueValidation, format!("--{}: {problem}\n", setting.name))
            })?;
        }
    }
    Ok(())
}

impl FromArgMatches for ConfigArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = ConfigArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        fill(Config::table(), matches, |setting, text| self.0.set(&setting.name, &text))
    }
}

impl Args for ConfigArgs {
    fn augment_args(command: Command) -> Command {
        command.args(Config::table().iter().flat_map(args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ModelArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = ModelArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        fill(ModelConfig::describe(), matches, |setting, text| {
            self.0.set(&setting.name, &text).unwrap_or_else(|| Err("there is no such setting".into()))
        })
    }
}

impl Args for ModelArgs {
    fn augment_args(command: Command) -> Command {
        command.args(ModelConfig::describe().iter().flat_map(args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Settings that concern only chains.
pub const OF_CHAINS: [&str; 6] = ["warmup", "draws", "thin", "chains", "keep", "checkpoint"];

/// Hides them from the help of a command without chains.
pub fn hide_sampling(arg: Arg) -> Arg {
    let hidden = OF_CHAINS.contains(&arg.get_id().as_str());
    arg.hide(hidden)
}
