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
#[cfg(test)]
mod tests;

pub use crate::hmc::volume::{Volume, ln_volume};
pub use crate::table::laplace::is_exact;
pub(super) use integrated::{integrated_amplitudes, integrated_linear};
pub use objective::objective;
pub use spread::spread;

use super::begin::{self, Init};
use super::climb::{Climb, climb};
use crate::device::Device;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::{Model, State, joint};
use crate::rng::Stream;
use crate::table::{Host, Remote, Table};

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

/// L-BFGS steps per round.
const STEPS: usize = 100;
/// Rounds after which the starts are compared; only the best continues.
const COMPARED: usize = 2;
/// A round that gains less than this per row has converged; a row's own log density is known to about ½.
const GAIN: f64 = 2e-3;

impl Map {
    /// The MAP estimate reached from the most promising start.
    pub fn fit(&self, model: &Model, stream: Stream) -> Result<MapFit, NumericalError> {
        self.fit_in(&mut Host::default(), model, stream)
    }

    /// The same with the table on a device. A complete Gaussian table is fitted here: its weights are integrated out exactly.
    pub fn fit_on(&self, device: Box<dyn Device>, model: &Model, stream: Stream) -> Result<MapFit, NumericalError> {
        if is_exact(model) {
            return self.fit(model, stream);
        }
        self.fit_in(&mut Remote(device), model, stream)
    }

    /// The same, wherever the table is.
    pub(crate) fn fit_in(
        &self,
        table: &mut dyn Table,
        model: &Model,
        stream: Stream,
    ) -> Result<MapFit, NumericalError> {
        let (mut best, mut reached) = (None::<Ascent>, Vec::new());
        for number in 0..self.starts.max(1) {
            let begun = begin::begin(table, model, self.init, stream.named("map").at(number as u64))?;
            let mut ascent = Ascent::new(table, model, begun)?;
            ascent.go_on(table, model, COMPARED.min(self.rounds))?;
            reached.push(ascent.value());
            if best.as_ref().is_none_or(|best| ascent.value() > best.value()) {
                best = Some(ascent);
            }
        }
        let Some(mut best) = best else { unreachable!("there is at least one start") };
        table.reset(model, &mut best.state);
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
        let (positions, frequencies, is_integrated) = (true, true, true);
        let how = Climb { positions, frequencies, is_integrated, iterations: STEPS, gain: 0.1 * enough };
        for _ in 0..rounds {
            if self.converged {
                break;
            }
            let optimum = climb(table, model, &mut self.state, how)?;
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
