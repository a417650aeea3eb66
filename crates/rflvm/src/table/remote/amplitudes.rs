//! τ_j², where each column has its own: the slices of [`crate::steps::amplitudes`], all columns side by side.

use super::rounds;
use crate::device::{ColumnAt, Device};
use crate::model::strength::{WIDTH, grow, growth, ln_centred, square};
use crate::model::{HalfT, Model, State};
use crate::rng::{Stream, StreamRng};
use crate::slice;

/// The columns of block b that have weights.
fn free(model: &Model, b: usize) -> Vec<usize> {
    model.blocks()[b].columns.clone().filter(|&j| model.is_free(j)).collect()
}

/// Log-likelihoods of all columns, with the weights of the i-th column of block b that has some multiplied by `factor(i)`.
pub(super) fn grown(
    device: &mut dyn Device,
    model: &Model,
    state: &State,
    b: usize,
    factor: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let theta = &state.theta[b].values;
    let first = model.blocks()[b].columns.start;
    let mut all = vec![ColumnAt::HERE; model.columns()];
    for (i, j) in free(model, b).into_iter().enumerate() {
        let theta = [0, 1].map(|p| if theta.rows() > p { theta[(p, j - first)] } else { 1.0 });
        all[j] = ColumnAt { factor: factor(i), shift: 0.0, theta };
    }
    let mut values = vec![0.0; model.columns()];
    device.ln_lik_columns(&all, &mut values);
    values
}

/// One per column: with the weights in units of τ held, then with the weights held.
pub(super) fn each(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, prior: HalfT, stream: Stream) {
    let columns = free(model, b);
    let mut rngs: Vec<StreamRng> =
        columns.iter().map(|&j| stream.at(model.number_in_block(b, j) as u64).rng()).collect();
    let from: Vec<f64> = columns.iter().map(|&j| state.tau2[j].ln()).collect();
    let to = rounds::univariate(&mut rngs, &from, WIDTH, |v, out| {
        let values = grown(device, model, state, b, |i| growth(from[i], v[i]));
        out.iter_mut().zip(&columns).zip(v).for_each(|((out, &j), v)| *out = values[j] + prior.ln_density(*v));
    });
    let count = state.beta.rows() as f64;
    for (i, j) in columns.into_iter().enumerate() {
        grow(model, state, j, growth(from[i], to[i]));
        let square = square(model, state, j);
        let ln = |u: f64| ln_centred(prior, count, square, u);
        state.tau2[j] = slice::univariate(&mut rngs[i], to[i], ln(to[i]), WIDTH, ln).0.exp();
    }
}
