//! Posterior predictive checks: a few statistics of the table, and of tables that the fit generates.

use crate::number::{number, numbers};
use crate::subject::Subject;
use rflvm::internal::error::RunError;
use rflvm_study::check::Report;
use serde_json::{Value, json};

/// Cells × tables that are generated: a fraction of a second; and for the fewest tables that are useful, about a second.
const WORK: usize = 3_000_000;
const MOST: usize = 20_000_000;
/// Tables at most.
const TABLES: usize = 200;
/// With fewer tables, p-values mean little.
const LEAST: usize = 20;

/// One entry per statistic, with its value in every generated table.
pub fn section(subject: &Subject<'_>) -> Result<Value, RunError> {
    let model = subject.fitted.model;
    let cells = model.rows() * model.columns();
    if cells * LEAST > MOST {
        return Ok(json!({ "absent": "the table is large, so checks take a while: run `rflvm check`" }));
    }
    let checks = subject.fitted.check((WORK / cells).clamp(LEAST, TABLES))?;
    let report =
        Report { checks: &checks, conflicts: &[], model, convergence: subject.convergence, began: subject.began };
    let mut told = report.as_json(subject.naming);
    for (check, told) in checks.iter().zip(told["checks"].as_array_mut().into_iter().flatten()) {
        told["replicated"] = numbers(&check.replicated);
        told["range"] = check.observed_interval().map(number).into();
    }
    Ok(told)
}
