//! What can go wrong between a table and its results. Messages mark the names of settings, see [`crate::message`].

use crate::apart::OutputError;
use crate::message::{Naming, render};
use crate::out_dir::OutDirError;
use crate::table::TableError;
use rflvm::internal::atomic::{plain_reason, remedy};
use rflvm::internal::error::{DataError, RunError, SpecError, StoreError};
use std::io;
use std::path::Path;

/// Why a fit cannot be set up, run or queried.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The table was read, but cannot be fitted with these settings.
    #[error("{file}: {}", marked(error))]
    Data {
        /// The table.
        file: String,
        /// What is wrong.
        error: SpecError,
    },
    /// A way of fitting the table, among several, that does not suit it.
    #[error("as {name}: {error}")]
    Candidate {
        /// Its family.
        name: String,
        /// What is wrong.
        error: Box<Error>,
    },
    /// A setting out of its range.
    #[error("{}", marked(.0))]
    Spec(#[from] SpecError),
    /// The output folder cannot be used.
    #[error(transparent)]
    Folder(#[from] OutDirError),
    /// A file must not be replaced.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A file could not be written.
    #[error("{path}: the file cannot be written ({reason}); {remedy}choose another folder with ⟨out⟩")]
    Write {
        /// The file.
        path: String,
        /// The system's message.
        reason: String,
        /// What else can be done.
        remedy: &'static str,
    },
    /// A config file is wrong.
    #[error("{file}: {problem}")]
    Config {
        /// The file.
        file: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The folder already holds a fit.
    #[error(
        "{dir}: the folder already holds a fit; continue it with ⟨resume={dir}⟩, replace it with ⟨overwrite⟩, or choose another folder with ⟨out⟩"
    )]
    Exists {
        /// The folder.
        dir: String,
    },
    /// The folder already holds a point estimate.
    #[error(
        "{dir}: the folder already holds a MAP estimate; replace it with ⟨overwrite⟩, or choose another folder with ⟨out⟩"
    )]
    HoldsMap {
        /// The folder.
        dir: String,
    },
    /// The folder holds a point estimate and no fit.
    #[error(
        "{dir}: the folder holds a MAP estimate, which has no draws; fit the table with ⟨refit={dir}⟩ into another folder"
    )]
    OnlyMap {
        /// The folder.
        dir: String,
    },
    /// The folder holds no fit.
    #[error("{dir}: the folder holds no fit; give the folder that a fit wrote to with ⟨out⟩")]
    NoFit {
        /// The folder.
        dir: String,
    },
    /// A new fit is about to replace an older one.
    #[error(
        "{dir}: a new fit is about to replace the one in this folder and cannot be used yet; wait for it, or, if it was stopped, bring the old one \
         back with ⟨resume={dir}⟩"
    )]
    Replacing {
        /// The folder.
        dir: String,
    },
    /// Stopped before the new fit could replace the old one.
    #[error("stopped before the new fit could be resumed, so the folder still holds the old one: {dir}")]
    NotReplaced {
        /// The folder.
        dir: String,
    },
    /// The fit has no draws yet.
    #[error("{dir}: the fit has no draws yet; wait for it, or continue it with ⟨resume={dir}⟩")]
    NoDraws {
        /// The folder.
        dir: String,
    },
    /// Draws without the checkpoint that belongs to them.
    #[error(
        "{dir}: the folder has {draws} draws of each chain, but checkpoint.bin is missing, so the fit cannot continue from them; \
         restore that file, or start again with ⟨restart={dir}⟩"
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
    /// Not enough memory.
    #[error("{what} needs about {needed} of memory, but only {free} is free; {remedy}")]
    Memory {
        /// What was asked for.
        what: String,
        /// How much it needs, in words.
        needed: String,
        /// How much is free, in words.
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
    /// There is nothing to score.
    #[error("{file}: no missing cell of {table} is known here, so there is nothing to score")]
    NothingRevealed {
        /// The table of true values.
        file: String,
        /// The table of the fit.
        table: String,
    },
    /// True values of another table than that of the fit.
    #[error(
        "{file}: row {row}, column '{column}' is {given}, but {fitted} in the fitted table; give the same rows in the same order (or with \
         ids) and in the same units, and leave cells empty that were observed otherwise"
    )]
    OtherTruth {
        /// The table of true values.
        file: String,
        /// Row, counted from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// What it holds.
        given: f64,
        /// What the table of the fit holds.
        fitted: f64,
    },
    /// True values whose ids are not those of the fit.
    #[error(
        "{file}: the id '{id}' {problem}; give each row of the fit once, or leave the ids out to match rows by position"
    )]
    OtherRow {
        /// The table of true values.
        file: String,
        /// The id.
        id: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// There is nothing to forecast.
    #[error("{dir}: the rows of this fit have no times, so there is nothing to forecast; fit again with ⟨time⟩")]
    Timeless {
        /// The folder.
        dir: String,
    },
    /// Another run is using the folder.
    #[error("{dir}: another rflvm is using this folder; wait for it, stop it, or choose another folder with ⟨out⟩")]
    Busy {
        /// The folder.
        dir: String,
    },
    /// Stopped by Ctrl-C; everything is saved.
    #[error("stopped, with everything saved; continue with ⟨resume={dir}⟩")]
    Interrupted {
        /// The folder.
        dir: String,
    },
    /// A machine that runs a chain, and the one that has the run, do not understand each other.
    #[error("a worker and the client do not understand each other: {problem}")]
    Worker {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Draws or a checkpoint could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Sampling failed.
    #[error("{0}")]
    Run(RunError),
    /// Sampling failed and can be replayed.
    #[error("{error}; the last checkpoint is kept, and ⟨replay={dir}⟩ replays the sweeps that led here")]
    Replayable {
        /// The failure.
        error: RunError,
        /// The folder.
        dir: String,
    },
}

impl Error {
    /// A file that could not be written.
    pub fn unwritten(path: &Path, error: &io::Error) -> Self {
        Error::Write { path: path.display().to_string(), reason: plain_reason(error), remedy: remedy(error) }
    }

    /// A failure in a run whose checkpoints are in `dir`.
    pub fn run_in(error: RunError, dir: &Path) -> Self {
        match error {
            RunError::Numerical { .. } => Error::Replayable { error, dir: dir.display().to_string() },
            other => other.into(),
        }
    }

    /// The error in the terms of a front end.
    pub fn sentence(&self, naming: &dyn Naming) -> String {
        render(&self.to_string(), naming)
    }
}

/// An error of the library, with its setting marked as a noun for [`crate::message`].
fn marked(error: &SpecError) -> String {
    match error {
        SpecError::Setting { setting, value, rule } => format!("⟪{setting}⟫ is {value}, but {rule}"),
        SpecError::Unknown { what, name, known } => format!("unknown ⟪{what}⟫ '{name}'; choose one of {known}"),
        other => other.to_string(),
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Spec(error) => Error::Spec(error),
            RunError::Store(error) => Error::Store(error),
            other => Error::Run(other),
        }
    }
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Error::Spec(error.into())
    }
}
