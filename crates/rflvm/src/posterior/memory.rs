//! The posterior of a fit in memory: one method per query.

use super::align::Embedding;
use super::check::{Check, REPLICATES};
use super::convergence::{Convergence, judge, judge_chains};
use super::fitted::{DRAWS, Fitted};
use super::forecast::NewTime;
use super::impute::Imputed;
use super::modes::judge_modes;
use super::predict::Points;
use super::predicted::Predicted;
use super::stacking::{Weighted, weights};
use super::transform::{self, NewRows, Transformed};
use crate::draws::{Chains, Memory};
use crate::error::RunError;
use crate::linalg::Mat;
use crate::model::Model;
use crate::rng::Stream;
use std::sync::Arc;

/// Draws of all chains of a model. Every query has its own random stream, so it gives the same answer each time.
#[derive(Debug, Clone)]
pub struct Posterior {
    model: Model,
    chains: Chains,
    convergence: Convergence,
    used: Vec<usize>,
    modes: Vec<Weighted>,
    is_pooled: bool,
    stream: Stream,
}

impl Posterior {
    /// From the draws of each chain of a model, with the seed of the run.
    pub fn new(model: Model, chains: Vec<Memory>, seed: u64) -> Result<Self, RunError> {
        let chains = Chains(chains);
        let convergence = judge(&chains)?;
        let modes = Vec::new();
        let (used, stream) = (convergence.used(), Stream::new(seed));
        Ok(Posterior { used, model, chains, convergence, modes, is_pooled: false, stream })
    }

    /// From chains that began apart ([`Init::Spread`](crate::Init::Spread)). Positions are those of the mode with most chains, with the
    /// uncertainty of all; everything else combines the modes.
    pub fn of_spread(model: Model, chains: Vec<Memory>, seed: u64) -> Result<Self, RunError> {
        let chains = Chains(chains);
        let all: Vec<usize> = (0..chains.0.len()).collect();
        let (modes, convergence) = judge_modes(&chains, &all, (model.rows(), model.latent_dim()))?;
        if modes.len() == 1 {
            return Self::new(model, chains.0, seed);
        }
        let modes = Weighted::by_chains(modes);
        let (used, stream) = (modes[0].used.clone(), Stream::new(seed));
        Ok(Posterior { used, model, chains, convergence, modes, is_pooled: true, stream })
    }

    /// From chains that sample several modes, given the chains of each mode, the chosen one first ([`Found::chains`]). Positions and
    /// convergence are those of the first mode; predictions combine all by their stacking weights.
    ///
    /// [`Found::chains`]: crate::run::modes::Found::chains
    pub fn of_modes(model: Model, chains: Vec<Memory>, modes: &[Vec<usize>], seed: u64) -> Result<Self, RunError> {
        let chains = Chains(chains);
        let judged = modes.iter().map(|numbers| judge_chains(&chains, numbers)).collect::<Result<Vec<_>, _>>()?;
        let mut scores = Vec::with_capacity(modes.len());
        for used in judged.iter().map(Convergence::used) {
            let stream = Stream::new(seed).named("stacking");
            let fitted = Fitted { store: &chains, model: &model, used: &used, modes: &[], is_pooled: false, stream };
            scores.push(fitted.left_cells()?.ln_density);
        }
        let weighted = judged.iter().map(Convergence::used).zip(weights(&scores));
        let weighted = weighted.map(|(used, weight)| Weighted { used, weight }).collect();
        let mut posterior = Self::new(model, chains.0, seed)?;
        if let Some(first) = judged.into_iter().next() {
            (posterior.used, posterior.convergence, posterior.modes) = (first.used(), first, weighted);
        }
        Ok(posterior)
    }

    /// The modes that are combined, with their weights; empty if there is one.
    pub fn modes(&self) -> &[Weighted] {
        &self.modes
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The draws.
    pub fn chains(&self) -> &[Memory] {
        &self.chains.0
    }

    /// Whether the chains agree, and which of them are used.
    pub fn convergence(&self) -> &Convergence {
        &self.convergence
    }

    /// The fit with the random stream of one query.
    pub fn fitted(&self, question: &str) -> Fitted<'_> {
        let (store, used, modes) = (&self.chains, &self.used, &self.modes);
        Fitted {
            store,
            model: &self.model,
            used,
            modes,
            is_pooled: self.is_pooled,
            stream: self.stream.named(question),
        }
    }

    /// Posterior mean and covariance of each row's position, over aligned draws.
    pub fn embedding(&self) -> Result<Embedding, RunError> {
        let fitted = self.fitted("results");
        fitted.embedding(&fitted.frame()?)
    }

    /// The posterior predictive distribution of every missing cell.
    pub fn impute(&self) -> Result<Vec<Imputed>, RunError> {
        let mut cells = Vec::new();
        self.fitted("impute").missing_cells(DRAWS, |cell| cells.push(cell))?;
        Ok(cells)
    }

    /// Positions of new rows (NaN marks a missing cell), and how unusual they are. They have the columns of the table in its
    /// order, no offset, no covariates (those of an average row) and no times; use [`Fitted::transform`] for these.
    pub fn transform(&self, rows: &Mat) -> Result<Transformed, RunError> {
        let families = self.model.blocks().iter().map(|block| Arc::clone(&block.family)).collect();
        let known = (vec![0.0; rows.rows()], Mat::zeros(rows.rows(), self.model.covariates().cols()));
        let new =
            NewRows { model: self.model.with_rows(rows, known, families)?, times: None, own: Vec::new(), open: None };
        self.fitted("transform").transform(&new, transform::DRAWS, |_, _| ())
    }

    /// The posterior predictive distribution of cells at rows of the table (new replicates), or at points of the latent space.
    pub fn predict(&self, points: Points<'_>) -> Result<Vec<Vec<Predicted>>, RunError> {
        self.fitted("predict").predict(points, DRAWS)
    }

    /// The same at times without a row.
    pub fn forecast(&self, moments: &[NewTime]) -> Result<Vec<Vec<Predicted>>, RunError> {
        self.fitted("forecast").forecast(moments, DRAWS)
    }

    /// Posterior predictive checks.
    pub fn check(&self) -> Result<Vec<Check>, RunError> {
        self.fitted("check").check(REPLICATES)
    }
}
