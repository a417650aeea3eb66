//! s, the scale of the linear part of the map, if there is one: slice sampling of u = ln s² in complementary ways (Yu & Meng 2011).
//!
//! With the slopes b held, F moves: p(Y | F) p(u), which mixes well where the data say little about b. With s·b held, F stays, and
//! b is rescaled: p(b) p(u) times the Jacobian, which mixes well where they say much. Where β is integrated out, so is b, and one
//! slice suffices (`CollapsedData::along_s`).

use super::amplitudes::ln_centred;
use crate::chunks::Chunk;
use crate::linalg::{Mat, View, par_mul};
use crate::model::collapsed::CollapsedData;
use crate::model::{Model, State};
use crate::par;
use crate::rng::Stream;
use crate::slice;

/// Width of a slice of ln s².
pub(crate) const WIDTH: f64 = 1.0;

/// Redraws s, and b with it; F follows.
pub fn update(model: &Model, state: &mut State, stream: Stream) {
    if !model.has_linear() {
        return;
    }
    let (rng, prior) = (&mut stream.rng(), model.spec().priors.linear);
    let u = ln_square(state);
    let slope = slopes(model, state);
    let ln = |v: f64| ln_held(model, state, &slope, v);
    let (u, _) = slice::univariate(rng, u, ln(u), WIDTH, ln);
    state.features.set_s((0.5 * u).exp());
    let (count, square) = weights(model, state);
    let ln = |v: f64| ln_centred(prior, count, square, v);
    let (v, _) = slice::univariate(rng, u, ln(u), WIDTH, ln);
    rescale(model, state, v);
    state.refresh(model);
}

/// ln s².
pub(crate) fn ln_square(state: &State) -> f64 {
    2.0 * state.features.plain().s().ln()
}

/// X b, N×J.
pub fn slopes(model: &Model, state: &State) -> Mat {
    let (linear, columns) = (model.linear(), model.columns());
    let b =
        View::new(&state.beta.as_slice()[linear.start * columns..linear.end * columns], linear.len(), columns, columns);
    let mut slopes = Mat::zeros(model.rows(), columns);
    par_mul(&mut slopes, state.features.x().view(), b, false);
    slopes
}

/// ln p(Y | F) + ln p(v) up to a constant, at ln s² = v with b held; `slope` is X b.
pub fn ln_held(model: &Model, state: &State, slope: &Mat, v: f64) -> f64 {
    let more = (0.5 * v).exp() - state.features.plain().s();
    let ln_lik = model.chunks().sum(|Chunk { columns: some, .. }| {
        par::sum(model.rows(), 4 * some.len(), |rows| {
            let mut f = vec![0.0; some.end];
            let of_row = |n: usize| {
                let cells =
                    f[some.clone()].iter_mut().zip(&state.f.row(n)[some.clone()]).zip(&slope.row(n)[some.clone()]);
                cells.for_each(|((to, from), slope)| *to = from + more * slope);
                model.ln_lik_cells(&state.theta, n, some, &f)
            };
            rows.map(of_row).sum()
        })
    });
    ln_lik + model.spec().priors.linear.ln_density(v)
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
