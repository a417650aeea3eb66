//! Checks the memory that an array needs before allocating it: a failed allocation would end the interpreter.

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use rflvm_study::bytes::{free, in_words};

/// Always granted, so that small queries stay quick.
const SMALL: u128 = 64 << 20;

/// Checks that this many numbers of eight bytes fit into free memory; `what` describes them.
pub fn check(numbers: u128, what: impl Fn() -> String, remedy: &str) -> PyResult<()> {
    let bytes = numbers.saturating_mul(8);
    if bytes <= SMALL {
        return Ok(());
    }
    match free() {
        Some(free) if bytes > free => {
            let (needed, free) = (in_words(bytes), in_words(free));
            Err(PyMemoryError::new_err(format!(
                "{} take {needed}, but only {free} of memory is free; {remedy}",
                what()
            )))
        }
        _ => Ok(()),
    }
}

/// Checks that a table fits into memory; raises MemoryError if not.
#[pyfunction]
pub fn check_memory(rows: usize, columns: usize) -> PyResult<()> {
    let what = || format!("{rows} rows × {columns} columns, as a table of numbers,");
    check(rows as u128 * columns as u128, what, "take fewer rows or columns")
}

/// Checks that a result of this shape fits into memory; raises MemoryError if not.
pub fn check_answer(shape: &[usize]) -> PyResult<()> {
    let what = || format!("{} numbers", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × "));
    check(shape.iter().map(|&n| n as u128).product(), what, "ask for fewer draws, rows or columns at a time")
}
