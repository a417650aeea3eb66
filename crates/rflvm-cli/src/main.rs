//! The program `rflvm`: what was typed → what it means → run → exit code.

mod answer;
mod args;
mod atomic;
mod axes;
mod blocks;
mod check;
mod compare;
mod config;
mod demo;
mod doctor;
mod drawn;
mod export;
mod failure;
mod fit;
mod forecast;
mod impute;
mod kernel;
mod latent_dim;
mod manual;
mod map;
mod output;
mod picture;
mod predict;
mod progress;
mod results;
mod resume;
mod sample;
mod simulate;
mod stop;
mod summary;
mod table;
mod time_scales;
mod times;
mod transform;
mod voice;

use args::{Command, Program};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let program = Program::parse();
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
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("rflvm: {failure}");
            failure.exit_code()
        }
    }
}
