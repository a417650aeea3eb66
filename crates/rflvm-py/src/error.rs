//! The mapping from the engine's errors to Python's exceptions.

use crate::message::Parameters;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use rflvm::internal::error::{RunError, SpecError, StoreError};
use rflvm_study::Error;
use rflvm_study::table::TableError;

create_exception!(
    rflvm,
    NumericalError,
    PyArithmeticError,
    "A computation that broke down: the step, the sweep, and where."
);

/// The Python exception of an error.
pub fn raised(error: Error) -> PyErr {
    let sentence = error.sentence(&Parameters);
    match error {
        Error::Table(TableError::Missing { .. } | TableError::Unreadable { .. })
        | Error::Folder(_)
        | Error::Write { .. }
        | Error::NoFit { .. }
        | Error::Exists { .. }
        | Error::Output(_)
        | Error::Replacing { .. }
        | Error::NotReplaced { .. }
        | Error::HoldsMap { .. }
        | Error::OnlyMap { .. }
        | Error::Busy { .. }
        | Error::NoCheckpoint { .. }
        | Error::Store(_) => PyOSError::new_err(sentence),
        Error::Worker { .. } => PyRuntimeError::new_err(sentence),
        Error::Memory { .. } => PyMemoryError::new_err(sentence),
        Error::Run(RunError::Numerical { .. }) | Error::Replayable { .. } => NumericalError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// The Python exception of a store that cannot be read.
pub fn store(error: StoreError) -> PyErr {
    raised(error.into())
}

/// The Python exception of a wrong setting.
pub fn spec(error: SpecError) -> PyErr {
    raised(error.into())
}
