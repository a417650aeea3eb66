//! What an ascent asks of a table, wherever it lies.

use super::objective::{self, is_exact};
use super::volume::Volume;
use crate::error::NumericalError;
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::gradient::{Joint, Layout};
use crate::hmc::marginal::Marginal;
use crate::hmc::occam::Occam;
use crate::init::begin::{Init, begin, fill_scales};
use crate::init::optimise::{Optimum, maximise_until};
use crate::model::collapsed::CollapsedData;
use crate::model::{Model, State};
use crate::rng::Stream;

/// L-BFGS steps per round.
pub(crate) const STEPS: usize = 100;

/// A table and the state that is fitted to it.
pub(crate) trait Table {
    /// The fitted initial state.
    fn begin(&mut self, model: &Model, how: Init, stream: Stream) -> Result<State, NumericalError>;

    /// X and W, and β unless it is integrated out exactly, given the rest.
    fn climb(&mut self, model: &Model, state: &mut State, gain: f64) -> Result<Optimum, NumericalError>;

    /// θ at its mode given X, W and β; intercepts may follow.
    fn maximise_parameters(&mut self, model: &Model, state: &mut State) -> Result<(), NumericalError>;

    /// The penalty of the weights' freedom, at the information of the cells there.
    fn occam(&mut self, model: &Model, state: &State) -> Result<Occam, NumericalError>;

    /// Computes H and F again.
    fn refresh(&mut self, model: &Model, state: &mut State);

    /// ln p(Y, θ, τ², s | X, W) with β integrated out.
    fn ln_data(&mut self, model: &Model, state: &State) -> Result<f64, NumericalError>;
}

/// A table on this processor.
pub(crate) struct Here;

impl Table for Here {
    fn begin(&mut self, model: &Model, how: Init, stream: Stream) -> Result<State, NumericalError> {
        begin(model, how, stream)
    }

    fn climb(&mut self, model: &Model, state: &mut State, gain: f64) -> Result<Optimum, NumericalError> {
        let paths = model.paths(state)?;
        let exact = is_exact(model);
        let layout = Layout::new(model, !exact);
        let mut q = layout.gather(state);
        let scales = scales(model, state, layout, exact);
        let given = (FrequencyPrior::given(&state.spectral), state.features.plain());
        let optimum = if exact {
            let target = CollapsedData::new(model, &state.theta);
            let marginal = Marginal::new(&target, &state.tau2, given, layout).along(paths.as_ref());
            maximise_until(&mut Volume::new(marginal, model), &mut q, &scales, STEPS, gain)
        } else {
            let occam = Occam::new(model, state);
            let joint = Joint::new(model, &state.theta, &state.tau2, given, paths.as_ref()).with_occam(&occam);
            maximise_until(&mut Volume::new(joint, model), &mut q, &scales, STEPS, gain)
        };
        let (x, w, beta) = layout.split(&q);
        state.features.set(x, w);
        if !exact {
            state.beta.as_mut_slice().copy_from_slice(beta);
        }
        state.refresh(model);
        Ok(optimum)
    }

    fn maximise_parameters(&mut self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        for (b, block) in model.blocks().iter().enumerate() {
            block.family.maximise_parameters(&mut model.block_view(b, state, 1.0));
        }
        state.refresh(model);
        Ok(())
    }

    fn occam(&mut self, model: &Model, state: &State) -> Result<Occam, NumericalError> {
        Ok(Occam::new(model, state))
    }

    fn refresh(&mut self, model: &Model, state: &mut State) {
        state.refresh(model);
    }

    fn ln_data(&mut self, model: &Model, state: &State) -> Result<f64, NumericalError> {
        objective::ln_data(model, state)
    }
}

/// One for positions and frequencies; for weights see [`fill_scales`].
pub(crate) fn scales(model: &Model, state: &State, layout: Layout, exact: bool) -> Vec<f64> {
    let mut scales = vec![1.0; layout.len()];
    if !exact {
        fill_scales(model, state, layout.split_mut(&mut scales).2);
    }
    scales
}
