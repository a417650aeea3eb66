//! Completions and the manual page, generated from the arguments that are parsed.

use crate::args::Program;
use crate::console::print;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_complete::Shell;

/// Prints completions.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Program::command(), "rflvm", &mut text);
    print(String::from_utf8_lossy(&text).trim_end())
}

/// Prints the manual page: the program, then each of its commands.
pub fn page() -> Result<(), Failure> {
    let mut text = Vec::new();
    let program = crate::command();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(program.clone()).render(&mut text);
    for command in program.get_subcommands().filter(|c| c.get_name() != "help") {
        let _ = clap_mangen::Man::new(command.clone()).render(&mut text);
    }
    print(String::from_utf8_lossy(&text).trim_end())
}
