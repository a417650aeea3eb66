//! What can go wrong between a table and its answers. Sentences name settings by marks, see [`crate::wording`].

use crate::out_dir::OutDirError;
use crate::table::TableError;
use crate::wording::{Wording, render};
use rflvm::error::{DataError, RunError, SpecError, StoreError};
use std::path::Path;

/// Why a fit cannot be made, run or asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The table was read, but cannot be fitted as asked.
    #[error("{file}: {}", marked(error))]
    Data {
        /// The table.
        file: String,
        /// What is wrong.
        error: SpecError,
    },
    /// A setting out of its range.
    #[error("{}", marked(.0))]
    Spec(#[from] SpecError),
    /// The output folder cannot be used.
    #[error(transparent)]
    Folder(#[from] OutDirError),
    /// A file could not be written.
    #[error("{path}: the file cannot be written ({reason}); free some space or choose another place with ⟨out⟩")]
    Write {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
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
        "{dir}: the folder already holds a fit; continue it with ⟨resume={dir}⟩, replace it with ⟨overwrite⟩, or choose another folder with ⟨out⟩"
    )]
    Exists {
        /// The folder.
        dir: String,
    },
    /// The folder holds a point estimate already.
    #[error(
        "{dir}: the folder already holds a point estimate; replace it with ⟨overwrite⟩, or choose another folder with ⟨out⟩"
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
    #[error("{dir}: the folder holds no fit; name the one given to a fit by ⟨out⟩")]
    NoFit {
        /// The folder.
        dir: String,
    },
    /// The fit has not drawn anything yet.
    #[error("{dir}: the fit has no draws yet; wait for it, or continue it with ⟨resume={dir}⟩")]
    NoDraws {
        /// The folder.
        dir: String,
    },
    /// Draws without the checkpoint that says where they came from.
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
    #[error("{dir}: the rows of this fit have no times, so there is nothing to forecast; fit again with ⟨time⟩")]
    Timeless {
        /// The folder.
        dir: String,
    },
    /// Another run works in the folder.
    #[error(
        "{dir}: another rflvm is at work in this folder; wait for it, stop it, or choose another folder with ⟨out⟩"
    )]
    Busy {
        /// The folder.
        dir: String,
    },
    /// Stopped by Ctrl-C; all is saved.
    #[error("stopped, and saved; continue with ⟨resume={dir}⟩")]
    Interrupted {
        /// The folder.
        dir: String,
    },
    /// Draws or a checkpoint could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Sampling failed.
    #[error("{0}")]
    Run(RunError),
    /// Sampling failed and can be replayed.
    #[error("{error}; the last checkpoint is kept, and ⟨replay={dir}⟩ replays what led here")]
    Replayable {
        /// What broke down.
        error: RunError,
        /// The folder.
        dir: String,
    },
}

impl Error {
    /// What broke down in a run whose checkpoints lie in `dir`.
    pub fn run_in(error: RunError, dir: &Path) -> Self {
        match error {
            RunError::Numerical { .. } => Error::Replayable { error, dir: dir.display().to_string() },
            other => other.into(),
        }
    }

    /// What is wrong and what to do, in the words of whoever shows it.
    pub fn sentence(&self, wording: &dyn Wording) -> String {
        render(&self.to_string(), wording)
    }
}

/// An error of the library, with the setting that it is about as a noun for [`crate::wording`].
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
