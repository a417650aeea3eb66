//! How a run of the program can fail, and the exit code that says so.

use crate::atomic::DirError;
use crate::table::TableError;
use rflvm::error::{DataError, RunError, SpecError};
use std::process::ExitCode;
use thiserror::Error;

/// Anything that ends a run. Exit code 2: the input or the command must change. Exit code 1: everything else.
#[derive(Debug, Error)]
pub enum Failure {
    /// The table could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The table was read, but cannot be fitted as asked.
    #[error("{file}: {error}")]
    Data {
        /// The table.
        file: String,
        /// What is wrong.
        error: SpecError,
    },
    /// A setting out of its range.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The output folder cannot be used.
    #[error(transparent)]
    Folder(#[from] DirError),
    /// A file could not be written.
    #[error("{path}: the file cannot be written ({reason}); free some space or choose another place with --out")]
    Write {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
    /// Sampling failed.
    #[error("{0}")]
    Run(RunError),
}

impl Failure {
    /// The documented exit code.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Write { .. } | Failure::Run(_) => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Spec(error) => Failure::Spec(error),
            other => Failure::Run(other),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Failure::Spec(error.into())
    }
}
