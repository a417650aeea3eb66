//! τ_j²: amplitudes of the columns, if learned and not drawn with the weights integrated out.
//!
//! Slice sampling of u = ln τ², alternately with the weights fixed and with the weights in units of τ fixed (Yu & Meng 2011). The first
//! depends on p(β_j | τ_j) only, and mixes well where the data determine the weights; the second rescales the weights, and F with
//! them, and mixes well where they do not.

use crate::error::NumericalError;
use crate::model::family::{Column, Family};
use crate::model::{Amplitude, HalfT, Model, State};
use crate::par;
use crate::rng::Stream;
use crate::slice;
use rand::Rng;

/// Width of a slice of ln τ².
pub(crate) const WIDTH: f64 = 1.0;

/// ln p(β | τ²) + ln p(u) up to a constant, for `count` weights whose squares in units of their prior but for τ² sum to `square`.
pub fn ln_centred(prior: HalfT, count: f64, square: f64, u: f64) -> f64 {
    prior.ln_density(u) - 0.5 * count * u - 0.5 * (-u).exp() * square
}

/// λ_j Σ_m (β_mj − b_0)²/d_m, d the prior variances for τ² = λ = 1.
pub fn square(model: &Model, state: &State, j: usize) -> f64 {
    let last = state.beta.rows() - 1;
    let weights: f64 = (0..last).map(|m| state.beta[(m, j)].powi(2)).sum();
    let intercept = (state.beta[(last, j)] - model.units()[j].centre).powi(2) / model.spec().priors.intercept;
    model.weight_scale(&state.theta, j) * (weights + intercept)
}

/// Redraws the amplitudes that are learned, and F where it moved with them.
pub fn update(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let mut moved = false;
    for (b, block) in model.blocks().iter().enumerate() {
        match model.amplitude(block) {
            Amplitude::Fixed(_) => continue,
            Amplitude::Learned(prior) => each(model, state, b, prior, stream.at(b as u64))?,
            Amplitude::Shared(prior) => shared(model, state, b, prior, stream.at(b as u64)),
        }
        moved = true;
    }
    if moved {
        state.refresh(model);
    }
    Ok(())
}

/// One per column.
fn each(model: &Model, state: &mut State, b: usize, prior: HalfT, stream: Stream) -> Result<(), NumericalError> {
    let block = &model.blocks()[b];
    let columns = block.columns.clone();
    let squares: Vec<f64> = columns.clone().map(|j| square(model, state, j)).collect();
    let (free, count) = (|j: usize| model.is_free(columns.start + j), state.beta.rows() as f64);
    let work = 30 * model.rows();
    model.block_view(b, state, 1.0).each_column(stream, work, |column, rng| {
        if free(column.j) {
            let square = squares[column.j] * whitened(block.family.as_ref(), column, prior, rng);
            let ln = |u: f64| ln_centred(prior, count, square, u);
            let u = column.tau2.ln();
            column.tau2 = slice::univariate(rng, u, ln(u), WIDTH, ln).0.exp();
        }
        Ok(())
    })
}

/// f of a column whose weights, less their prior means, are `factor` times what they were.
fn grown(column: &Column<'_>, factor: f64) -> Vec<f64> {
    let cells = column.f.iter().zip(&column.offset);
    cells.map(|(f, o)| (o + column.unit.centre) + factor * (f - o - column.unit.centre)).collect()
}

/// What multiplies the weights when u becomes v and (β_j − b_0)/τ_j is held.
pub(crate) fn growth(u: f64, v: f64) -> f64 {
    (0.5 * (v - u)).exp()
}

/// ln p(y_j | f) + ln p(v) up to a constant, at ln τ_j² = v with (β_j − b_0)/τ_j held. `None` where the cells of a row depend on each other.
pub fn ln_whitened(family: &dyn Family, column: &Column<'_>, prior: HalfT, v: f64) -> Option<f64> {
    let f = grown(column, growth(column.tau2.ln(), v));
    family.ln_lik_column(column, &f).map(|ln| ln + prior.ln_density(v))
}

/// With (β_j − b_0)/τ_j held. Returns the factor by which the squares of the weights have grown.
fn whitened<R: Rng + ?Sized>(family: &dyn Family, column: &mut Column<'_>, prior: HalfT, rng: &mut R) -> f64 {
    let ln = |v: f64| ln_whitened(family, column, prior, v);
    let u = column.tau2.ln();
    let Some(current) = ln(u) else { return 1.0 };
    let (v, _) = slice::univariate(rng, u, current, WIDTH, |v| ln(v).unwrap_or(f64::NEG_INFINITY));
    let (factor, last) = (growth(u, v), column.beta.len() - 1);
    column.f = grown(column, factor);
    for (m, beta) in column.beta.iter_mut().enumerate() {
        let centre = if m == last { column.unit.centre } else { 0.0 };
        *beta = centre + factor * (*beta - centre);
    }
    column.tau2 = v.exp();
    factor * factor
}

/// ln p(Y | F) of block b + ln p(v) up to a constant, at ln τ² = v for all its columns with (β − b_0)/τ held.
pub fn ln_whitened_block(model: &Model, state: &State, b: usize, prior: HalfT, v: f64) -> f64 {
    ln_whitened_from(model, state, b, prior, model.shared_tau2(&state.tau2, b).ln(), v)
}

/// The same, for a current ln τ² of u.
fn ln_whitened_from(model: &Model, state: &State, b: usize, prior: HalfT, u: f64, v: f64) -> f64 {
    let (own, factor, beside) = (model.blocks()[b].columns.clone(), growth(u, v), model.known(state));
    let centres: Vec<f64> = own.clone().map(|j| if model.is_free(j) { model.units()[j].centre } else { 0.0 }).collect();
    let ln_lik = model.chunks().sum(|chunk| {
        let some = chunk.columns.start.max(own.start)..chunk.columns.end.min(own.end);
        if some.is_empty() {
            return 0.0;
        }
        par::sum(model.rows(), 4 * some.len(), |rows| {
            let mut f = vec![0.0; own.end];
            let of_row = |n: usize| {
                for (j, from) in some.clone().zip(&state.f.row(n)[some.clone()]) {
                    let known = beside.at(n, j) + centres[j - own.start];
                    f[j] = known + factor * (from - known);
                }
                model.ln_lik_cells(&state.theta, n, &some, &f)
            };
            rows.map(of_row).sum()
        })
    });
    ln_lik + prior.ln_density(v)
}

/// One for all columns of block b.
fn shared(model: &Model, state: &mut State, b: usize, prior: HalfT, stream: Stream) {
    let rng = &mut stream.rng();
    let columns = model.blocks()[b].columns.clone();
    let free: Vec<usize> = columns.clone().filter(|&j| model.is_free(j)).collect();
    // With the weights in units of τ held.
    let u = model.shared_tau2(&state.tau2, b).ln();
    let ln = |v: f64| ln_whitened_from(model, state, b, prior, u, v);
    let (v, _) = slice::univariate(rng, u, ln(u), WIDTH, ln);
    let (factor, last) = (growth(u, v), state.beta.rows() - 1);
    for &j in &free {
        for m in 0..=last {
            let centre = if m == last { model.units()[j].centre } else { 0.0 };
            state.beta[(m, j)] = centre + factor * (state.beta[(m, j)] - centre);
        }
    }
    // With the weights held.
    let count = (model.free_of_block(b) * state.beta.rows()) as f64;
    let is_free = |j: usize| model.is_free(columns.start + j);
    let square: f64 = model.sum_block(b, |j| if is_free(j) { square(model, state, columns.start + j) } else { 0.0 });
    let ln = |u: f64| ln_centred(prior, count, square, u);
    let u = slice::univariate(rng, v, ln(v), WIDTH, ln).0;
    state.tau2[columns].fill(u.exp());
}
