//! The program `rflvm`: what was typed → what it means → run → exit code.

mod args;
mod atomic;
mod demo;
mod failure;
mod fit;
mod output;
mod picture;
mod progress;
mod simulate;
mod table;

use args::{Command, Program};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let program = Program::parse();
    let outcome = match &program.command {
        Command::Demo(args) => demo::run(args),
        Command::Fit(args) => fit::run(args),
        Command::Simulate(args) => simulate::run(args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("rflvm: {failure}");
            failure.exit_code()
        }
    }
}
