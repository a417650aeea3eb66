//! A fit in one call: table in, [`Posterior`] out, all in memory.

use crate::draws::Memory;
use crate::error::RunError;
use crate::init::Init;
use crate::linalg::Mat;
use crate::model::{Model, ModelSpec};
use crate::observations::{Observations, Offset};
use crate::posterior::Posterior;
use crate::run::{Settings, run};
use crate::spec;
use std::ops::ControlFlow;

/// What to fit, and how. Use the methods for common settings and the fields for the others.
#[derive(Debug, Clone)]
pub struct Options {
    /// The family of the columns, by name.
    pub likelihood: String,
    /// Row offsets.
    pub offset: Offset,
    /// Settings of the model.
    pub model: ModelSpec,
    /// Settings of the run.
    pub run: Settings,
}

impl Options {
    /// The defaults, for columns of this family.
    pub fn new(likelihood: &str) -> Self {
        Options {
            likelihood: likelihood.into(),
            offset: Offset::None,
            model: ModelSpec::default(),
            run: Settings::default(),
        }
    }

    /// Sets the number of latent axes, D.
    pub fn latent_dim(mut self, dim: usize) -> Self {
        self.model.latent_dim = dim;
        self
    }

    /// Sets the number of random features, M.
    pub fn features(mut self, features: usize) -> Self {
        self.model.features = features;
        self
    }

    /// Sets the number of warm-up sweeps and of draws kept per chain.
    pub fn sweeps(mut self, warmup: u64, draws: u64) -> Self {
        (self.run.warmup, self.run.draws) = (warmup, draws);
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.run.seed = seed;
        self
    }
}

/// Fits a table with one row per sample; NaN marks a missing cell.
pub fn fit(table: &Mat, options: &Options) -> Result<Posterior, RunError> {
    let data = Observations::new(table.clone())?.with_offset(options.offset.clone())?;
    let family = spec::family(&options.likelihood, None)?;
    let columns = (0..data.columns()).collect();
    let model = Model::with_blocks(data, vec![(columns, family)], options.model.clone())?;
    let chains = run(&model, &options.run, |_| Memory::default(), |_| ControlFlow::Continue(()))?;
    match options.run.init {
        Init::Spread => Posterior::of_spread(model, chains, options.run.seed),
        _ => Posterior::new(model, chains, options.run.seed),
    }
}
