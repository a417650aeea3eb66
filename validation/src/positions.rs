//! Do regions of positions have their nominal coverage? Tables are drawn from the model; chains are run on them; draws and truth are aligned to the
//! mean of the draws. A row is covered if the truth is no farther from the mean, in units of the row's covariance, than a nominal
//! share of its draws are.
//!
//! Chains differ in where they start and how long they run, so that what is missing can be attributed: a chain that starts at the truth
//! has nothing to find; long chains, and several, visit more of the posterior.

use crate::calibration::{Share, share_of};
use rayon::prelude::*;
use rflvm::internal::error::RunError;
use rflvm::internal::linalg::{Cholesky, Mat};
use rflvm::internal::model::family::Unit;
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::placement::turn;
use rflvm::internal::posterior::align::align;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Settings;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::table::Host;
use rflvm::internal::{simulate, spec};

/// How chains are run.
#[derive(Debug, Clone, Copy)]
pub struct Chains {
    /// In words.
    pub name: &'static str,
    /// Their number.
    pub count: usize,
    /// Warm-up sweeps of each, and as many kept.
    pub sweeps: u64,
    /// Whether they start at the truth.
    pub from_truth: bool,
}

/// From what single short chains do to what is left when they are long, several, or have nothing to find.
pub const CHAINS: [Chains; 5] = [
    Chains { name: "one short chain", count: 1, sweeps: 200, from_truth: false },
    Chains { name: "four short chains", count: 4, sweeps: 200, from_truth: false },
    Chains { name: "one short chain from the truth", count: 1, sweeps: 200, from_truth: true },
    Chains { name: "one long chain", count: 1, sweeps: 3000, from_truth: false },
    Chains { name: "four long chains", count: 4, sweeps: 3000, from_truth: false },
];

const ROWS: usize = 80;
const COLUMNS: usize = 20;
/// Draws kept of each chain for the comparison.
const KEPT: u64 = 200;
const LEVELS: [f64; 2] = [0.5, 0.9];

/// Coverage of 50% and 90% regions, over some tables.
pub fn coverage(family: &str, chains: Chains, tables: usize, seed: u64) -> Result<Vec<Share>, RunError> {
    let stream = Stream::new(seed).named("positions").named(family);
    let of_table = |i: usize| places(family, chains, stream.at(i as u64));
    let places: Vec<Vec<f64>> = (0..tables).into_par_iter().map(of_table).collect::<Result<_, _>>()?;
    Ok(LEVELS.map(|level| share_of(level, &places, |u| u < level)).to_vec())
}

/// For each row, the share of its draws that are nearer to the mean than the truth is.
fn places(family: &str, chains: Chains, stream: Stream) -> Result<Vec<f64>, RunError> {
    let fail = |source| RunError::Numerical { chain: 1, sweep: 0, source };
    let family = spec::family(family, None)?;
    let mut spec = ModelSpec { features: 40, ..ModelSpec::default() };
    spec.priors.intercept = 0.5;
    let model = |y: Mat| -> Result<Model, RunError> {
        let columns = (0..COLUMNS).collect();
        let mut model = Model::with_blocks(Observations::new(y)?, vec![(columns, family.clone())], spec.clone())?;
        model.set_units(vec![Unit::new(0.0, 1.0); COLUMNS]);
        Ok(model)
    };
    let blank = model(Mat::zeros(ROWS, COLUMNS))?;
    let truth = simulate::draw_prior(&blank, stream.named("truth")).map_err(fail)?;
    let model = model(simulate::draw_data(&blank, &truth, stream))?;
    let settings = Settings { warmup: chains.sweeps, draws: chains.sweeps, threads: 1, ..Settings::default() };
    let mut draws: Vec<Mat> = Vec::new();
    for number in 0..chains.count {
        let table = Box::new(Host::default());
        let chain = match chains.from_truth {
            true => Chain::at(&model, &settings, number, truth.clone(), table),
            false => Chain::new(&model, &settings, number, table),
        };
        let mut chain = chain.map_err(fail)?;
        for sweep in 0..settings.sweeps() {
            chain.advance().map_err(|source| RunError::Numerical { chain: number + 1, sweep, source })?;
            if sweep >= settings.warmup && sweep.is_multiple_of((chains.sweeps / KEPT).max(1)) {
                draws.push(chain.state().features.x().clone());
            }
        }
    }
    let embedding = align(&draws.iter().collect::<Vec<_>>());
    let aligned: Vec<Mat> = draws.iter().map(|draw| turn(draw, &embedding.mean)).collect();
    let truth = turn(truth.features.x(), &embedding.mean);
    (0..ROWS)
        .map(|n| {
            let factor = Cholesky::new(&embedding.covariance[n], "coverage").map_err(fail)?;
            let away = |x: &Mat| {
                let mut r: Vec<f64> = x.row(n).iter().zip(embedding.mean.row(n)).map(|(x, m)| x - m).collect();
                factor.solve_lower(&mut r);
                r.iter().map(|r| r * r).sum::<f64>()
            };
            let (of_truth, count) = (away(&truth), aligned.len() as f64);
            Ok(aligned.iter().filter(|x| away(x) < of_truth).count() as f64 / count)
        })
        .collect()
}
