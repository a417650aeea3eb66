//! What the program says: sentences on stderr for people, one JSON object a line on stdout for programs.

use crate::args::VoiceArgs;
use serde_json::{Value, json};

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
            eprintln!("{line}");
        }
    }

    /// Something for those who want to know more.
    pub fn detail(&self, line: &str) {
        if self.verbose {
            eprintln!("{line}");
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
            println!("{fields}");
        }
    }
}
