//! Predictions at new times.

use crate::answers::Answers;
use crate::array::Array;
use crate::error::raised;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rflvm::internal::error::RunError;
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::forecast::NewTime;
use rflvm::internal::run::Progress;
use rflvm_study::backtest::{self, Asked, as_json};
use rflvm_study::future::{When, moments};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[pymethods]
impl Answers {
    /// New times: as written, with their sequences, and 5×K×J; or `count` futures, count×K×J.
    #[pyo3(signature = (*, times=None, horizon=None, sequence=None, covariates=Vec::new(), count=0))]
    fn forecast(
        &self,
        py: Python<'_>,
        times: Option<Vec<String>>,
        horizon: Option<usize>,
        sequence: Option<&str>,
        covariates: Vec<String>,
        count: usize,
    ) -> PyResult<(Vec<String>, Vec<String>, Array)> {
        let Some(timeline) = &self.fit.timeline else {
            return Err(PyValueError::new_err(
                "the rows of this fit have no times, so there is nothing to forecast; fit again with times",
            ));
        };
        let when = match (times, horizon) {
            (Some(times), None) => {
                let parse = |time: &String| timeline.calendar.parse(time).map_err(PyValueError::new_err);
                When::At(times.iter().map(parse).collect::<PyResult<Vec<f64>>>()?)
            }
            (None, Some(steps)) => When::Beyond(steps),
            _ => return Err(PyValueError::new_err("give either times or a horizon, but not both")),
        };
        let offset = self.fit.mean_offset().unwrap_or(0.0);
        let covariates = self.fit.covariates_set(&covariates).map_err(|e| raised(e.into()))?;
        let moments: Vec<NewTime> = moments(when, sequence, timeline, (offset, &covariates)).map_err(raised)?;
        let written = moments.iter().map(|m| timeline.calendar.format(m.time)).collect();
        let name = |m: &NewTime| timeline.names.get(m.sequence).cloned().unwrap_or_default();
        let sequences = moments.iter().map(name).collect();
        if count == 0 {
            self.check_predicted(moments.len())?;
            let cells = self.query(py, "forecast", |fitted| fitted.forecast(&moments, DRAWS))?;
            return Ok((written, sequences, self.predicted(py, &cells)?));
        }
        self.check_tables(count, moments.len())?;
        let mut numbers = Vec::new();
        let answer = |fitted: &Fitted<'_>| -> Result<(), RunError> {
            fitted.futures(&moments, count, |_, table| {
                self.add(table, &mut numbers);
                Ok(())
            })
        };
        self.query(py, "forecast", answer)?;
        Ok((written, sequences, self.tables(py, numbers, count, moments.len())?))
    }

    /// Scores of forecasts of known rows, and the cells that were forecast, as JSON.
    #[pyo3(signature = (origins, *, horizon=None, period=None, sweeps=None, kernels=Vec::new()))]
    fn backtest(
        &self,
        py: Python<'_>,
        origins: usize,
        horizon: Option<usize>,
        period: Option<f64>,
        sweeps: Option<u64>,
        kernels: Vec<String>,
    ) -> PyResult<String> {
        let asked = Asked { origins, horizon, period, sweeps, kernels };
        let (fit, is_stopped) = (&self.fit, AtomicBool::new(false));
        let watch = |_: Progress<'_>| match is_stopped.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        // Only the main thread hears Ctrl-C, so another one works.
        let told = py.detach(|| {
            thread::scope(|scope| {
                let work = scope.spawn(|| backtest::run(fit, &asked, &mut |_| (), &watch).map_err(raised));
                while !work.is_finished() {
                    thread::sleep(Duration::from_millis(20));
                    if let Err(signal) = Python::attach(|py| py.check_signals()) {
                        is_stopped.store(true, Ordering::Relaxed);
                        return Err(signal);
                    }
                }
                work.join().unwrap_or_else(|_| Err(PyRuntimeError::new_err("the back-test broke down")))
            })
        })?;
        let (scores, cells) = (backtest::scores(&told, fit), backtest::cells(&told, fit));
        let (scores, cells) = (as_json(&backtest::HEADER, &scores), as_json(&backtest::CELLS, &cells));
        Ok(serde_json::json!({ "scores": scores, "cells": cells }).to_string())
    }
}
