//! Whether the fit can be trusted: convergence, and posterior predictive checks.

use crate::answers::Answers;
use crate::error::raised;
use crate::message::Parameters;
use pyo3::prelude::*;
use rflvm::internal::posterior::check::{REPLICATES, VISITED};
use rflvm::internal::posterior::convergence::Outcome;
use rflvm::internal::posterior::fitted::Fitted;
use rflvm_study::check::Report;
use rflvm_study::convergence::{self, Began};
use serde_json::{Value, json};

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

    /// The output of the program's `check --json`, with the columns by name and the advice in Python's terms.
    fn check(&self, py: Python<'_>) -> PyResult<String> {
        let of = |fitted: &Fitted<'_>| Ok((fitted.check(REPLICATES)?, fitted.conflicts(VISITED)?));
        let (checks, conflicts) = self.query(py, "check", of)?;
        let model = &self.fit.model;
        let (convergence, began) = (&self.convergence, Began::of(&self.fit.dir));
        let report = Report { checks: &checks, conflicts: &conflicts, model, convergence, began };
        let mut report = report.as_json(&Parameters);
        for (line, check) in report["checks"].as_array_mut().into_iter().flatten().zip(&checks) {
            let columns = model.blocks()[check.block].columns.clone();
            line["names"] = columns.map(|j| self.fit.table.columns[model.order()[j]].as_str()).collect();
        }
        Ok(report.to_string())
    }
}
