//! τ_j², where it is learned: the slices of [`crate::steps::amplitudes`], all columns side by side.

use super::{ColumnAt, Device, check, rounds};
use crate::error::NumericalError;
use crate::model::{Amplitude, HalfT, Model, State};
use crate::rng::{Stream, StreamRng};
use crate::slice;
use crate::steps::amplitudes::{WIDTH, growth, ln_centred, square};

/// Redraws the amplitudes that are learned, and F where it moved with them.
pub fn update(device: &mut dyn Device, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        let stream = stream.at(b as u64);
        match model.amplitude(block) {
            Amplitude::Fixed(_) => continue,
            Amplitude::Learned(prior) => each(device, model, state, b, prior, stream),
            Amplitude::Shared(prior) => shared(device, model, state, b, prior, stream),
        }
        device.set_weights(&state.beta);
        check(device)?;
    }
    Ok(())
}

/// The columns of block b that have weights.
fn free(model: &Model, b: usize) -> Vec<usize> {
    model.blocks()[b].columns.clone().filter(|&j| model.is_free(j)).collect()
}

/// Log-likelihoods of all columns, with the weights of these columns of block b grown by `factors`.
fn grown(device: &mut dyn Device, model: &Model, state: &State, b: usize, factors: &[f64]) -> Vec<f64> {
    let theta = &state.theta[b].values;
    let first = model.blocks()[b].columns.start;
    let mut all = vec![ColumnAt::HERE; model.columns()];
    for (j, factor) in free(model, b).into_iter().zip(factors) {
        let theta = [0, 1].map(|p| if theta.rows() > p { theta[(p, j - first)] } else { 1.0 });
        all[j] = ColumnAt { factor: *factor, shift: 0.0, theta };
    }
    let mut values = vec![0.0; model.columns()];
    device.ln_lik_columns(&all, &mut values);
    values
}

/// Multiplies the weights of column j, less their prior means.
fn grow(model: &Model, state: &mut State, j: usize, factor: f64) {
    let last = state.beta.rows() - 1;
    for m in 0..=last {
        let centre = if m == last { model.units()[j].centre } else { 0.0 };
        state.beta[(m, j)] = centre + factor * (state.beta[(m, j)] - centre);
    }
}

/// One per column: with the weights in units of τ held, then with the weights held.
fn each(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, prior: HalfT, stream: Stream) {
    let columns = free(model, b);
    let mut rngs: Vec<StreamRng> =
        columns.iter().map(|&j| stream.at(model.number_in_block(b, j) as u64).rng()).collect();
    let from: Vec<f64> = columns.iter().map(|&j| state.tau2[j].ln()).collect();
    let to = rounds::univariate(&mut rngs, &from, WIDTH, |v, out| {
        let factors: Vec<f64> = from.iter().zip(v).map(|(u, v)| growth(*u, *v)).collect();
        let values = grown(device, model, state, b, &factors);
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

/// One for all columns of block b, of which this process may have none.
fn shared(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, prior: HalfT, stream: Stream) {
    let rng = &mut stream.rng();
    let columns = free(model, b);
    let first = model.blocks()[b].columns.start;
    let sum = |f: &(dyn Fn(usize) -> f64 + Sync)| {
        model.sum_block(b, |j| if model.is_free(first + j) { f(first + j) } else { 0.0 })
    };
    let u = model.shared_tau2(&state.tau2, b).ln();
    let mut ln = |v: f64| {
        let values = grown(device, model, state, b, &vec![growth(u, v); columns.len()]);
        sum(&|j| values[j]) + prior.ln_density(v)
    };
    let current = ln(u);
    let (v, _) = slice::univariate(rng, u, current, WIDTH, ln);
    columns.iter().for_each(|&j| grow(model, state, j, growth(u, v)));
    let count = (model.free_of_block(b) * state.beta.rows()) as f64;
    let square = sum(&|j| square(model, state, j));
    let ln = |u: f64| ln_centred(prior, count, square, u);
    let u = slice::univariate(rng, v, ln(v), WIDTH, ln).0;
    state.tau2[model.blocks()[b].columns.clone()].fill(u.exp());
}
