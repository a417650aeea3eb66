//! Back-testing of forecasts with rolling origins: the model is fitted to the rows before an origin, and its forecasts of the rows after
//! it are compared with those of simple baselines.
//!
//! Every fit begins afresh. A start from the fit of all rows would be cheaper, but a short chain remembers its start, which knows the
//! rows that are to be forecast.

mod baseline;
mod origins;
mod score;
#[cfg(test)]
mod tests;

pub use baseline::{Baseline, LINE};
pub use origins::{Ahead, Origin, origins};

use crate::draws::Memory;
use crate::error::{DataError, RunError, SpecError};
use crate::model::latent::{Form, TimeKernel};
use crate::model::{Model, ModelSpec};
use crate::posterior::Posterior;
use crate::posterior::fitted::DRAWS;
use crate::posterior::forecast::{NewTime, no_times};
use crate::posterior::outlook::{self, Outlook};
use crate::run::{Progress, Settings, run};
use std::ops::ControlFlow;

/// What to back-test.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Number of origins.
    pub origins: usize,
    /// Rows of a sequence to forecast from each origin.
    pub horizon: usize,
    /// The period of the seasonal baseline, in units of the times; without it there is no such baseline.
    pub period: Option<f64>,
    /// Kernels over time to compare; the one of the model if empty.
    pub kernels: Vec<TimeKernel>,
    /// Whether the offsets of later rows are known when they are forecast; otherwise they have the mean offset of earlier rows.
    pub offsets: bool,
}

/// A cell after an origin, with the forecast of each method.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The origin, counted from 0.
    pub origin: usize,
    /// Rows from the origin, counted from 1.
    pub step: usize,
    /// Its row.
    pub row: usize,
    /// Its column in the model.
    pub column: usize,
    /// Its value.
    pub truth: f64,
    /// What each method foretold.
    pub outlooks: Vec<Outlook>,
}

/// Forecasts of all methods from all origins.
#[derive(Debug, Clone, PartialEq)]
pub struct Backtest {
    /// Names of the methods: the model, or one per kernel over time, followed by the baselines.
    pub methods: Vec<String>,
    /// All cells, by origin, then by row, then by column.
    pub cells: Vec<Held>,
    /// The unit of each column's scores: the standard deviation of its observed cells.
    pub units: Vec<f64>,
}

/// The fit that is about to start.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// Its number, counted from 1.
    pub number: usize,
    /// Number of fits.
    pub all: usize,
    /// Rows that it sees.
    pub rows: usize,
    /// Its name among the methods.
    pub method: &'a str,
}

/// Fits and forecasts from every origin. `tell` hears of each fit before it starts; `watch` sees every sweep and may stop the run, which
/// is then an error. One map of each fit is sampled.
pub fn backtest(
    model: &Model,
    settings: &Settings,
    request: &Request,
    tell: &mut dyn FnMut(Stage<'_>),
    watch: &(dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync),
) -> Result<Backtest, RunError> {
    let times = model.dynamics().ok_or_else(no_times)?.times();
    let origins = origins(times, request.origins, request.horizon)?;
    let baselines = Baseline::all(times, &origins, request.period)?;
    let fits: Vec<(String, ModelSpec)> = match &request.kernels[..] {
        [] => vec![("model".into(), model.spec().clone())],
        kernels => {
            kernels.iter().map(|&kernel| (kernel.name().into(), with_kernel(model, kernel, request.period))).collect()
        }
    };
    fits.iter().try_for_each(|(_, spec)| spec.time.check().and_then(|()| spec.check_season()))?;
    let settings = Settings { modes: 1, chains: settings.chains_per_mode(), ..settings.clone() };
    // Whatever cannot be fitted is refused before the first fit.
    for origin in &origins {
        model.only(&origin.train, model.spec().clone()).map_err(before_origin)?;
    }
    let mut cells: Vec<Held> = Vec::new();
    for (number, origin) in origins.iter().enumerate() {
        let begin = cells.len();
        for Ahead { row, step, .. } in &origin.test {
            let seen = (0..model.columns()).filter(|&j| !model.y()[(*row, j)].is_nan());
            cells.extend(seen.map(|column| {
                let (truth, outlooks) = (model.y()[(*row, column)], Vec::new());
                Held { origin: number, step: *step, row: *row, column, truth, outlooks }
            }));
        }
        for (place, (method, spec)) in fits.iter().enumerate() {
            let stage = number * fits.len() + place + 1;
            tell(Stage { number: stage, all: origins.len() * fits.len(), rows: origin.train.len(), method });
            let found = forecast(model, spec.clone(), &settings, origin, request.offsets, watch)?;
            let found = found.into_iter().flatten().flatten();
            cells[begin..].iter_mut().zip(found).for_each(|(cell, outlook)| cell.outlooks.push(outlook));
        }
        baseline::add(&baselines, model, origin, &mut cells[begin..]);
    }
    let methods = fits.into_iter().map(|(name, _)| name).chain(baselines.iter().map(|b| b.name().to_string()));
    Ok(Backtest { methods: methods.collect(), cells, units: outlook::units(model) })
}

fn with_kernel(model: &Model, kernel: TimeKernel, period: Option<f64>) -> ModelSpec {
    let mut spec = model.spec().clone();
    let is_seasonal = kernel.is_seasonal() || spec.column_process.is_some_and(TimeKernel::is_seasonal);
    spec.time.period = spec.time.period.or(period).filter(|_| is_seasonal);
    if !kernel.is_markov() && spec.time.form == Form::StateSpace {
        spec.time.form = Form::Automatic;
    }
    spec.time.kernel = kernel;
    spec
}

/// The rows before the first origin may lack what the whole table has.
fn before_origin(error: SpecError) -> SpecError {
    match error {
        SpecError::Data(DataError::MissingColumn { column }) => SpecError::Setting {
            setting: "backtest",
            value: "given".into(),
            rule: format!(
                "column '{column}' has no observed cell before one of the origins; leave the column out, or ask for fewer origins or a shorter horizon"
            ),
        },
        other => other,
    }
}

/// The fit before one origin, and what it foretells.
fn forecast(
    model: &Model,
    spec: ModelSpec,
    settings: &Settings,
    origin: &Origin,
    offsets: bool,
    watch: &(dyn Fn(Progress<'_>) -> ControlFlow<()> + Sync),
) -> Result<Vec<Vec<Option<Outlook>>>, RunError> {
    let times = model.dynamics().ok_or_else(no_times)?.times();
    let before = model.only(&origin.train, spec)?;
    let usual = before.offset().iter().sum::<f64>() / before.rows() as f64;
    let rows: Vec<usize> = origin.test.iter().map(|ahead| ahead.row).collect();
    let offset: Vec<f64> = rows.iter().map(|&n| if offsets { model.offset()[n] } else { usual }).collect();
    let moment = |(&n, &offset): (&usize, &f64)| {
        let covariates = model.covariates().row(n).to_vec();
        NewTime { time: times.at[n], sequence: times.sequence[n], offset, covariates }
    };
    let moments: Vec<NewTime> = rows.iter().zip(&offset).map(moment).collect();
    let after =
        before.with_rows(&model.table_of(&rows), (offset, model.covariates_of(&rows)), model.families_of(&rows))?;
    let chains = run(&before, settings, |_| Memory::default(), watch)?;
    let posterior = Posterior::new(before, chains, settings.seed)?;
    crate::run::pool(settings)?.install(|| posterior.fitted("backtest").outlooks(&moments, &after, DRAWS))
}
