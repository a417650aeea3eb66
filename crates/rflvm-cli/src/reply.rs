//! The answer of a command: lines for people, one JSON object with --json, and nothing with --quiet.

use crate::args::ReplyArgs;
use crate::console::{Console, tell, tell_json};
use crate::failure::Failure;
use serde_json::{Value, json};
use std::path::Path;

/// How to answer.
#[derive(Debug, Clone, Copy)]
pub struct Reply {
    pub json: bool,
    quiet: bool,
    is_piped: bool,
}

impl From<&ReplyArgs> for Reply {
    fn from(args: &ReplyArgs) -> Self {
        Reply { json: args.json, quiet: args.quiet, is_piped: args.is_piped }
    }
}

impl Reply {
    /// For what is said besides the answer, on stderr.
    pub fn console(self) -> Console {
        Console { quiet: self.quiet, ..Console::default() }
    }

    /// For progress, which a program does not read.
    pub fn progress(self) -> Console {
        Console { quiet: self.quiet || self.json, ..Console::default() }
    }

    /// Prints a line for people.
    pub fn line(self, line: &str) -> Result<(), Failure> {
        if self.json || self.quiet || self.is_piped { Ok(()) } else { tell(line) }
    }

    /// Prints the object for programs.
    pub fn object(self, object: &Value) -> Result<(), Failure> {
        if self.json { tell_json(object) } else { Ok(()) }
    }

    /// Says which files were written.
    pub fn files<P: AsRef<Path>>(self, files: &[P], line: &str) -> Result<(), Failure> {
        self.line(line)?;
        self.object(&json!({ "files": names(files) }))
    }
}

/// Names of files for an object.
pub fn names<P: AsRef<Path>>(files: &[P]) -> Vec<String> {
    files.iter().map(|file| file.as_ref().display().to_string()).collect()
}
