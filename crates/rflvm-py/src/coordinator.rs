//! A run whose chains are advanced by workers, such as those of a Dask cluster: Python carries the messages.

use crate::error::raised;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rflvm_study::Error;
use rflvm_study::coordinator::{self, Place};
use std::sync::{Mutex, MutexGuard};

/// Such a run.
#[pyclass(module = "rflvm._native", frozen)]
pub struct Coordinator {
    coordinator: Mutex<coordinator::Coordinator>,
}

impl Coordinator {
    pub fn of(coordinator: coordinator::Coordinator) -> Self {
        Coordinator { coordinator: Mutex::new(coordinator) }
    }

    /// Does something with the run, with the GIL released.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(MutexGuard<'_, coordinator::Coordinator>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let held = || self.coordinator.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        py.detach(|| act(held())).map_err(raised)
    }
}

#[pymethods]
impl Coordinator {
    /// Whether the chains have been started.
    fn is_started(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |coordinator| Ok(coordinator.is_started()))
    }

    /// Takes the chains as a worker has started them.
    fn started(&self, py: Python<'_>, message: &[u8]) -> PyResult<()> {
        self.with(py, |mut coordinator| coordinator.started(message))
    }

    /// The message with which a worker continues a chain; None while it waits for others, and at its end.
    fn next<'py>(&self, py: Python<'py>, chain: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.with(py, |coordinator| coordinator.next(chain))?.map(|message| PyBytes::new(py, &message)))
    }

    /// Takes a chain after a segment, with its draws. Returns whether chains have met, and those that waited can go on.
    fn take(&self, py: Python<'_>, chain: usize, message: &[u8]) -> PyResult<bool> {
        self.with(py, |mut coordinator| coordinator.take(chain, message))
    }

    /// Whether all chains are done.
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |coordinator| Ok(coordinator.is_finished()))
    }

    /// Writes the draws so far, and the checkpoint.
    fn save(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |mut coordinator| coordinator.save())
    }

    /// Completes a run whose chains are done.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |coordinator| coordinator.finish())
    }

    /// For each chain: sweeps done, sweeps in all, whether it is in warm-up, log-likelihood, clusters of frequencies.
    fn progress(&self, py: Python<'_>) -> PyResult<Vec<Place>> {
        self.with(py, |coordinator| Ok(coordinator.progress()))
    }
}
