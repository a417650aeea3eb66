//! A point estimate for a first picture: X, W, θ and the clusters at a maximum of their posterior density, with the weights
//! β integrated out ([`objective()`] says what is maximised, and why it is not the joint density with β).
//!
//! Rounds of two steps, from several starts of which the best goes on: X, W and β together by L-BFGS, then θ, τ² and the
//! cluster by their modes (`modes.rs`). Nothing is random but the starts. There is no uncertainty in a point; [`spread()`] has the
//! standard deviations of positions given everything else, which is less than what a chain would tell.

mod modes;
mod objective;
mod spread;
#[cfg(test)]
mod tests;
mod volume;

pub(super) use modes::integrated_amplitudes;
pub(super) use objective::is_exact;
pub use objective::objective;
pub use spread::spread;
pub use volume::{Volume, ln_volume};

use super::begin::{Init, begin, fill_scales};
use super::optimise::{Climb, climb};
use crate::error::NumericalError;
use crate::hmc::gradient::{Joint, Layout};
use crate::hmc::marginal::Marginal;
use crate::hmc::occam::Occam;
use crate::linalg::Mat;
use crate::model::collapsed::Target;
use crate::model::{Model, State, joint};
use crate::rng::Stream;

/// How to look for the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Map {
    /// How many starts; after two rounds the best goes on.
    pub starts: usize,
    /// Rounds at most.
    pub rounds: usize,
    /// Where X begins; each start has a rotation, noise and frequencies of its own.
    pub init: Init,
}

impl Default for Map {
    fn default() -> Self {
        Map { starts: 3, rounds: 30, init: Init::Pca }
    }
}

/// A point estimate.
#[derive(Debug, Clone)]
pub struct MapFit {
    /// The point.
    pub state: State,
    /// What was maximised, after each round.
    pub trace: Vec<f64>,
    /// The same for each start, when they were compared.
    pub reached: Vec<f64>,
    /// ln p(Y, β, θ, X, W, …) at the point: what a chain reports of its draws.
    pub ln_joint: f64,
    /// ln p(Y | F, θ) at the point.
    pub ln_likelihood: f64,
    /// Steps of L-BFGS, all rounds of the start that was kept.
    pub iterations: usize,
    /// Whether the last round gained next to nothing.
    pub converged: bool,
}

impl MapFit {
    /// Covariance of each row's position given W, β and θ.
    pub fn spread(&self, model: &Model) -> Result<Vec<Mat>, NumericalError> {
        spread(model, &self.state)
    }
}

/// Rounds after which the starts are compared; only the best goes on.
const COMPARED: usize = 2;
/// Steps of L-BFGS in a round.
const STEPS: usize = 100;
/// A round that gains less than this for each row has converged; a row's own log density is known to about ½.
const GAIN: f64 = 2e-3;

impl Map {
    /// The point that the most promising of the starts leads to.
    pub fn fit(&self, model: &Model, stream: Stream) -> Result<MapFit, NumericalError> {
        let (mut best, mut reached) = (None::<Ascent>, Vec::new());
        for number in 0..self.starts.max(1) {
            let mut ascent = Ascent::new(model, begin(model, self.init, stream.named("map").at(number as u64))?)?;
            ascent.go_on(model, COMPARED.min(self.rounds))?;
            reached.push(ascent.value());
            if best.as_ref().is_none_or(|best| ascent.value() > best.value()) {
                best = Some(ascent);
            }
        }
        let Some(mut best) = best else { unreachable!("there is a start") };
        best.go_on(model, self.rounds.saturating_sub(COMPARED))?;
        let Ascent { state, trace, iterations, converged } = best;
        let ln_likelihood = model.ln_likelihood(&state);
        let ln_joint = ln_likelihood + joint::ln_prior(model, &state)?;
        Ok(MapFit { state, trace, reached, ln_joint, ln_likelihood, iterations, converged })
    }
}

/// A climb from one start.
pub(super) struct Ascent {
    pub state: State,
    trace: Vec<f64>,
    iterations: usize,
    converged: bool,
}

impl Ascent {
    /// From a start.
    pub fn new(model: &Model, mut state: State) -> Result<Self, NumericalError> {
        modes::one_cluster(model, &mut state);
        modes::update(model, &mut state)?;
        let trace = vec![objective(model, &state)?];
        Ok(Ascent { state, trace, iterations: 0, converged: false })
    }

    fn value(&self) -> f64 {
        self.trace[self.trace.len() - 1]
    }

    /// So many more rounds, unless a round gains next to nothing.
    pub fn go_on(&mut self, model: &Model, rounds: usize) -> Result<(), NumericalError> {
        let enough = GAIN * model.rows() as f64;
        for _ in 0..rounds {
            if self.converged {
                break;
            }
            let climb = round(model, &mut self.state, 0.1 * enough)?;
            self.iterations += climb.iterations;
            modes::update(model, &mut self.state)?;
            let value = objective(model, &self.state)?;
            if !value.is_finite() {
                return Err(NumericalError::NotFinite { step: "map", value, place: "the point reached".into() });
            }
            // What is charged for the weights is taken anew after each round, so a round can lose a little.
            self.converged = climb.has_stalled && (value - self.value()).abs() < enough;
            self.trace.push(value);
        }
        Ok(())
    }
}

/// X and W, and β where it is not integrated out exactly, given the rest.
fn round(model: &Model, state: &mut State, gain: f64) -> Result<Climb, NumericalError> {
    let paths = model.paths(state)?;
    let exact = objective::is_exact(model);
    let layout = Layout::new(model, !exact);
    let mut q = layout.gather(state);
    let scales = scales(model, state, layout, exact);
    let climb = if exact {
        let target = Target::new(model);
        let marginal = Marginal::new(&target, &state.tau2, &state.spectral, layout).along(paths.as_ref());
        climb(&mut Volume::new(marginal, model), &mut q, &scales, STEPS, gain)
    } else {
        let occam = Occam::new(model, state);
        let joint = Joint::new(model, &state.theta, &state.tau2, &state.spectral, paths.as_ref()).with_occam(&occam);
        climb(&mut Volume::new(joint, model), &mut q, &scales, STEPS, gain)
    };
    let (x, w, beta) = layout.split(&q);
    state.features.set(x, w);
    if !exact {
        state.beta.as_mut_slice().copy_from_slice(beta);
    }
    state.refresh(model);
    Ok(climb)
}

/// One for positions and frequencies; of weights see [`fill_scales`].
fn scales(model: &Model, state: &State, layout: Layout, exact: bool) -> Vec<f64> {
    let mut scales = vec![1.0; layout.len()];
    if !exact {
        fill_scales(model, state, layout.split_mut(&mut scales).2);
    }
    scales
}
