//! A comparison of several ways to fit a table in memory; Python says where each fit runs.

use crate::error::raised;
use crate::message::Parameters;
use crate::rows::{Known, mat, table};
use crate::values::Values;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use rflvm::internal::run::Progress;
use rflvm_study::blocks::Given;
use rflvm_study::column_families::ColumnFamilies;
use rflvm_study::comparison::{self, Piece};
use rflvm_study::message::render;
use rflvm_study::sample::Follow;
use rflvm_study::{Config, Error};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

/// Such a comparison, checked.
#[pyclass(module = "rflvm._native", frozen)]
pub struct Comparison {
    comparison: comparison::Comparison,
    is_stopped: AtomicBool,
}

impl Follow for Comparison {
    fn see(&self, _progress: Progress<'_>) {}

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

#[pymethods]
impl Comparison {
    /// Of a table as for `Fit`; `plan` is what differs between the candidates, and what is held out, as JSON.
    #[new]
    #[pyo3(signature = (values, columns, named, settings, plan, *, families=None, trials=None, ids=None, offset=None, times=None, sequences=None, covariates=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        values: &Bound<'_, Values>,
        columns: Vec<String>,
        named: bool,
        settings: &str,
        plan: &str,
        families: Option<Vec<[String; 4]>>,
        trials: Option<PyReadonlyArray2<'_, f64>>,
        ids: Option<Vec<String>>,
        offset: Option<Vec<f64>>,
        times: Option<Vec<String>>,
        sequences: Option<Vec<String>>,
        covariates: Option<Vec<Vec<String>>>,
    ) -> PyResult<Self> {
        let unread = |error: serde_json::Error| PyValueError::new_err(error.to_string());
        let config = serde_json::from_str::<Config>(settings).map_err(unread)?.filled();
        let plan = serde_json::from_str(plan).map_err(unread)?;
        let column_families =
            families.map(|lines| ColumnFamilies::of("likelihood", lines)).transpose().map_err(raised)?;
        let given = Given { column_families, trials: trials.as_ref().map(mat) };
        let known = Known { ids, offset, times, sequences, covariates };
        let table = table(&mut values.borrow_mut(), columns, named, known)?;
        let checked = || comparison::Comparison::new(config, &given, &plan, |_| Ok(table));
        Ok(Comparison { comparison: py.detach(checked).map_err(raised)?, is_stopped: AtomicBool::new(false) })
    }

    /// All fits, in words.
    fn tasks(&self) -> Vec<String> {
        self.comparison.tasks().iter().map(comparison::Task::words).collect()
    }

    /// Fits and scores, with other `threads` unless they are 0: the scores as JSON, or None if a stop was requested.
    fn run(&self, py: Python<'_>, task: usize, threads: usize) -> PyResult<Option<String>> {
        let tasks = self.comparison.tasks();
        let task = tasks.get(task).ok_or_else(|| PyIndexError::new_err(format!("there is no fit {task}")))?;
        let threads = Some(threads).filter(|threads| *threads > 0);
        let piece = py.detach(|| self.comparison.run(task, threads, self)).map_err(raised)?;
        Ok(piece.map(|piece| serde_json::to_string(&piece).unwrap_or_default()))
    }

    /// Asks fits to stop after the current sweep.
    fn cancel(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// The candidates, best first, from the scores of all fits: as JSON.
    fn ranked(&self, scores: Vec<String>) -> PyResult<String> {
        let read = |text: &String| serde_json::from_str::<Piece>(text);
        let pieces = scores.iter().map(read).collect::<Result<Vec<Piece>, _>>();
        let pieces = pieces.map_err(|error| raised(Error::Worker { problem: error.to_string() }))?;
        let ranked = self.comparison.ranked(&pieces).map_err(raised)?;
        let mut answer = ranked.answer();
        let warnings: Vec<String> = ranked.warnings().iter().map(|warning| render(warning, &Parameters)).collect();
        (answer["warnings"], answer["lines"]) = (json!(warnings), json!(ranked.short()));
        Ok(answer.to_string())
    }
}
