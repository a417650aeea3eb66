//! The posterior of a fit in memory: one method per query.

use super::align::Embedding;
use super::check::{Check, REPLICATES};
use super::convergence::{Convergence, judge};
use super::fitted::{DRAWS, Fitted};
use super::forecast::NewTime;
use super::impute::Imputed;
use super::predict::Points;
use super::predicted::Predicted;
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
    stream: Stream,
}

impl Posterior {
    /// From the draws of each chain of a model, with the seed of the run.
    pub fn new(model: Model, chains: Vec<Memory>, seed: u64) -> Result<Self, RunError> {
        let chains = Chains(chains);
        let convergence = judge(&chains)?;
        Ok(Posterior { used: convergence.used(), model, chains, convergence, stream: Stream::new(seed) })
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
        Fitted { store: &self.chains, model: &self.model, used: &self.used, stream: self.stream.named(question) }
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
    /// order, no offset and no times; use [`Fitted::transform`] for these.
    pub fn transform(&self, rows: &Mat) -> Result<Transformed, RunError> {
        let families = self.model.blocks().iter().map(|block| Arc::clone(&block.family)).collect();
        let new = NewRows { model: self.model.with_rows(rows, vec![0.0; rows.rows()], families)?, times: None };
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
