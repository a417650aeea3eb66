//! The initial state of a chain, fitted in the stages of [`crate::init`] with gradients from the device.

use super::joint::Joint;
use super::{Device, amplitudes, check, load, parameters, refresh, totals};
use crate::error::NumericalError;
use crate::hmc::gradient::Layout;
use crate::init::begin::{STAGES, blank, dispersed, fill_scales, placed};
use crate::init::optimise::maximise;
use crate::init::{Init, clustered};
use crate::linalg::Mat;
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};

/// The fitted initial state of a chain, without H and F.
pub fn start(device: &mut dyn Device, model: &Model, how: Init, stream: Stream) -> Result<State, NumericalError> {
    let rng = &mut stream.named("start").rng();
    let x = placed(model, how, rng);
    fitted(device, model, x, stream, rng)
}

/// The state fitted to given positions, without H and F.
pub fn start_at(device: &mut dyn Device, model: &Model, x: Mat, stream: Stream) -> Result<State, NumericalError> {
    let rng = &mut stream.named("start").rng();
    let x = dispersed(x, rng);
    fitted(device, model, x, stream, rng)
}

/// W and β fitted to given positions, then X with them, in stages.
fn fitted(
    device: &mut dyn Device,
    model: &Model,
    x: Mat,
    stream: Stream,
    rng: &mut StreamRng,
) -> Result<State, NumericalError> {
    let mut state = blank(model, x, rng)?;
    load(device, &mut state);
    for (stage, (moves, iterations)) in STAGES.into_iter().enumerate() {
        climb(device, model, &mut state, moves, iterations)?;
        refresh(device, &state);
        totals::settle(device);
        let stream = stream.named("fit").at(stage as u64);
        parameters::update(device, model, &mut state, 1.0, stream)?;
        device.set_weights(&state.beta);
        amplitudes::update(device, model, &mut state, stream.named("tau2"))?;
    }
    check(device)?;
    clustered(model, state, rng)
}

/// Optimises β, and X or W where they may move.
fn climb(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    (positions, frequencies): (bool, bool),
    iterations: usize,
) -> Result<(), NumericalError> {
    let layout = Layout::new(model, true);
    let mut scales = vec![1.0; layout.len()];
    let (of_x, of_w, of_beta) = layout.split_mut(&mut scales);
    of_x.fill(f64::from(u8::from(positions)));
    of_w.fill(f64::from(u8::from(frequencies)));
    fill_scales(model, state, of_beta);
    let mut q = layout.gather(state);
    let paths = model.paths(state)?;
    maximise(&mut Joint::new(device, model, state, paths.as_ref()), &mut q, &scales, iterations);
    let (x, w, beta) = layout.split(&q);
    state.features.set(x, w);
    state.beta.as_mut_slice().copy_from_slice(beta);
    check(device)
}
