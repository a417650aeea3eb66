//! How a run of the program can fail, and the exit code that says so.

use crate::atomic::DirError;
use crate::table::TableError;
use rflvm::error::{DataError, RunError, SpecError, StoreError};
use std::path::Path;
use thiserror::Error;

/// Anything that ends a run. Exit code 2: the input or the command must change. 130: stopped on request. 1: everything else.
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
    /// Standard output cannot be written.
    #[error("standard output cannot be written ({reason}); send it elsewhere, or free some space")]
    Output {
        /// The system's words.
        reason: String,
    },
    /// Whoever reads standard output has had enough, as `head` does; that is no failure.
    #[error("standard output was closed")]
    PipeClosed,
    /// A file of settings is wrong.
    #[error("{file}: {problem}")]
    Config {
        /// The file.
        file: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The folder holds a fit already.
    #[error(
        "{dir}: the folder already holds a fit; go on with it by `rflvm resume {dir}`, replace it with --overwrite, or choose another folder with --out"
    )]
    Exists {
        /// The folder.
        dir: String,
    },
    /// The folder holds a point estimate already.
    #[error(
        "{dir}: the folder already holds a point estimate; replace it with --overwrite, or choose another folder with --out"
    )]
    HoldsMap {
        /// The folder.
        dir: String,
    },
    /// The folder holds a point estimate and no fit.
    #[error(
        "{dir}: the folder holds a point estimate of `rflvm map`, which has no draws; fit the table with `rflvm fit --config {dir}/config.toml` into another folder"
    )]
    OnlyMap {
        /// The folder.
        dir: String,
    },
    /// The folder holds no fit.
    #[error("{dir}: the folder holds no fit; name the one that was given to `rflvm fit` by --out")]
    NoFit {
        /// The folder.
        dir: String,
    },
    /// The fit has not drawn anything yet.
    #[error("{dir}: the fit has no draws yet; wait for it, or go on with it by `rflvm resume {dir}`")]
    NoDraws {
        /// The folder.
        dir: String,
    },
    /// Draws without the checkpoint that says where they came from.
    #[error(
        "{dir}: the folder has {draws} draws of each chain, but checkpoint.bin is missing, so the fit cannot go on from them; \
         restore that file, or start again with `rflvm fit --config {dir}/config.toml --out {dir} --overwrite`"
    )]
    NoCheckpoint {
        /// The folder.
        dir: String,
        /// Draws of each chain.
        draws: usize,
    },
    /// A part of a fit that belongs to another run than the rest.
    #[error("{path}: {problem}")]
    Foreign {
        /// The part.
        path: String,
        /// What differs, and what to do.
        problem: String,
    },
    /// More memory than there is.
    #[error("{what} needs about {needed} of memory, and {free} is free; {remedy}")]
    Memory {
        /// What was asked for.
        what: String,
        /// How much it needs, in words.
        needed: String,
        /// How much there is, in words.
        free: String,
        /// What to do.
        remedy: &'static str,
    },
    /// There is nothing to impute.
    #[error("{file}: no cell of the table is missing, so there is nothing to impute")]
    Complete {
        /// The table.
        file: String,
    },
    /// There is nothing to forecast.
    #[error("{dir}: the rows of this fit have no times, so there is nothing to forecast; fit again with --time")]
    Timeless {
        /// The folder.
        dir: String,
    },
    /// Another run works in the folder.
    #[error(
        "{dir}: another rflvm is at work in this folder; wait for it, stop it, or choose another folder with --out"
    )]
    Busy {
        /// The folder.
        dir: String,
    },
    /// Stopped by Ctrl-C; all is saved.
    #[error("stopped, and saved; go on with: rflvm resume {dir}")]
    Interrupted {
        /// The folder.
        dir: String,
    },
    /// A comparison was stopped by Ctrl-C; what was finished is saved.
    #[error("stopped; {done} of {all} fits are kept in {dir}, and the same command goes on from there")]
    Paused {
        /// The folder.
        dir: String,
        /// Fits that are finished.
        done: usize,
        /// Fits in all.
        all: usize,
    },
    /// The folder holds a comparison with other settings.
    #[error(
        "{dir}: the folder holds a comparison with {change}; use what it began with, replace it with --overwrite, or choose another folder with --out"
    )]
    Compared {
        /// The folder.
        dir: String,
        /// What is different.
        change: String,
    },
    /// A candidate that the table cannot have.
    #[error("as {name}: {failure}")]
    Candidate {
        /// Its family.
        name: String,
        /// What is wrong.
        failure: Box<Failure>,
    },
    /// Draws or a checkpoint could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Sampling failed.
    #[error("{0}")]
    Run(RunError),
    /// Sampling failed and can be replayed.
    #[error("{error}; the last checkpoint is kept, and `rflvm resume {dir} --debug` replays what led here")]
    Replayable {
        /// What broke down.
        error: RunError,
        /// The folder.
        dir: String,
    },
}

impl Failure {
    /// What broke down in a run whose checkpoints lie in `dir`.
    pub fn run_in(error: RunError, dir: &Path) -> Self {
        match error {
            RunError::Numerical { .. } => Failure::Replayable { error, dir: dir.display().to_string() },
            other => other.into(),
        }
    }

    /// Whether there is nothing to say about it.
    pub fn is_silent(&self) -> bool {
        matches!(self, Failure::PipeClosed)
    }

    /// The documented exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Interrupted { .. } | Failure::Paused { .. } => crate::stop::EXIT_CODE,
            Failure::PipeClosed => 0,
            Failure::Write { .. }
            | Failure::Output { .. }
            | Failure::Run(_)
            | Failure::Replayable { .. }
            | Failure::Store(_) => 1,
            _ => 2,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Spec(error) => Failure::Spec(error),
            RunError::Store(error) => Failure::Store(error),
            other => Failure::Run(other),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Failure::Spec(error.into())
    }
}
