//! What the program says: sentences on stderr for people, one JSON object a line on stdout for programs.

use crate::args::VoiceArgs;
use crate::failure::Failure;
use rflvm::atomic::plain_reason;
use serde_json::{Value, json};
use std::io::{self, ErrorKind, Write};

/// Prints a line of an answer on stdout. Nothing that the program computes is lost where this fails, but the user must hear of it.
pub fn tell(line: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{line}").map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::PipeClosed,
        _ => Failure::Output { reason: plain_reason(&error) },
    })
}

/// Prints a remark on stderr. Where that is impossible there is nobody to tell.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
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

    /// An event with its fields.
    pub fn event(&self, name: &str, mut fields: Value) {
        if self.json {
            fields["event"] = json!(name);
            // A run goes on without its log.
            let _ = tell(&fields.to_string());
        }
    }
}
