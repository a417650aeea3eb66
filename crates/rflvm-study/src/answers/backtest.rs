//! Back-testing of a fit's forecasts: what was asked, and the scores as lines of a table.

use super::{Answer, Column, OF_COLUMN, of_scores};
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::backtest::{Backtest, Held, Request, Stage, backtest};
use rflvm::internal::error::SpecError;
use rflvm::internal::model::latent::TimeKernel;
use rflvm::internal::posterior::outlook::Outlook;
use rflvm::internal::posterior::outlook::Scores;
use rflvm::internal::run::{Progress, Settings};
use serde_json::Value;
use std::ops::ControlFlow;

/// Most warm-up sweeps and draws of a fit, unless others are asked for: scores of cells need fewer than intervals do.
pub const SWEEPS: u64 = 300;
/// Default number of rows to forecast.
pub const HORIZON: usize = 5;
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
pub fn scores(told: &Backtest, fit: &Fit) -> Answer {
    let (mut lines, mut all) = (Vec::new(), Vec::new());
    let mut add = |column: &str, horizon: &str, scores: Vec<Scores>| {
        for (method, scores) in told.methods.iter().zip(scores).filter(|(_, s)| s.cells > 0) {
            lines.push([method.clone(), column.to_string(), horizon.to_string()]);
            all.push(scores);
        }
    };
    add("all", "all", told.scores(|_| true));
    for step in 1..=told.cells.iter().map(|cell| cell.step).max().unwrap_or(0) {
        add("all", &step.to_string(), told.scores(|cell| cell.step == step));
    }
    for (name, &place) in fit.table.columns.iter().zip(&fit.places()) {
        add(name, "all", told.scores(|cell| cell.column == place));
    }
    let names = ["method", "column", "horizon"].into_iter().enumerate();
    let texts = |i: usize| lines.iter().map(|line| line[i].clone()).collect();
    let mut columns: Vec<Column> = names.map(|(i, name)| Column::texts(name, texts(i))).collect();
    columns.extend(of_scores(&all, ["coverage50", "coverage90"]));
    Answer { columns }
}

/// Scores as one object per line, whose horizon is a number unless it is all of them.
pub fn as_json(scores: &Answer) -> Vec<Value> {
    let mut objects = scores.objects();
    for horizon in objects.iter_mut().map(|object| &mut object["horizon"]) {
        if let Some(steps) = horizon.as_str().and_then(|text| text.parse::<u64>().ok()) {
            *horizon = steps.into();
        }
    }
    objects
}

/// One line per held-out cell and method, columns in the table's order.
pub fn cells(told: &Backtest, fit: &Fit) -> Answer {
    let mut order: Vec<&Held> = told.cells.iter().collect();
    order.sort_by_key(|cell| (cell.origin, cell.step, cell.row, fit.model.order()[cell.column]));
    let lines: Vec<(&Held, &String, &Outlook)> = order
        .iter()
        .flat_map(|&cell| told.methods.iter().zip(&cell.outlooks).map(move |(method, outlook)| (cell, method, outlook)))
        .collect();
    let timeline = fit.timeline.as_ref();
    let time = |n: usize| timeline.map_or(String::new(), |t| t.calendar.format(t.times.at[n]));
    let sequence = |n: usize| timeline.and_then(|t| t.names.get(t.times.sequence[n])).cloned().unwrap_or_default();
    let texts = |name: &str, part: &dyn Fn(&Held) -> String| {
        Column::texts(name, lines.iter().map(|line| part(line.0)).collect())
    };
    let mut columns = vec![
        Column::counts("origin", lines.iter().map(|line| line.0.origin + 1).collect()),
        texts("time", &|cell| time(cell.row)),
        texts("sequence", &|cell| sequence(cell.row)),
        texts("row", &|cell| fit.table.ids[cell.row].clone()),
        texts("column", &|cell| fit.model.names()[cell.column].clone()),
        Column::counts("horizon", lines.iter().map(|line| line.0.step).collect()),
        Column::texts("method", lines.iter().map(|line| line.1.clone()).collect()),
        Column::of("observed", OF_COLUMN, &lines, |line| line.0.truth),
        Column::of("mean", OF_COLUMN, &lines, |line| line.2.mean),
    ];
    for (i, name) in ["q05", "q25", "q50", "q75", "q95"].into_iter().enumerate() {
        columns.push(Column::of(name, OF_COLUMN, &lines, |line| line.2.quantiles[i]));
    }
    columns.push(Column::of("crps", OF_COLUMN, &lines, |line| line.2.crps));
    Answer { columns }
}
