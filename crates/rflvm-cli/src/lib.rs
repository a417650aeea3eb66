//! The program `rflvm` as a library: what was typed → what it means → run → exit code.
//!
//! The program is `main.rs`, which calls [`run`]. The Python package is built on the same parts: [`config`] (all settings of a fit),
//! [`fit`] (a fit in its folder), [`sample`] (sampling into it), and the questions that a fit can be asked.

// Both panic where they cannot write; `voice` does not.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod answer;
pub mod args;
mod atomic;
pub mod axes;
pub mod blocks;
mod cells;
pub mod check;
mod compare;
pub mod config;
mod demo;
mod doctor;
pub mod drawn;
mod export;
pub mod failure;
mod families;
pub mod fit;
pub mod folder;
pub mod forecast;
pub mod identity;
mod impute;
pub mod kernel;
mod labels;
pub mod latent_dim;
pub mod listing;
mod manual;
pub mod map;
pub mod memory;
mod output;
pub mod pace;
mod picture;
pub mod predict;
mod progress;
pub mod results;
pub mod resume;
pub mod sample;
mod shell;
pub mod simulate;
mod stop;
pub mod summary;
pub mod table;
pub mod time_scales;
pub mod times;
pub mod transform;
pub mod voice;

use args::{Command, Program};
use clap::Parser;
use std::ffi::OsString;
use voice::{note, shown};

/// Runs the program with its arguments, of which the first is its name; returns its exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let program = match Program::try_parse_from(&arguments) {
        Ok(program) => program,
        // Help and the version come this way too. Where they cannot be printed, nothing else can be.
        Err(word) => {
            // The parser repeats what was typed; it is asked again with what a terminal may show.
            let word = Program::try_parse_from(arguments.iter().map(printable)).err().unwrap_or(word);
            let _ = word.print();
            return if word.use_stderr() { 2 } else { 0 };
        }
    };
    let outcome = match &program.command {
        Command::Demo(args) => demo::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Map(args) => map::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Resume(args) => resume::run(args),
        Command::Summary(args) => summary::run(args),
        Command::Impute(args) => impute::run(args),
        Command::Forecast(args) => forecast::run(args),
        Command::Transform(args) => transform::run(args),
        Command::Predict(args) => predict::run(args),
        Command::Check(args) => check::run(args),
        Command::Kernel(args) => kernel::run(args),
        Command::Export(args) => export::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man => manual::page(),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => {
            if !failure.is_silent() {
                note(&format!("rflvm: {failure}"));
            }
            failure.exit_code()
        }
    }
}

fn printable(argument: &OsString) -> OsString {
    argument.to_str().map_or_else(|| argument.clone(), |text| shown(text).into_owned().into())
}
