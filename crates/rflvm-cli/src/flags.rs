//! The settings of a fit as flags: one per entry of the engine's table of settings.

use crate::console::{note, speaks};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use rflvm_study::config::{Config, ModelConfig, Section};
use rflvm_study::settings::{Group, Kind, Setting};
use std::ffi::OsString;
use std::path::PathBuf;

/// The settings of a fit that other commands share.
#[derive(Debug, Clone, Default)]
pub struct ConfigArgs(pub Config);

/// How a fit finds positions.
#[derive(Debug, Clone, Default)]
pub struct MethodArgs(pub Config);

/// Only the settings of the model.
#[derive(Debug, Clone, Default)]
pub struct ModelArgs(pub ModelConfig);

/// The id of a setting in clap.
pub fn id(setting: &Setting) -> String {
    setting.name.replace('-', "_")
}

/// Settings that only `fit` has: the flags of [`MethodArgs`].
const OF_METHOD: [&str; 2] = ["method", "starts"];

/// The settings that all fits share, or those of the method, each with the heading of its section.
fn described(is_of_method: bool) -> Vec<(&'static str, Setting)> {
    let all = Section::all().into_iter();
    let all = all.flat_map(|section| section.settings.into_iter().map(move |setting| (section.title, setting)));
    all.filter(|(_, setting)| OF_METHOD.contains(&setting.name.as_str()) == is_of_method).collect()
}

/// Help texts: the short one, if `-h` shows the setting, and the long one.
fn with_help(arg: Arg, setting: &Setting) -> Arg {
    match setting.short_and_default() {
        Some(short) => arg.help(short).long_help(setting.help_and_default()),
        None => arg.help(setting.help_and_default()).hide_short_help(true),
    }
}

/// The flag of a setting, with the default that a command has in place of the usual one.
pub fn with_default(arg: Arg, default: &str) -> Arg {
    let setting = Config::table().into_iter().find(|setting| arg.get_id().as_str() == id(setting));
    setting.map_or_else(|| arg.clone(), |setting| with_help(arg.clone(), &setting.default(default)))
}

/// The flag of a setting, and a hidden one with its earlier name.
fn args((title, setting): &(&'static str, Setting)) -> impl Iterator<Item = Arg> {
    let earlier = setting.alias.map(|name| flag(title, setting, name).hide(true).conflicts_with(id(setting)));
    [flag(title, setting, &setting.name)].into_iter().chain(earlier)
}

fn flag(title: &'static str, setting: &Setting, long: &str) -> Arg {
    let name = setting.name.clone();
    let placeholder = setting.placeholder.map_or_else(|| name.replace('-', "_").to_uppercase(), String::from);
    let arg = with_help(Arg::new(long.replace('-', "_")).value_name(placeholder), setting);
    // The table is a positional argument.
    let arg = if name == "table" { arg } else { arg.long(long.to_string()).help_heading(title) };
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
    settings: Vec<(&'static str, Setting)>,
    matches: &ArgMatches,
    mut set: impl FnMut(&Setting, OsString) -> Result<(), String>,
) -> Result<(), Error> {
    for (_, setting) in settings {
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
        fill(described(false), matches, |setting, text| self.0.set(&setting.name, &text))
    }
}

impl Args for ConfigArgs {
    fn augment_args(command: Command) -> Command {
        command.args(described(false).iter().flat_map(args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MethodArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = MethodArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        fill(described(true), matches, |setting, text| self.0.set(&setting.name, &text))
    }
}

impl Args for MethodArgs {
    fn augment_args(command: Command) -> Command {
        // First under their heading.
        command.args(described(true).iter().flat_map(args).map(|arg| arg.display_order(0)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn of_model() -> Vec<(&'static str, Setting)> {
    ModelConfig::describe().into_iter().map(|setting| ("The model", setting)).collect()
}

impl FromArgMatches for ModelArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut args = ModelArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        fill(of_model(), matches, |setting, text| {
            self.0.set(&setting.name, &text).unwrap_or_else(|| Err("there is no such setting".into()))
        })
    }
}

impl Args for ModelArgs {
    fn augment_args(command: Command) -> Command {
        command.args(of_model().iter().flat_map(args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
