//! s, the scale of the linear part of the map, in the ways of [`crate::steps::linear`].

use super::{Device, check, refresh};
use crate::error::NumericalError;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::slice;
use crate::steps::amplitudes::ln_centred;
use crate::steps::linear::{WIDTH, ln_square, rescale, weights};

/// Redraws s, and b with it; F follows.
pub fn update(device: &mut dyn Device, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    if !model.has_linear() {
        return Ok(());
    }
    let (rng, prior) = (&mut stream.rng(), model.spec().priors.linear);
    let u = ln_square(state);
    let mut ln = |v: f64| {
        device.set_map(state.features.x(), state.features.w(), (0.5 * v).exp());
        device.set_weights(&state.beta);
        device.ln_lik() + prior.ln_density(v)
    };
    let current = ln(u);
    let (u, _) = slice::univariate(rng, u, current, WIDTH, ln);
    check(device)?;
    state.features.set_s((0.5 * u).exp());
    let (count, square) = weights(model, state);
    let ln = |v: f64| ln_centred(prior, count, square, v);
    let (v, _) = slice::univariate(rng, u, ln(u), WIDTH, ln);
    rescale(model, state, v);
    refresh(device, state);
    check(device)
}
