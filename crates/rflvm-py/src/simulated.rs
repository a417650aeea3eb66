//! Simulated tables.

use crate::array::{Array, array, matrix};
use crate::error::{raised, spec};
use crate::memory::check_memory;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rflvm::internal::error::RunError;
use rflvm::internal::model::family::Trials;
use rflvm::internal::rng::Stream;
use rflvm::internal::simulate;
use rflvm_study::Error;

/// The S-curve of the paper, as in `rflvm simulate`: the table N×J, the true positions N×2, and the position along the S.
#[pyfunction]
#[pyo3(signature = (rows, columns, likelihood, *, trials=None, seed=1))]
pub fn s_curve(
    py: Python<'_>,
    rows: usize,
    columns: usize,
    likelihood: &str,
    trials: Option<u32>,
    seed: u64,
) -> PyResult<(Array, Array, Array)> {
    if rows < 2 || columns < 2 {
        return Err(PyValueError::new_err(format!(
            "an S-curve of {rows} rows × {columns} columns has too few; it must have at least 2 of each"
        )));
    }
    // The positions, the functions and the table are in memory at the same time.
    check_memory(rows, columns.saturating_mul(3))?;
    let has_trials = rflvm::internal::spec::about(likelihood).map_err(spec)?.cells.have_trials();
    let own = has_trials.then(|| Trials::Same(trials.unwrap_or(1)));
    let family = rflvm::internal::spec::family(likelihood, own).map_err(spec)?;
    let stream = Stream::new(seed).named("simulate");
    let broken = |source| raised(Error::Run(RunError::Numerical { chain: 0, sweep: 0, source }));
    let draw = || simulate::example(rows, columns, family.as_ref(), trials.unwrap_or(100), stream);
    let (curve, _) = py.detach(draw).map_err(broken)?;
    Ok((matrix(py, &curve.y)?, matrix(py, &curve.x)?, array(py, curve.t, &[rows])?))
}
