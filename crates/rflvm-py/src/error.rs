//! One map from the engine's errors to Python's exceptions.

use crate::wording::Parameters;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyOSError, PyValueError};
use rflvm::error::{RunError, SpecError, StoreError};
use rflvm_study::Error;
use rflvm_study::table::TableError;

create_exception!(
    rflvm,
    NumericalError,
    PyArithmeticError,
    "A computation that broke down: the step, the sweep, and where."
);

/// What an error is in Python.
pub fn raised(error: Error) -> PyErr {
    let sentence = error.sentence(&Parameters);
    match error {
        Error::Table(TableError::Missing { .. } | TableError::Unreadable { .. })
        | Error::Folder(_)
        | Error::Write { .. }
        | Error::NoFit { .. }
        | Error::Exists { .. }
        | Error::HoldsMap { .. }
        | Error::OnlyMap { .. }
        | Error::Busy { .. }
        | Error::NoCheckpoint { .. }
        | Error::Store(_) => PyOSError::new_err(sentence),
        Error::Memory { .. } => PyMemoryError::new_err(sentence),
        Error::Run(RunError::Numerical { .. }) | Error::Replayable { .. } => NumericalError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// The same of what a question to a fit runs into.
pub fn run(error: RunError) -> PyErr {
    raised(error.into())
}

/// The same of a store that cannot be read.
pub fn store(error: StoreError) -> PyErr {
    raised(error.into())
}

/// The same of a setting.
pub fn spec(error: SpecError) -> PyErr {
    raised(error.into())
}
