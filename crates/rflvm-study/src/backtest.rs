//! Back-testing of a fit's forecasts: what was asked, and the scores as lines of a table.

use crate::cells::number;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::backtest::{Backtest, Held, Request, Stage, backtest};
use rflvm::internal::error::SpecError;
use rflvm::internal::model::latent::TimeKernel;
use rflvm::internal::posterior::outlook::Outlook;
use rflvm::internal::posterior::outlook::Scores;
use rflvm::internal::run::{Progress, Settings};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;

/// Most warm-up sweeps and draws of a fit, unless others are asked for: scores of cells need fewer than intervals do.
pub const SWEEPS: u64 = 300;
/// Default number of rows to forecast.
pub const HORIZON: usize = 5;
/// Names of the leading columns of [`scores`].
pub const HEADER: [&str; 10] =
    ["method", "column", "horizon", "cells", "crps", "mse", "mae", "log_density", "coverage50", "coverage90"];

/// What to back-test; settings that are not given are those of the fit.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Number of origins.
    pub origins: usize,
    /// Rows to forecast from each origin.
    pub horizon: Option<usize>,
    /// Period of the seasonal baseline, in the units of the times; days for dates.
    pub period: Option<f64>,
    /// Warm-up sweeps, and draws, of each fit.
    pub sweeps: Option<u64>,
    /// Kernels over time to compare, by name.
    pub kernels: Vec<String>,
}

/// Fits and forecasts from every origin.
pub fn run(
    fit: &Fit,
    asked: &Asked,
    tell: &mut dyn FnMut(Stage<'_>),
    watch: &(dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync),
) -> Result<Backtest, Error> {
    if fit.timeline.is_none() {
        return Err(Error::Timeless { dir: fit.dir.display().to_string() });
    }
    if asked.sweeps == Some(0) {
        let rule = "each fit needs at least one draw".into();
        return Err(SpecError::Setting { setting: "sweeps", value: "0".into(), rule }.into());
    }
    let kernels = asked.kernels.iter().map(|name| TimeKernel::named(name.trim())).collect::<Result<Vec<_>, _>>()?;
    let own = &fit.settings;
    let (warmup, draws) = asked.sweeps.map_or((own.warmup.min(SWEEPS), own.draws.min(SWEEPS)), |s| (s, s));
    let settings = Settings { warmup, draws, thin: 1, ..own.clone() };
    settings.check()?;
    let request = Request {
        origins: asked.origins,
        horizon: asked.horizon.unwrap_or(HORIZON),
        period: asked.period,
        kernels,
        // Size factors are totals of the rows that are to be forecast.
        offsets: fit.config.offset.as_deref() != Some("size-factors"),
    };
    fit.use_instructions();
    Ok(backtest(&fit.model, &settings, &request, tell, watch)?)
}

/// One line of scores per method: over all cells, by horizon, by column.
pub fn scores(told: &Backtest, fit: &Fit) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    let mut add = |column: &str, horizon: &str, scores: Vec<Scores>| {
        for (method, s) in told.methods.iter().zip(scores).filter(|(_, s)| s.cells > 0) {
            let mut line = vec![method.clone(), column.to_string(), horizon.to_string(), s.cells.to_string()];
            line.extend([s.crps, s.mse, s.mae, s.ln_density.unwrap_or(f64::NAN)].map(number));
            line.extend(s.coverage.map(number));
            lines.push(line);
        }
    };
    add("all", "all", told.scores(|_| true));
    for step in 1..=told.cells.iter().map(|cell| cell.step).max().unwrap_or(0) {
        add("all", &step.to_string(), told.scores(|cell| cell.step == step));
    }
    for (name, &place) in fit.table.columns.iter().zip(&fit.places()) {
        add(name, "all", told.scores(|cell| cell.column == place));
    }
    lines
}

/// The leading columns of [`cells`].
pub const CELLS: [&str; 15] = [
    "origin", "time", "sequence", "row", "column", "horizon", "method", "observed", "mean", "q05", "q25", "q50", "q75",
    "q95", "crps",
];

/// One line per held-out cell and method, columns in the table's order.
pub fn cells(told: &Backtest, fit: &Fit) -> Vec<Vec<String>> {
    let mut order: Vec<&Held> = told.cells.iter().collect();
    order.sort_by_key(|cell| (cell.origin, cell.step, cell.row, fit.model.order()[cell.column]));
    let line = |cell: &Held, method: &String, outlook: &Outlook| {
        let timeline = fit.timeline.as_ref();
        let time = timeline.map_or(String::new(), |t| t.calendar.format(t.times.at[cell.row]));
        let sequence = timeline.and_then(|t| t.names.get(t.times.sequence[cell.row])).cloned().unwrap_or_default();
        let mut line = vec![(cell.origin + 1).to_string(), time, sequence, fit.table.ids[cell.row].clone()];
        line.extend([fit.model.names()[cell.column].clone(), cell.step.to_string(), method.clone()]);
        line.extend([cell.truth, outlook.mean].iter().chain(&outlook.quantiles).map(|&v| number(v)));
        line.push(number(outlook.crps));
        line
    };
    let of = |cell: &&Held| -> Vec<Vec<String>> {
        told.methods.iter().zip(&cell.outlooks).map(|(method, outlook)| line(cell, method, outlook)).collect()
    };
    order.iter().flat_map(of).collect()
}

/// Lines of a table as JSON objects: names and times are text even if they look like numbers, and what is unknown is null.
pub fn as_json(header: &[&str], lines: &[Vec<String>]) -> Value {
    let is_text = |name: &str| ["method", "column", "time", "sequence", "row"].contains(&name);
    let value = |name: &str, text: &String| match (text.parse::<u64>(), text.parse::<f64>()) {
        (Ok(number), _) if !is_text(name) => json!(number),
        (_, Ok(number)) if !is_text(name) => json!(number),
        _ if text.is_empty() => Value::Null,
        _ => json!(text),
    };
    let object = |line: &Vec<String>| -> Map<String, Value> {
        header.iter().zip(line).map(|(name, text)| (name.to_string(), value(name, text))).collect()
    };
    lines.iter().map(|line| Value::Object(object(line))).collect()
}
