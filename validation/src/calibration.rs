//! Do intervals have their nominal coverage? Tables are drawn from the model, a fifth of their cells are hidden, and a chain is run on
//! the rest; the truth then generates a second table. If the model and the sampler are right, the rank of a cell of the second table
//! among draws of its posterior predictive distribution is uniform, whether the cell was hidden in the first or observed, so that 50%
//! and 90% intervals cover 50% and 90% of the cells.
//!
//! Discrete cells tie with draws. Ranks among ties are random (a randomised probability integral transform), so that they are uniform
//! for counts too; an interval of whole numbers could not cover exactly 90%.
//!
//! Posterior predictive checks of the first table: under the true parameters their p-values are uniform; under the posterior, which has
//! seen the table, they are small no more often than their nominal level.

use rand::RngExt;
use rayon::prelude::*;
use rflvm::internal::error::RunError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Family, Trials, Unit};
use rflvm::internal::model::latent::{Form, TimeKernel, TimeSpec};
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::{Observations, Times};
use rflvm::internal::posterior::check::Checks;
use rflvm::internal::posterior::parameters::Parameters;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Settings;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::table::Host;
use rflvm::internal::{simulate, spec};
use std::sync::Arc;

/// A kind of table.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The family of all columns.
    pub family: &'static str,
    /// Kernel and representation of the paths; `None` if rows have no times.
    pub paths: Option<(TimeKernel, Form)>,
}

/// A proportion over all tables.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Its nominal value.
    pub nominal: f64,
    /// Its estimate.
    pub found: f64,
    /// Its standard error over tables.
    pub error: f64,
    /// The same if all values were independent: a lower bound, since few tables may agree by chance.
    pub independent: f64,
}

impl Share {
    /// Deviation from the nominal value, in standard errors.
    pub fn above(&self) -> f64 {
        (self.found - self.nominal) / self.error.max(self.independent)
    }
}

/// Results for a kind of table.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// The kind of table.
    pub name: String,
    /// Coverage of hidden cells by central intervals.
    pub hidden: Vec<Share>,
    /// Coverage of new replicates of observed cells.
    pub again: Vec<Share>,
    /// Proportions of p-values below 0.05 and 0.5 under the true parameters.
    pub exact: Vec<Share>,
    /// Proportion of p-values below 0.05 under the posterior: at most the nominal one, since the data are used twice.
    pub small: Share,
}

/// Effort of a validation run.
#[derive(Debug, Clone, Copy)]
pub struct Tables {
    /// Number of tables of each kind.
    pub count: usize,
    /// Warm-up sweeps, and as many kept.
    pub sweeps: u64,
}

/// For routine tests.
pub const FAST: Tables = Tables { count: 10, sweeps: 100 };
/// At full power: the standard error is then about one percentage point. All kinds take about three minutes on one core.
pub const REAL: Tables = Tables { count: 60, sweeps: 100 };

const ROWS: usize = 40;
const COLUMNS: usize = 6;
const LEVELS: [f64; 2] = [0.5, 0.9];
/// A small p-value.
const SMALL: f64 = 0.05;
/// Number of tables drawn from the true parameters.
const REPLICATES: u64 = 200;
/// Trials of a binomial cell, and of a multinomial row.
const TRIALS: u32 = 7;

/// Every family with independent rows, D = 2; and with rows in time, families with and without parameters and the three
/// representations of the paths.
pub fn kinds() -> Vec<Kind> {
    let timed = [
        ("gaussian", TimeKernel::Rbf, Form::Dense),
        ("gaussian", TimeKernel::Matern32, Form::StateSpace),
        ("poisson", TimeKernel::Rbf, Form::Inducing),
        ("negative-binomial", TimeKernel::Matern52, Form::StateSpace),
    ];
    let timed = timed.into_iter().map(|(family, kernel, form)| Kind { family, paths: Some((kernel, form)) });
    spec::FAMILIES.into_iter().map(|family| Kind { family, paths: None }).chain(timed).collect()
}

impl Kind {
    /// Its name.
    pub fn name(&self) -> String {
        match self.paths {
            None => self.family.into(),
            Some((kernel, form)) => format!("{}, {} {form:?}", self.family, kernel.name()),
        }
    }

    fn spec(&self) -> ModelSpec {
        let mut spec = ModelSpec { features: 20, ..ModelSpec::default() };
        spec.priors.intercept = 0.5;
        if let Some((kernel, form)) = self.paths {
            spec.time = TimeSpec { kernel, form, inducing: 12, ..TimeSpec::default() };
        }
        spec
    }

    /// A model whose priors do not depend on the data.
    fn model(&self, y: Mat, family: &Arc<dyn Family>, at: &[f64]) -> Result<Model, RunError> {
        let mut data = Observations::new(y)?;
        if self.paths.is_some() {
            data = data.with_times(Times::new(at.to_vec()))?;
        }
        let mut model = Model::with_blocks(data, vec![((0..COLUMNS).collect(), family.clone())], self.spec())?;
        model.set_units(vec![Unit::new(0.0, 1.0); COLUMNS]);
        Ok(model)
    }
}

/// The coverage of one kind.
pub fn coverage(kind: Kind, tables: Tables, seed: u64) -> Result<Coverage, RunError> {
    let name = kind.name();
    let stream = Stream::new(seed).named(&name);
    let of_table = |i: usize| places(kind, tables.sweeps, stream.at(i as u64));
    let places: Vec<Places> = (0..tables.count).into_par_iter().map(of_table).collect::<Result<_, _>>()?;
    let levels = |of: fn(&Places) -> &[f64]| {
        let level = |level: f64| share(level, &places, of, |u| (u - 0.5).abs() < 0.5 * level);
        LEVELS.map(level).to_vec()
    };
    let exact = [SMALL, 0.5].map(|level| share(level, &places, |p| &p.exact, |p| p < level)).to_vec();
    let small = share(SMALL, &places, |p| &p.posterior, |p| p < SMALL);
    Ok(Coverage { name, hidden: levels(|p| &p.hidden), again: levels(|p| &p.again), exact, small })
}

/// The proportion of values that are `inside`, table by table.
fn share(nominal: f64, places: &[Places], of: fn(&Places) -> &[f64], inside: impl Fn(f64) -> bool) -> Share {
    let values: Vec<Vec<f64>> = places.iter().map(|p| of(p).to_vec()).collect();
    share_of(nominal, &values, inside)
}

/// The proportion of values that are `inside`, over tables of values.
pub(crate) fn share_of(nominal: f64, tables: &[Vec<f64>], inside: impl Fn(f64) -> bool) -> Share {
    let shares: Vec<f64> = tables
        .iter()
        .filter(|values| !values.is_empty())
        .map(|values| values.iter().filter(|v| inside(**v)).count() as f64 / values.len() as f64)
        .collect();
    let count = shares.len() as f64;
    let found = shares.iter().sum::<f64>() / count;
    let square = shares.iter().map(|s| (s - found).powi(2)).sum::<f64>() / (count - 1.0);
    let values = tables.iter().map(Vec::len).sum::<usize>() as f64;
    Share { nominal, found, error: (square / count).sqrt(), independent: (nominal * (1.0 - nominal) / values).sqrt() }
}

/// For one table: the rank of each cell of the second table among its predictive draws, scaled to [0, 1], and the p-values of checks of the first.
struct Places {
    hidden: Vec<f64>,
    again: Vec<f64>,
    exact: Vec<f64>,
    posterior: Vec<f64>,
}

fn places(kind: Kind, sweeps: u64, stream: Stream) -> Result<Places, RunError> {
    let has_trials = spec::about(kind.family)?.cells.have_trials();
    let family = spec::family(kind.family, has_trials.then_some(Trials::Same(TRIALS)))?;
    let is_by_row = family.is_whole();
    let rng = &mut stream.named("table").rng();
    let at: Vec<f64> = (0..ROWS).map(|_| 10.0 * rng.random::<f64>()).collect();
    let any =
        Mat::from_fn(ROWS, COLUMNS, |_, j| if is_by_row && j == 0 { f64::from(TRIALS) } else { family.any_cell() });
    let blank = kind.model(any, &family, &at)?;
    let fail = |source| RunError::Numerical { chain: 1, sweep: 0, source };
    let truth = simulate::draw_prior(&blank, stream.named("truth")).map_err(fail)?;
    let mut seen = simulate::draw_data(&blank, &truth, stream);
    // A multinomial row is hidden as a whole.
    let rows: Vec<bool> = (0..ROWS).map(|_| is_by_row && rng.random::<f64>() < 0.2).collect();
    let hidden: Vec<bool> =
        (0..ROWS * COLUMNS).map(|i| if is_by_row { rows[i / COLUMNS] } else { rng.random::<f64>() < 0.2 }).collect();
    seen.as_mut_slice().iter_mut().zip(&hidden).filter(|(_, is)| **is).for_each(|(y, _)| *y = f64::NAN);
    let model = kind.model(seen, &family, &at)?;
    let second = simulate::draw_data(&model, &truth, stream.named("second"));
    let settings = Settings { warmup: sweeps, draws: sweeps, threads: 1, ..Settings::default() };
    let mut chain = Chain::new(&model, &settings, 0, Box::new(Host::default())).map_err(fail)?;
    let mut counts = vec![(0.0, 0.0); ROWS * COLUMNS];
    let mut checks = Checks::new(&model);
    for sweep in 0..settings.sweeps() {
        chain.advance().map_err(|source| RunError::Numerical { chain: 1, sweep, source })?;
        if sweep >= settings.warmup {
            let drawn = simulate::draw_data(&model, chain.state(), stream.named("predictive").at(sweep));
            for ((below, equal), (drawn, y)) in counts.iter_mut().zip(drawn.as_slice().iter().zip(second.as_slice())) {
                *below += f64::from(u8::from(drawn < y));
                *equal += f64::from(u8::from(drawn == y));
            }
            checks.add(&Parameters::from(chain.state()), stream.named("check").at(sweep));
        }
    }
    // Among R draws a cell has R + 1 ranks, one of which it shares with its ties.
    let place = |(below, equal): &(f64, f64)| (below + (equal + 1.0) * rng.random::<f64>()) / (sweeps + 1) as f64;
    let places: Vec<f64> = counts.iter().map(place).collect();
    let p = |checks: Checks<'_>| checks.finish().iter().map(|check| check.p()).collect();
    let mut exact = Checks::new(&model);
    let parameters = Parameters::from(&truth);
    (0..REPLICATES).for_each(|i| exact.add(&parameters, stream.named("exact").at(i)));
    let of = |which: bool| places.iter().zip(&hidden).filter(|(_, is)| **is == which).map(|(u, _)| *u).collect();
    Ok(Places { hidden: of(true), again: of(false), exact: p(exact), posterior: p(checks) })
}
