//! Errors, one enum per layer: data, specification, numerics, files.

use crate::atomic;
use std::io;
use std::path::Path;
use thiserror::Error;

/// A table that the model cannot accept.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DataError {
    /// No rows or no columns.
    #[error(
        "the table has {rows} rows and {columns} columns; at least 2 rows and 1 column are needed, one row per sample: transpose the table if its columns are the samples"
    )]
    Empty {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A cell outside the support of its family.
    #[error("row {row}, column '{column}': {value} {problem}")]
    Support {
        /// Row, counted from 1.
        row: usize,
        /// Name of the column.
        column: String,
        /// The value.
        value: f64,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A column with no observed cell.
    #[error("column '{column}' has no observed cell; leave it out")]
    MissingColumn {
        /// Name of the column.
        column: String,
    },
    /// A multinomial row that is neither observed nor missing as a whole.
    #[error(
        "row {row}: a multinomial row must be observed or missing as a whole, but some of its cells are missing; fill them in or clear the row"
    )]
    PartialRow {
        /// Row, counted from 1.
        row: usize,
    },
    /// A multinomial row without any count.
    #[error(
        "row {row}: all counts of this multinomial row are zero, so it has no trials; drop the row, or clear it to mark it missing"
    )]
    ZeroRow {
        /// Row, counted from 1.
        row: usize,
    },
    /// Two shapes that should agree but do not.
    #[error("{what} has shape {found}, but the data need {expected}")]
    Shape {
        /// What was given.
        what: &'static str,
        /// Its shape.
        found: String,
        /// The required shape.
        expected: String,
    },
    /// An invalid time, or times that carry no information.
    #[error("{place}: {problem}")]
    Time {
        /// Row, counted from 1.
        place: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// An offset or exposure that is not a finite number.
    #[error("row {row}: {problem}")]
    Offset {
        /// Row, counted from 1.
        row: usize,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A covariate that is missing, or that the fit does not know.
    #[error("{place}: {problem}")]
    Covariate {
        /// Where it is.
        place: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}

/// A model or run that cannot be set up as requested.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SpecError {
    /// The data do not fit the families.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A setting out of its range.
    #[error("{setting} is {value}, but {rule}")]
    Setting {
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The rule it breaks, and what to do.
        rule: String,
    },
    /// An unknown name.
    #[error("unknown {what} '{name}'; choose one of {known}")]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The known names.
        known: String,
    },
}

/// A computation that failed: the step, and where.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum NumericalError {
    /// A precision matrix that stayed indefinite after all attempts with jitter.
    #[error(
        "{step}: a {size}×{size} precision matrix is not positive definite (pivot {pivot}) even after adding {jitter:e} to its diagonal"
    )]
    NotPositiveDefinite {
        /// The step of the sweep.
        step: &'static str,
        /// Order of the matrix.
        size: usize,
        /// First pivot that failed.
        pivot: usize,
        /// The last jitter tried.
        jitter: f64,
    },
    /// A log density that is not finite at the current state.
    #[error("{step}: the log density of the current state is {value} at {place}")]
    NotFinite {
        /// The step of the sweep.
        step: &'static str,
        /// The value found.
        value: f64,
        /// Row, column or frequency.
        place: String,
    },
    /// A device that stopped working.
    #[error(
        "{name} stopped working ({reason}); continue there or with --device cpu: a fit can be resumed, a point estimate starts again"
    )]
    Device {
        /// Its name.
        name: String,
        /// What it said.
        reason: String,
    },
}

/// A store of draws or a checkpoint that cannot be written or read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StoreError {
    /// The file could not be written.
    #[error("{path}: the file cannot be written ({reason}); {remedy}choose another place")]
    Write {
        /// The file.
        path: String,
        /// The system's message.
        reason: String,
        /// What to do, where the message shows it.
        remedy: &'static str,
    },
    /// The file could not be read.
    #[error("{path}: the file cannot be read ({reason})")]
    Read {
        /// The file.
        path: String,
        /// The system's message.
        reason: String,
    },
    /// The file exists, but its contents are damaged.
    #[error("{path}: {problem}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}

impl StoreError {
    /// A file that could not be written.
    pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Self {
        StoreError::Write {
            path: path.display().to_string(),
            reason: atomic::plain_reason(error),
            remedy: atomic::remedy(error),
        }
    }
}

/// A run that failed: during set-up or in a sweep.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RunError {
    /// The run could not be set up.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A sweep failed.
    #[error("chain {chain}, sweep {sweep}: {source}")]
    Numerical {
        /// Chain, counted from 1.
        chain: usize,
        /// Sweep, counted from 1 (warm-up included).
        sweep: u64,
        /// What failed.
        source: NumericalError,
    },
    /// Draws could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The caller asked to stop.
    #[error("stopped on request after {sweep} sweeps")]
    Stopped {
        /// Number of sweeps done.
        sweep: u64,
    },
}

impl From<DataError> for RunError {
    fn from(error: DataError) -> Self {
        RunError::Spec(error.into())
    }
}
