//! How a run of the program can fail, and its exit code.

use crate::message::Flags;
use rflvm::internal::error::{DataError, RunError, SpecError, StoreError};
use rflvm_study::Error;
use rflvm_study::apart::OutputError;
use rflvm_study::out_dir::OutDirError;
use rflvm_study::table::TableError;

/// The exit code of a run that was stopped on request.
pub const STOPPED: u8 = 130;

/// Anything that ends a run. Exit code 2: the input or the command must be corrected. 130: stopped on request. 1: everything else.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An error of the engine.
    #[error("{}", .0.sentence(&Flags))]
    Study(#[from] Error),
    /// Standard output cannot be written.
    #[error("standard output cannot be written ({reason}); {remedy}redirect it elsewhere")]
    Output {
        /// The system's message.
        reason: String,
        /// What else can be done.
        remedy: &'static str,
    },
    /// The reader of standard output has stopped reading, as `head` does; this is not a failure.
    #[error("standard output was closed")]
    PipeClosed,
    /// A comparison was stopped by Ctrl-C; finished fits are saved.
    #[error("stopped; {done} of {all} fits are kept in {dir}, and the same command continues from there")]
    Paused {
        /// The folder.
        dir: String,
        /// Fits that are finished.
        done: usize,
        /// Fits in all.
        all: usize,
    },
    /// A back-test was stopped by Ctrl-C.
    #[error("stopped; a back-test keeps nothing, so the same command starts again from the first origin")]
    Stopped,
    /// Several processes cannot do this together.
    #[error("{problem}")]
    Ranks {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The folder holds a comparison with other settings.
    #[error(
        "{dir}: the folder holds a comparison with {change}; use the original settings, replace it with --overwrite, or choose another folder with --out"
    )]
    Compared {
        /// The folder.
        dir: String,
        /// What is different.
        change: String,
    },
}

impl Failure {
    /// Whether there is nothing to report.
    pub fn is_silent(&self) -> bool {
        matches!(self, Failure::PipeClosed)
    }

    /// The documented exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Study(Error::Interrupted { .. } | Error::NotReplaced { .. })
            | Failure::Paused { .. }
            | Failure::Stopped => STOPPED,
            Failure::PipeClosed => 0,
            Failure::Output { .. }
            | Failure::Study(Error::Write { .. } | Error::Run(_) | Error::Replayable { .. } | Error::Store(_)) => 1,
            _ => 2,
        }
    }
}

macro_rules! of_the_engine {
    ($($type:ty),*) => {
        $(impl From<$type> for Failure {
            fn from(error: $type) -> Self {
                Failure::Study(error.into())
            }
        })*
    };
}
of_the_engine!(SpecError, DataError, RunError, StoreError, TableError, OutDirError, OutputError);
