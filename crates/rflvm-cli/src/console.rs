//! The program's output: messages on stderr for people, one JSON object per line on stdout for programs.

use crate::failure::Failure;
use crate::message::Flags;
use rflvm::internal::atomic::{plain_reason, remedy};
use rflvm_study::message::render;
use rflvm_study::note::Note;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prints a line of a result on stdout. A failure loses no results, but must be reported.
pub fn tell(line: &str) -> Result<(), Failure> {
    print(&shown(line))
}

/// Prints one JSON object on stdout.
pub fn tell_json(object: &Value) -> Result<(), Failure> {
    print(&object.to_string())
}

/// Prints a text on stdout unchanged; it must not include user input, cells or file names.
pub fn print(text: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{text}").map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::PipeClosed,
        _ => Failure::Output { reason: plain_reason(&error), remedy: remedy(&error) },
    })
}

/// Prints a message of one line on stderr. If that fails, there is no way to report it.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{}", shown(line));
}

/// Variables by which launchers tell a process its number.
const RANKS: [&str; 2] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"];

/// Whether this process speaks for those that were started with it, before they are connected.
pub fn speaks() -> bool {
    RANKS.iter().find_map(|name| std::env::var(name).ok()).is_none_or(|rank| rank == "0")
}

/// A line that is safe for a terminal. Names of files, columns and rows can contain anything, and a terminal executes escape sequences: control
/// characters are escaped (`\u{1b}`, `\n`), and so are characters that break a line or change the direction of reading.
pub fn shown(line: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| {
        c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !line.contains(is_harmful) {
        return line.into();
    }
    let mut out = String::with_capacity(line.len() + 8);
    for c in line.chars() {
        // Writing to memory does not fail.
        let _ = if is_harmful(c) { write!(out, "{}", c.escape_default()) } else { write!(out, "{c}") };
    }
    out.into()
}

/// The first failure to print an event.
static LOST: Mutex<Option<Failure>> = Mutex::new(None);

fn lost() -> MutexGuard<'static, Option<Failure>> {
    LOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fails if events could not be printed.
pub fn check_log() -> Result<(), Failure> {
    lost().take().map_or(Ok(()), Err)
}

/// How much to print, and in which form.
#[derive(Debug, Clone, Copy, Default)]
pub struct Console {
    /// JSON on stdout.
    pub json: bool,
    /// Errors only.
    pub quiet: bool,
    /// Everything.
    pub verbose: bool,
}

impl Console {
    /// Prints a note: not for programs.
    pub fn say(&self, line: &str) {
        if !self.quiet && !self.json {
            note(line);
        }
    }

    /// Prints a detail, if verbose.
    pub fn detail(&self, line: &str) {
        if self.verbose {
            note(line);
        }
    }

    /// Prints a warning about the results.
    pub fn warn(&self, message: &str) {
        if !self.quiet {
            note(&format!("warning: {message}"));
        }
        self.event("warning", json!({ "message": message }));
    }

    /// Prints a warning about how the data were read, even if quiet.
    pub fn insist(&self, message: &str) {
        Console { quiet: false, ..*self }.warn(message);
    }

    /// Prints a note of the engine.
    pub fn notes(&self, notes: &[Note]) {
        for note in notes {
            let text = render(&note.text, &Flags);
            if note.is_warning { self.warn(&text) } else { self.say(&text) }
        }
    }

    /// An event with its fields.
    pub fn event(&self, name: &str, fields: Value) {
        if !self.quiet {
            self.answer(name, fields);
        }
    }

    /// The last event, even if quiet.
    pub fn answer(&self, name: &str, mut fields: Value) {
        if self.json {
            fields["event"] = json!(name);
            // A run continues without its log, and fails in the end.
            if let Err(failure) = tell_json(&fields) {
                lost().get_or_insert(failure);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_terminal_receives_no_control_characters() {
        assert_eq!(shown("a\u{1b}[31m\nb\tc\u{9b}\u{7f}"), "a\\u{1b}[31m\\nb\\tc\\u{9b}\\u{7f}");
        assert_eq!(shown("abc\u{202e}cba"), "abc\\u{202e}cba");
        assert_eq!(shown("größe, 面, R̂ ± 1"), "größe, 面, R̂ ± 1");
    }
}
