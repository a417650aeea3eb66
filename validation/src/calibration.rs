//! Do intervals cover what they say? Tables are drawn from the model with rows in time, a fifth of their cells are hidden, and
//! a chain is run on the rest. If the model and the sampler are right the place of a hidden value among draws of its posterior
//! predictive distribution is uniform, so that 50% and 90% intervals hold 50% and 90% of the hidden values.

use rand::RngExt;
use rayon::prelude::*;
use rflvm::error::RunError;
use rflvm::gibbs::chain::{Chain, Settings};
use rflvm::linalg::Mat;
use rflvm::model::family::{Family, Unit};
use rflvm::model::latent::{Form, TimeKernel, TimeSpec};
use rflvm::model::{Model, ModelSpec};
use rflvm::observations::{Observations, Times};
use rflvm::rng::Stream;
use rflvm::{simulate, spec};
use std::sync::Arc;

/// A family, a kind of paths, and the share of hidden values inside the central intervals with its standard error.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// What was tried.
    pub name: String,
    /// Nominal level, share found, its standard error over tables.
    pub levels: Vec<(f64, f64, f64)>,
}

/// How much to try.
#[derive(Debug, Clone, Copy)]
pub struct Tables {
    /// Tables of each kind.
    pub count: usize,
    /// Sweeps of warm-up, and as many kept.
    pub sweeps: u64,
}

/// What a run in passing takes.
pub const FAST: Tables = Tables { count: 12, sweeps: 150 };
/// Real power: a standard error is then below a point.
pub const REAL: Tables = Tables { count: 100, sweeps: 300 };

const ROWS: usize = 40;
const COLUMNS: usize = 6;
const LEVELS: [f64; 2] = [0.5, 0.9];

/// Every kind: families with and without parameters of their own, and the three forms of the paths.
pub fn kinds() -> Vec<(&'static str, TimeKernel, Form)> {
    vec![
        ("gaussian", TimeKernel::Rbf, Form::Dense),
        ("gaussian", TimeKernel::Matern32, Form::StateSpace),
        ("poisson", TimeKernel::Rbf, Form::Inducing),
        ("negative-binomial", TimeKernel::Matern52, Form::StateSpace),
    ]
}

/// The coverage of one kind.
pub fn coverage(
    (family, kernel, form): (&'static str, TimeKernel, Form),
    tables: Tables,
    seed: u64,
) -> Result<Coverage, RunError> {
    let name = format!("{family}, {} {form:?}", kernel.name());
    let stream = Stream::new(seed).named(&name);
    let of_table = |i: usize| places(family, kernel, form, tables.sweeps, stream.at(i as u64));
    let places: Vec<Vec<f64>> = (0..tables.count).into_par_iter().map(of_table).collect::<Result<_, _>>()?;
    let level = |level: f64| {
        let inside = |u: &&f64| (**u - 0.5).abs() < 0.5 * level;
        let shares: Vec<f64> = places.iter().map(|u| u.iter().filter(inside).count() as f64 / u.len() as f64).collect();
        let count = shares.len() as f64;
        let mean = shares.iter().sum::<f64>() / count;
        let square = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (level, mean, (square / count).sqrt())
    };
    Ok(Coverage { name, levels: LEVELS.map(level).to_vec() })
}

/// For each hidden cell of a table, the share of predictive draws below its value, with ties cut at random.
fn places(family: &str, kernel: TimeKernel, form: Form, sweeps: u64, stream: Stream) -> Result<Vec<f64>, RunError> {
    let family = spec::family(family, None)?;
    let rng = &mut stream.named("table").rng();
    let time = TimeSpec { kernel, form, trend: false, inducing: 12 };
    let spec = ModelSpec { features: 20, intercept_variance: 0.5, time, ..ModelSpec::default() };
    let at: Vec<f64> = (0..ROWS).map(|_| 10.0 * rng.random::<f64>()).collect();
    let blank = model(Mat::zeros(ROWS, COLUMNS), &family, &at, &spec)?;
    let fail = |source| RunError::Numerical { chain: 1, sweep: 0, source };
    let truth = simulate::draw_prior(&blank, stream.named("truth")).map_err(fail)?;
    let y = simulate::draw_data(&blank, &truth, stream);
    let hidden: Vec<(usize, usize)> =
        (0..ROWS * COLUMNS).filter(|_| rng.random::<f64>() < 0.2).map(|i| (i / COLUMNS, i % COLUMNS)).collect();
    let mut seen = y.clone();
    hidden.iter().for_each(|&cell| seen[cell] = f64::NAN);
    let model = model(seen, &family, &at, &spec)?;
    let settings = Settings { warmup: sweeps, draws: sweeps, threads: 1, ..Settings::default() };
    let mut chain = Chain::new(&model, &settings, 0).map_err(fail)?;
    let (mut below, mut equal) = (vec![0.0; hidden.len()], vec![0.0; hidden.len()]);
    for sweep in 0..settings.sweeps() {
        chain.advance().map_err(|source| RunError::Numerical { chain: 1, sweep, source })?;
        if sweep >= settings.warmup {
            let drawn = simulate::draw_data(&model, chain.state(), stream.named("predictive").at(sweep));
            for (i, &cell) in hidden.iter().enumerate() {
                below[i] += f64::from(u8::from(drawn[cell] < y[cell])) / sweeps as f64;
                equal[i] += f64::from(u8::from(drawn[cell] == y[cell])) / sweeps as f64;
            }
        }
    }
    Ok(below.iter().zip(&equal).map(|(below, equal)| below + equal * rng.random::<f64>()).collect())
}

/// A model whose priors do not depend on the data.
fn model(y: Mat, family: &Arc<dyn Family>, at: &[f64], spec: &ModelSpec) -> Result<Model, RunError> {
    let data = Observations::new(y)?.with_times(Times::new(at.to_vec()))?;
    let mut model = Model::with_blocks(data, vec![((0..COLUMNS).collect(), family.clone())], spec.clone())?;
    model.set_units(vec![Unit { centre: 0.0, scale: 1.0 }; COLUMNS]);
    Ok(model)
}
