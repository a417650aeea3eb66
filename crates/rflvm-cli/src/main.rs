//! The program `rflvm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    rflvm_cli::run(std::env::args_os()).into()
}
