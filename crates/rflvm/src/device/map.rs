//! MAP estimates ([`crate::init::map`]) of a table on a device.

use super::joint::Joint;
use super::{Device, check, evidence, parameters, refresh, start, totals};
use crate::error::NumericalError;
use crate::hmc::gradient::Layout;
use crate::hmc::occam::Occam;
use crate::init::Init;
use crate::init::map::{Map, MapFit, STEPS, Table, Volume, is_exact, scales};
use crate::init::optimise::{Optimum, maximise_until};
use crate::model::{Model, State};
use crate::rng::Stream;

impl Map {
    /// [`Map::fit`] with the table on a device. A complete Gaussian table is fitted here: its weights are integrated out exactly.
    pub fn fit_on(&self, device: &mut dyn Device, model: &Model, stream: Stream) -> Result<MapFit, NumericalError> {
        if is_exact(model) {
            return self.fit(model, stream);
        }
        self.fit_in(&mut There(device), model, stream)
    }
}

/// A table on a device; states have no H and F here.
pub(crate) struct There<'a>(pub &'a mut dyn Device);

impl Table for There<'_> {
    fn begin(&mut self, model: &Model, how: Init, stream: Stream) -> Result<State, NumericalError> {
        start::start(self.0, model, how, stream)
    }

    fn climb(&mut self, model: &Model, state: &mut State, gain: f64) -> Result<Optimum, NumericalError> {
        let occam = self.occam(model, state)?;
        let layout = Layout::new(model, true);
        let scales = scales(model, state, layout, false);
        let mut q = layout.gather(state);
        let paths = model.paths(state)?;
        let joint = Joint::new(self.0, model, state, paths.as_ref()).with_occam(&occam);
        let optimum = maximise_until(&mut Volume::new(joint, model), &mut q, &scales, STEPS, gain);
        let (x, w, beta) = layout.split(&q);
        state.features.set(x, w);
        state.beta.as_mut_slice().copy_from_slice(beta);
        self.refresh(model, state);
        check(self.0)?;
        Ok(optimum)
    }

    fn maximise_parameters(&mut self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        parameters::maximise(self.0, model, state)?;
        self.refresh(model, state);
        check(self.0)
    }

    fn occam(&mut self, model: &Model, state: &State) -> Result<Occam, NumericalError> {
        evidence::occam(self.0, model, state)
    }

    fn refresh(&mut self, _model: &Model, state: &mut State) {
        self.0.set_parameters(&state.theta);
        refresh(self.0, state);
        totals::settle(self.0);
    }

    fn ln_data(&mut self, model: &Model, state: &State) -> Result<f64, NumericalError> {
        evidence::ln_data(self.0, model, state)
    }
}
