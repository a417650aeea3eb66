//! The engine behind the Python package: a private module, `rflvm._native`, which `python/rflvm` wraps.
//!
//! Data flow one way: `values` takes a table in, `fit` checks and samples it in the background (`job`), `answers` holds the
//! draws, and `query` has the queries. Everything comes from `rflvm-study`, as in the program, so both give the same fit.

// User input must never cause a panic.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)]

mod answers;
mod array;
mod comparison;
mod coordinator;
mod error;
mod fit;
mod job;
mod kinds;
mod memory;
mod message;
mod query;
mod rows;
mod settings;
mod simulated;
mod values;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm_study::table::joined_times as joined;
use std::ffi::OsString;
use std::path::Path;

/// Runs the program `rflvm` with its arguments, the first of which is its name; returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| rflvm_cli::run(arguments))
}

/// A picture of values over time, from JSON to JSON.
#[pyfunction]
fn picture_over_time(given: &str) -> PyResult<String> {
    rflvm_cli::pictures::paths(given).map_err(PyValueError::new_err)
}

/// The canonical name of a likelihood.
#[pyfunction]
fn canonical(name: &str) -> PyResult<&'static str> {
    rflvm::internal::spec::canonical(name).map_err(error::spec)
}

/// Times in several columns as one text per row.
#[pyfunction]
fn joined_times(names: Vec<String>, cells: Vec<Vec<String>>) -> PyResult<Vec<String>> {
    let cells: Vec<&[String]> = cells.iter().map(Vec::as_slice).collect();
    joined(Path::new("times"), &names, &cells).map_err(|e| error::raised(e.into()))
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::answers::Answers;
    #[pymodule_export]
    use super::canonical;
    #[pymodule_export]
    use super::comparison::Comparison;
    #[pymodule_export]
    use super::coordinator::Coordinator;
    #[pymodule_export]
    use super::error::NumericalError;
    #[pymodule_export]
    use super::fit::Fit;
    #[pymodule_export]
    use super::job::Job;
    #[pymodule_export]
    use super::joined_times;
    #[pymodule_export]
    use super::kinds::Kinds;
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::memory::check_memory;
    #[pymodule_export]
    use super::picture_over_time;
    #[pymodule_export]
    use super::rows::NewRows;
    #[pymodule_export]
    use super::settings::{priors, settings};
    #[pymodule_export]
    use super::simulated::s_curve;
    #[pymodule_export]
    use super::values::Values;
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;
    use rflvm::internal::model::family::{Cells, REGISTRY};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let named = |are: fn(Cells) -> bool| {
            let names: Vec<&str> = REGISTRY.iter().filter(|about| are(about.cells)).map(|about| about.name).collect();
            PyTuple::new(module.py(), names)
        };
        module.add("COUNTS", named(Cells::are_counts)?)?;
        module.add("CATEGORIES", named(Cells::may_be_text)?)?;
        module.add("LEVELS", named(Cells::are_levels)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
