//! Whether the fit can be trusted: convergence, posterior predictive checks and back-tests, as JSON; and the report.

use crate::answers::Answers;
use crate::error::raised;
use crate::message::Parameters;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rflvm::internal::posterior::convergence::Outcome;
use rflvm::internal::run::Progress;
use rflvm_report::{Image, Subject, html};
use rflvm_study::Error;
use rflvm_study::answers::backtest::{self, Asked};
use rflvm_study::answers::{checks, convergence, positions};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[pymethods]
impl Answers {
    /// The output of the program's `summary --json`, and how many draws per chain should be enough if there are too few.
    fn diagnostics(&self, py: Python<'_>) -> PyResult<String> {
        let report = || convergence::report(&self.fit, &self.drawn, &self.convergence, &Parameters);
        let mut report = py.detach(report).map_err(raised)?;
        report["draws_advised"] = match self.convergence.outcome {
            Outcome::RunLonger { factor } => {
                json!(convergence::draws_advised(self.convergence.draws, factor))
            }
            _ => Value::Null,
        };
        Ok(report.to_string())
    }

    /// The output of the program's `check --json`, with the advice in Python's terms, and its picture.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.query(py, |_, _| checks::checks(&self.fit, &self.drawn, &self.convergence))?;
        let mut told = report.as_json(&Parameters);
        let picture = rflvm_cli::pictures::checks(&report).map_err(PyRuntimeError::new_err)?;
        told["picture"] = serde_json::from_str(&picture).unwrap_or_default();
        Ok(told.to_string())
    }

    /// Scores of forecasts of known rows, and the cells that were forecast.
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
        let scores = backtest::as_json(&backtest::scores(&told, fit));
        Ok(json!({ "scores": scores, "cells": backtest::cells(&told, fit).objects() }).to_string())
    }

    /// The page as text; `labels` replace those of the table, and `image` is the height and the width of rows that are pictures.
    #[pyo3(signature = (*, title=None, labels=None, image=None))]
    fn report(
        &self,
        py: Python<'_>,
        title: Option<String>,
        labels: Option<(String, Vec<String>)>,
        image: Option<(usize, usize)>,
    ) -> PyResult<String> {
        let image = image.map(|(height, width)| Image { height, width });
        self.query(py, |fit, drawn| -> Result<String, Error> {
            let positions = positions::positions(fit, drawn, 1)?;
            let mut subject = Subject::of(fit, (drawn, &self.convergence), &positions, &Parameters)?;
            if let Some((name, labels)) = &labels {
                (subject.rows.label_name, subject.rows.labels) = (name, Some(labels.as_slice()));
            }
            subject.title = title.unwrap_or(subject.title);
            Ok(html(&subject, image)?)
        })
    }
}
