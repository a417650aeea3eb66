//! What the program says: sentences on stderr for people, one JSON object per line on stdout for programs.

use crate::args::VoiceArgs;
use crate::failure::Failure;
use crate::wording::Flags;
use rflvm::atomic::plain_reason;
use rflvm_study::note::Note;
use rflvm_study::wording::render;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};

/// Prints a line of an answer on stdout. Nothing that the program computes is lost where this fails, but the user must hear of it.
pub fn tell(line: &str) -> Result<(), Failure> {
    print(&shown(line))
}

/// Prints one JSON object on stdout.
pub fn tell_json(object: &Value) -> Result<(), Failure> {
    print(&object.to_string())
}

/// Prints a text on stdout as it is: one that no user, table or file name has a word in.
pub fn print(text: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{text}").map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::PipeClosed,
        _ => Failure::Output { reason: plain_reason(&error) },
    })
}

/// Prints a remark of one line on stderr. Where that is impossible there is nobody to tell.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{}", shown(line));
}

/// A line as a terminal may show it. Names of files, columns and rows can hold anything, and a terminal obeys what it is sent: control
/// characters are written out (`\u{1b}`, `\n`), and so are characters that break a line or turn the direction of reading.
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

/// How much to say, and to whom.
#[derive(Debug, Clone, Copy, Default)]
pub struct Voice {
    /// JSON on stdout.
    pub json: bool,
    /// Errors only.
    pub quiet: bool,
    /// Everything.
    pub verbose: bool,
}

impl From<&VoiceArgs> for Voice {
    fn from(args: &VoiceArgs) -> Self {
        Voice { json: args.json, quiet: args.quiet, verbose: args.verbose }
    }
}

impl Voice {
    /// Something worth knowing.
    pub fn say(&self, line: &str) {
        if !self.quiet && !self.json {
            note(line);
        }
    }

    /// Something for those who want to know more.
    pub fn detail(&self, line: &str) {
        if self.verbose {
            note(line);
        }
    }

    /// Something that may spoil the result.
    pub fn warn(&self, message: &str) {
        self.say(&format!("warning: {message}"));
        self.event("warning", json!({ "message": message }));
    }

    /// What the engine has to say.
    pub fn notes(&self, notes: &[Note]) {
        for note in notes {
            let text = render(&note.text, &Flags);
            if note.is_warning { self.warn(&text) } else { self.say(&text) }
        }
    }

    /// An event with its fields.
    pub fn event(&self, name: &str, mut fields: Value) {
        if self.json {
            fields["event"] = json!(name);
            // A run goes on without its log.
            let _ = tell_json(&fields);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_terminal_is_sent_no_orders() {
        assert_eq!(shown("a\u{1b}[31m\nb\tc\u{9b}\u{7f}"), "a\\u{1b}[31m\\nb\\tc\\u{9b}\\u{7f}");
        assert_eq!(shown("abc\u{202e}cba"), "abc\\u{202e}cba");
        assert_eq!(shown("größe, 面, R̂ ± 1"), "größe, 面, R̂ ± 1");
    }
}
