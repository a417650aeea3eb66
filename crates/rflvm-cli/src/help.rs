//! The program's definition, and its help: commands by what a person wants to do.

use crate::args::Program;
use clap::{Command, CommandFactory};

/// What a person wants to do, and the commands for it.
pub const GROUPS: [(&str, &[&str]); 5] = [
    ("Start", &["demo", "doctor", "simulate"]),
    ("Fit", &["fit", "resume"]),
    ("Judge", &["summary", "check", "compare"]),
    (
        "Use",
        &[
            "impute",
            "forecast",
            "transform",
            "predict",
            "distances",
            "neighbors",
            "effects",
            "differences",
            "groups",
            "kernel",
        ],
    ),
    ("Share", &["report", "plot", "export", "man", "completions"]),
];

/// The program's definition: its commands and their flags.
pub fn command() -> Command {
    let mut command = Program::command();
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}", groups(&command));
    command = command.help_template(template);
    command.build();
    command
}

/// The commands with what they do, in groups.
fn groups(program: &Command) -> String {
    let about = |name: &str| {
        let about = program.find_subcommand(name).and_then(Command::get_about);
        about.map_or_else(String::new, |about| about.to_string())
    };
    let group = |(title, names): (&str, &[&str])| {
        let lines: String = names.iter().map(|name| format!("  {name:<12} {}\n", about(name))).collect();
        format!("{title}:\n{lines}\n")
    };
    GROUPS.map(group).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let program = command();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        let mut all: Vec<&str> = shown.map(Command::get_name).filter(|name| *name != "help").collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        let help = program.clone().render_help().to_string();
        let places: Vec<usize> = GROUPS.iter().map(|(title, _)| help.find(&format!("\n{title}:\n")).unwrap()).collect();
        assert!(places.is_sorted(), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
