//! The program `rflvm`: parses arguments, runs a command, and returns an exit code.
//!
//! The program is `main.rs`, which calls [`run`]; the Python package includes it. All computation is in `rflvm-study` and
//! `rflvm`: this crate has arguments, messages, progress and pictures.

// Both panic if they cannot write; `console` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
// User input must never cause a panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable))]

mod aligned;
mod answer;
mod args;
mod backtest;
mod begin;
mod check;
mod compare;
mod console;
mod demo;
mod differences;
mod distances;
mod doctor;
mod effects;
mod export;
mod failure;
mod fit;
mod flags;
mod forecast;
mod groups;
mod help;
mod impute;
mod kernel;
mod labels;
mod manual;
mod map;
mod message;
mod output;
mod picture;
mod pipe;
mod plot;
mod predict;
mod progress;
mod ranks;
mod reply;
mod report;
mod results;
mod resume;
mod shell;
mod signal;
mod simulate;
mod stop;
mod summary;
mod transform;

use args::{Command, Program};
use clap::FromArgMatches;
use console::{note, shown};
use failure::Failure;
use pipe::Pipe;
use ranks::Ranks;
use std::ffi::OsString;

pub use help::command;

fn parse(arguments: &[OsString]) -> Result<Program, clap::Error> {
    Program::from_arg_matches(&command().try_get_matches_from(arguments)?)
}

/// Runs the program with its arguments, the first of which is its name; returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    signal::let_large_writes_fail();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut program = match parse(&arguments) {
        Ok(program) => program,
        // Help and version also arrive here. If they cannot be printed, nothing else can be.
        Err(word) => {
            // The parser's message repeats the arguments; they are escaped, and parsed again.
            let printable: Vec<OsString> = arguments.iter().map(printable).collect();
            let word = parse(&printable).err().unwrap_or(word);
            let _ = word.print();
            return if word.use_stderr() { 2 } else { 0 };
        }
    };
    let ranks = match Ranks::join(&program.command) {
        Ok(ranks) => ranks,
        Err(failure) => {
            if console::speaks() {
                note(&format!("rflvm: {failure}"));
            }
            return failure.exit_code();
        }
    };
    let outcome = Pipe::lay(&mut program.command).and_then(|pipe| {
        answer(&program.command, &ranks)?;
        pipe.map_or(Ok(()), Pipe::print)
    });
    match outcome.and_then(|()| console::check_log()) {
        Ok(()) => 0,
        Err(failure) => {
            let sentence = (!failure.is_silent()).then(|| failure.to_string());
            ranks.abandon(failure.exit_code(), sentence.as_deref());
            failure.exit_code()
        }
    }
}

/// Runs a command.
fn answer(command: &Command, ranks: &Ranks) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Fit(args) => fit::run(args, ranks),
        Command::Map(args) => fit::as_map(args, ranks),
        Command::Compare(args) => compare::run(args),
        Command::Resume(args) => resume::run(args, ranks),
        Command::Summary(args) => summary::run(args),
        Command::Impute(args) => impute::run(args),
        Command::Forecast(args) => forecast::run(args),
        Command::Transform(args) => transform::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Check(args) => check::run(args),
        Command::Distances(args) => distances::run(args),
        Command::Neighbors(args) => distances::neighbors(args),
        Command::Effects(args) => effects::run(args),
        Command::Differences(args) => differences::run(args),
        Command::Groups(args) => groups::run(args),
        Command::Kernel(args) => kernel::run(args),
        Command::Plot(args) => plot::run(args),
        Command::Report(args) => report::run(args),
        Command::Export(args) => export::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man => manual::page(),
    }
}

/// Pictures as JSON, which Python draws: their panels, axes and marks.
pub mod pictures {
    use crate::picture::paths;
    use crate::picture::spec::Picture;
    use rflvm_study::answers::checks::Report;
    use rflvm_study::answers::kernel::Curves;

    fn json(picture: &Picture) -> Result<String, String> {
        serde_json::to_string(picture).map_err(|error| error.to_string())
    }

    /// The learned kernel.
    pub fn kernel(curves: &Curves) -> Result<String, String> {
        json(&crate::kernel::picture(curves))
    }

    /// Posterior predictive checks.
    pub fn checks(report: &Report<'_>) -> Result<String, String> {
        json(&crate::check::report::Shown(report).picture(""))
    }

    /// Values over time, given as JSON.
    pub fn paths(given: &str) -> Result<String, String> {
        json(&paths::picture(&serde_json::from_str(given).map_err(|error| error.to_string())?)?)
    }
}

fn printable(argument: &OsString) -> OsString {
    argument.to_str().map_or_else(|| argument.clone(), |text| shown(text).into_owned().into())
}
