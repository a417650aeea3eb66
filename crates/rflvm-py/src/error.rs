//! One map from the program's failures to Python's exceptions; the sentences are the same, but for names that only the program has.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyOSError, PyValueError};
use rflvm::error::{RunError, SpecError, StoreError};
use rflvm_cli::failure::Failure;
use rflvm_cli::table::TableError;

create_exception!(
    rflvm,
    NumericalError,
    PyArithmeticError,
    "A computation that broke down: the step, the sweep, and where."
);

/// What the program calls otherwise than Python: flags, and settings by which sentences begin.
const WORDS: [(&str, &str); 19] = [
    ("--overwrite", "overwrite=True"),
    ("go on with it by `rflvm resume ", "go on with it by resume() or `rflvm resume "),
    ("with --out", "with store"),
    ("by --out", "by store, or by `--out`"),
    ("--offset size-factors", "offset=\"size-factors\""),
    ("--length-scale", "length_scale"),
    ("length-scale is", "length_scale is"),
    ("look at `rflvm summary`", "look at diagnostics_"),
    ("--latent-dim", "n_components"),
    ("latent-dim is", "n_components is"),
    ("--features", "n_features"),
    ("features is", "n_features is"),
    ("--sequence", "sequences"),
    ("--time", "times"),
    ("threads is", "n_jobs is"),
    ("--start", "start"),
    ("--keep", "keep"),
    ("--trials", "trials"),
    ("--rows", "rows"),
];

/// A sentence in Python's words.
pub fn in_python(sentence: &str) -> String {
    WORDS.iter().fold(sentence.to_string(), |sentence, (program, python)| sentence.replace(program, python))
}

/// What a failure is in Python.
pub fn raised(failure: Failure) -> PyErr {
    let sentence = in_python(&failure.to_string());
    match failure {
        Failure::Table(TableError::Missing { .. } | TableError::Unreadable { .. })
        | Failure::Folder(_)
        | Failure::Write { .. }
        | Failure::NoFit { .. }
        | Failure::Exists { .. }
        | Failure::HoldsMap { .. }
        | Failure::OnlyMap { .. }
        | Failure::Busy { .. }
        | Failure::NoCheckpoint { .. }
        | Failure::Store(_) => PyOSError::new_err(sentence),
        Failure::Memory { .. } => PyMemoryError::new_err(sentence),
        Failure::Run(RunError::Numerical { .. }) | Failure::Replayable { .. } => NumericalError::new_err(sentence),
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
