//! MAP estimate for a quick first look: X, W, θ and the clusters at a maximum of their posterior density, with the weights
//! β integrated out ([`objective()`] defines the objective and explains why it is not the joint density with β).
//!
//! Rounds of two steps, from several starts of which the best continues: X, W and β together by L-BFGS, then θ, τ² and the
//! cluster at their modes (`modes.rs`). Only the starts are random. A point has no uncertainty; [`spread()`] gives the
//! standard deviations of positions given everything else, which are smaller than those of a chain.

mod integrated;
mod modes;
mod objective;
mod spread;
mod table;
#[cfg(test)]
mod tests;
mod volume;

pub(super) use integrated::{integrated_amplitudes, integrated_linear};
pub use objective::{is_exact, objective};
pub(crate) use objective::{ln_data, ln_laplace};
pub use spread::spread;
pub(crate) use table::{Here, STEPS, Table, scales};
pub use volume::{Volume, ln_volume};

use super::begin::Init;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::{Model, State, joint};
use crate::rng::Stream;

/// How to search for the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Map {
    /// Number of starts; after two rounds only the best continues.
    pub starts: usize,
    /// Maximum number of rounds.
    pub rounds: usize,
    /// Initialisation of X; each start has its own rotation, noise and frequencies.
    pub init: Init,
}

impl Default for Map {
    fn default() -> Self {
        Map { starts: 3, rounds: 30, init: Init::Pca }
    }
}

/// A MAP estimate.
#[derive(Debug, Clone)]
pub struct MapFit {
    /// The state.
    pub state: State,
    /// The objective after each round.
    pub trace: Vec<f64>,
    /// The objective of each start when they were compared.
    pub reached: Vec<f64>,
    /// ln p(Y, β, θ, X, W, …) at this state: the joint log density that chains report for their draws.
    pub ln_joint: f64,
    /// ln p(Y | F, θ) at this state.
    pub ln_likelihood: f64,
    /// Number of L-BFGS steps over all rounds of the selected start.
    pub iterations: usize,
    /// Whether the last round gained almost nothing.
    pub converged: bool,
}

impl MapFit {
    /// Covariance of each row's position given W, β and θ.
    pub fn spread(&self, model: &Model) -> Result<Vec<Mat>, NumericalError> {
        spread(model, &self.state)
    }
}

/// Rounds after which the starts are compared; only the best continues.
const COMPARED: usize = 2;
/// A round that gains less than this per row has converged; a row's own log density is known to about ½.
const GAIN: f64 = 2e-3;

impl Map {
    /// The MAP estimate reached from the most promising start.
    pub fn fit(&self, model: &Model, stream: Stream) -> Result<MapFit, NumericalError> {
        self.fit_in(&mut Here, model, stream)
    }

    /// The same, wherever the table lies.
    pub(crate) fn fit_in(
        &self,
        table: &mut dyn Table,
        model: &Model,
        stream: Stream,
    ) -> Result<MapFit, NumericalError> {
        let (mut best, mut reached) = (None::<Ascent>, Vec::new());
        for number in 0..self.starts.max(1) {
            let begun = table.begin(model, self.init, stream.named("map").at(number as u64))?;
            let mut ascent = Ascent::new(table, model, begun)?;
            ascent.go_on(table, model, COMPARED.min(self.rounds))?;
            reached.push(ascent.value());
            if best.as_ref().is_none_or(|best| ascent.value() > best.value()) {
                best = Some(ascent);
            }
        }
        let Some(mut best) = best else { unreachable!("there is at least one start") };
        table.refresh(model, &mut best.state);
        best.go_on(table, model, self.rounds.saturating_sub(COMPARED))?;
        let Ascent { mut state, trace, iterations, converged } = best;
        state.restore(model);
        let ln_likelihood = model.ln_likelihood(&state);
        let ln_joint = ln_likelihood + joint::ln_prior(model, &state)?;
        Ok(MapFit { state, trace, reached, ln_joint, ln_likelihood, iterations, converged })
    }
}

/// The optimisation from one start.
pub(super) struct Ascent {
    pub state: State,
    trace: Vec<f64>,
    iterations: usize,
    converged: bool,
}

impl Ascent {
    /// From a start.
    pub fn new(table: &mut dyn Table, model: &Model, mut state: State) -> Result<Self, NumericalError> {
        modes::one_cluster(model, &mut state);
        modes::update(table, model, &mut state)?;
        let trace = vec![table.ln_data(model, &state)? + objective::ln_besides(model, &state)?];
        Ok(Ascent { state, trace, iterations: 0, converged: false })
    }

    fn value(&self) -> f64 {
        self.trace[self.trace.len() - 1]
    }

    /// Runs up to this many more rounds, or until a round gains almost nothing.
    pub fn go_on(&mut self, table: &mut dyn Table, model: &Model, rounds: usize) -> Result<(), NumericalError> {
        let enough = GAIN * model.rows() as f64;
        for _ in 0..rounds {
            if self.converged {
                break;
            }
            let optimum = table.climb(model, &mut self.state, 0.1 * enough)?;
            self.iterations += optimum.iterations;
            modes::update(table, model, &mut self.state)?;
            let value = table.ln_data(model, &self.state)? + objective::ln_besides(model, &self.state)?;
            if !value.is_finite() {
                return Err(NumericalError::NotFinite { step: "map", value, place: "the current point".into() });
            }
            // The complexity penalty is updated after each round, so a round can lose a little.
            self.converged = optimum.has_stalled && (value - self.value()).abs() < enough;
            self.trace.push(value);
        }
        Ok(())
    }
}
