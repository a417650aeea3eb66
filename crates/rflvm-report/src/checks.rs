//! Posterior predictive checks: a few statistics of the table, and of tables that the fit generates.

use crate::number::{number, numbers};
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm_study::answers::checks::report;
use rflvm_study::answers::stream;
use serde_json::{Value, json};

/// Cells of the largest table that is checked here: its replicated tables take some seconds.
const MOST: usize = 1_000_000;

/// One entry per statistic, with its value in every replicated table.
pub fn section(subject: &Subject<'_>) -> Result<Value, RunError> {
    let model = subject.fitted.model;
    if model.rows() * model.columns() > MOST {
        return Ok(json!({ "absent": "the table is large, so checks take a while: run `rflvm check`" }));
    }
    let report = report(&subject.asked(stream::CHECKS), model, subject.convergence, subject.began)?;
    let mut told = report.as_json(subject.naming);
    for (check, told) in report.checks.iter().zip(told["checks"].as_array_mut().into_iter().flatten()) {
        told["replicated"] = numbers(&check.replicated);
        told["range"] = check.observed_interval().map(number).into();
    }
    Ok(told)
}
