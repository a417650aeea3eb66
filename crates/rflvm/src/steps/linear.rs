//! s, the scale of the linear part of the map, if there is one: slice sampling of u = ln s² in complementary ways (Yu & Meng 2011).
//!
//! With the slopes b held, F moves: p(Y | F) p(u), which mixes well where the data say little about b. With s·b held, F stays, and
//! b is rescaled: p(b) p(u) times the Jacobian, which mixes well where they say much. Where β is integrated out, so is b, and one
//! slice suffices (`CollapsedData::along_s`).

use super::amplitudes::ln_centred;
use crate::error::NumericalError;
use crate::model::collapsed::CollapsedData;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::slice;
use crate::table::{Host, Table};

/// Width of a slice of ln s².
const WIDTH: f64 = 1.0;

/// Redraws s, and b with it; F follows.
pub fn update(table: &mut dyn Table, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    if !model.has_linear() {
        return Ok(());
    }
    let (rng, prior) = (&mut stream.rng(), model.spec().priors.linear);
    let u = ln_square(state);
    let mut ln_lik = table.along_s(model, state);
    let mut ln = |v: f64| ln_lik(v) + prior.ln_density(v);
    let current = ln(u);
    let (u, _) = slice::univariate(rng, u, current, WIDTH, ln);
    drop(ln_lik);
    table.check()?;
    state.features.set_s((0.5 * u).exp());
    let (count, square) = weights(model, state);
    let ln = |v: f64| ln_centred(prior, count, square, v);
    let (v, _) = slice::univariate(rng, u, ln(u), WIDTH, ln);
    rescale(model, state, v);
    table.refresh(model, state);
    table.check()
}

/// ln s².
fn ln_square(state: &State) -> f64 {
    2.0 * state.features.plain().s().ln()
}

/// ln p(Y | F) + ln p(v) up to a constant, at ln s² = v with b held. For identity tests.
pub fn ln_held(model: &Model, state: &State, v: f64) -> f64 {
    Host::default().along_s(model, state)(v) + model.spec().priors.linear.ln_density(v)
}

/// Number of the weights s·b, and the sum of their squares in units of their prior but for s².
pub fn weights(model: &Model, state: &State) -> (f64, f64) {
    let s = state.features.plain().s();
    let of_column = |j: usize| {
        let square: f64 = model.linear().map(|m| state.beta[(m, j)].powi(2)).sum();
        square * model.weight_scale(&state.theta, j) / state.tau2[j]
    };
    ((model.all_free() * model.linear().len()) as f64, s * s * model.sum_free(of_column))
}

/// Changes ln s² to v and holds s·b.
pub fn rescale(model: &Model, state: &mut State, v: f64) {
    let (s, new) = (state.features.plain().s(), (0.5 * v).exp());
    for m in model.linear() {
        state.beta.row_mut(m).iter_mut().for_each(|b| *b *= s / new);
    }
    state.features.set_s(new);
}

/// Redraws s with β and σ² integrated out; β must be redrawn next.
pub fn update_collapsed(model: &Model, state: &mut State, target: &CollapsedData, stream: Stream) {
    if !model.has_linear() {
        return;
    }
    let prior = model.spec().priors.linear;
    let evidence = target.along_s(state.features.h(), model.linear(), state.features.plain().s(), &state.tau2);
    let ln = |u: f64| evidence.ln((0.5 * u).exp(), &state.tau2) + prior.ln_density(u);
    let u = ln_square(state);
    let (u, _) = slice::univariate(&mut stream.rng(), u, ln(u), WIDTH, ln);
    state.features.set_s((0.5 * u).exp());
}
