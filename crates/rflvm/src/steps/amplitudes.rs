//! τ_j²: amplitudes of the columns, where they are learned and not drawn with the weights integrated out.
//!
//! By slices on u = ln τ², in turn with the weights held and with what they are in units of τ held. The first sees
//! p(β_j | τ_j) alone, and moves fast where the data know the weights; the second moves the weights along, and F with them, and moves fast where they
//! do not (Yu & Meng 2011).

use crate::error::NumericalError;
use crate::model::family::{Column, Family};
use crate::model::{Amplitude, Block, HalfT, Model, State};
use crate::rng::Stream;
use crate::slice;
use rand::Rng;

/// Width of a slice of ln τ².
const WIDTH: f64 = 1.0;

/// ln p(β | τ²) + ln p(u) up to a constant, for `count` weights whose squares in units of their prior but for τ² sum to `square`.
pub fn ln_centred(prior: HalfT, count: f64, square: f64, u: f64) -> f64 {
    prior.ln_density(u) - 0.5 * count * u - 0.5 * (-u).exp() * square
}

/// λ_j Σ_m (β_mj − b_0)²/d_m, d the prior variances for τ² = λ = 1.
pub fn square(model: &Model, state: &State, j: usize) -> f64 {
    let last = state.beta.rows() - 1;
    let weights: f64 = (0..last).map(|m| state.beta[(m, j)].powi(2)).sum();
    let intercept = (state.beta[(last, j)] - model.units()[j].centre).powi(2) / model.spec().intercept_variance;
    model.weight_scale(&state.theta, j) * (weights + intercept)
}

/// Redraws the amplitudes that are learned, and F where it moved with them.
pub fn update(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        match model.amplitude(block) {
            Amplitude::Fixed(_) => {}
            Amplitude::Learned(prior) => each(model, state, b, prior, stream.at(b as u64))?,
            Amplitude::Shared(prior) => shared(model, state, block, prior, stream.at(b as u64)),
        }
    }
    state.refresh(model);
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
            let mut square = squares[column.j];
            let grown = whitened(block.family.as_ref(), column, prior, rng);
            square *= grown;
            let ln = |u: f64| ln_centred(prior, count, square, u);
            let u = column.tau2.ln();
            column.tau2 = slice::univariate(rng, u, ln(u), WIDTH, ln).0.exp();
        }
        Ok(())
    })
}

/// With (β_j − b_0)/τ_j held: f − o − centre grows with τ. Returns what the squares of the weights have grown by.
fn whitened<R: Rng + ?Sized>(family: &dyn Family, column: &mut Column<'_>, prior: HalfT, rng: &mut R) -> f64 {
    let known: Vec<f64> = column.offset.iter().map(|o| o + column.unit.centre).collect();
    let at = |factor: f64| -> Vec<f64> {
        column.f.iter().zip(&known).map(|(f, known)| known + factor * (f - known)).collect()
    };
    let u = column.tau2.ln();
    let ln = |v: f64| family.ln_lik_column(column, &at((0.5 * (v - u)).exp())).map(|ln| ln + prior.ln_density(v));
    let Some(current) = ln(u) else { return 1.0 };
    let (v, _) = slice::univariate(rng, u, current, WIDTH, |v| ln(v).unwrap_or(f64::NEG_INFINITY));
    let factor = (0.5 * (v - u)).exp();
    let (f, last) = (at(factor), column.beta.len() - 1);
    column.f = f;
    for (m, beta) in column.beta.iter_mut().enumerate() {
        let centre = if m == last { column.unit.centre } else { 0.0 };
        *beta = centre + factor * (*beta - centre);
    }
    column.tau2 = v.exp();
    factor * factor
}

/// One for all columns of a block.
fn shared(model: &Model, state: &mut State, block: &Block, prior: HalfT, stream: Stream) {
    let rng = &mut stream.rng();
    let free: Vec<usize> = block.columns.clone().filter(|&j| model.is_free(j)).collect();
    let Some(&first) = free.first() else { return };
    let count = (free.len() * state.beta.rows()) as f64;
    // With the weights in units of τ held.
    let (u, start) = (state.tau2[first].ln(), block.columns.start);
    let known = |n: usize, j: usize| model.offset()[n] + if model.is_free(j) { model.units()[j].centre } else { 0.0 };
    let ln = |v: f64| {
        let factor = (0.5 * (v - u)).exp();
        let theta = &state.theta[model.blocks().iter().position(|b| b.columns == block.columns).unwrap_or(0)];
        let sum = crate::par::sum(model.rows(), 4 * block.columns.len(), |rows| {
            let mut f = vec![0.0; block.columns.len()];
            rows.map(|n| {
                let cells = &state.f.row(n)[block.columns.clone()];
                for (i, (to, from)) in f.iter_mut().zip(cells).enumerate() {
                    let known = known(n, start + i);
                    *to = known + factor * (from - known);
                }
                block.family.ln_lik(model.row(block, n, theta), &f)
            })
            .sum()
        });
        sum + prior.ln_density(v)
    };
    let (v, _) = slice::univariate(rng, u, ln(u), WIDTH, ln);
    let factor = (0.5 * (v - u)).exp();
    let last = state.beta.rows() - 1;
    for &j in &free {
        for m in 0..=last {
            let centre = if m == last { model.units()[j].centre } else { 0.0 };
            state.beta[(m, j)] = centre + factor * (state.beta[(m, j)] - centre);
        }
    }
    // With the weights held.
    let square: f64 = free.iter().map(|&j| square(model, state, j)).sum();
    let ln = |u: f64| ln_centred(prior, count, square, u);
    let u = slice::univariate(rng, v, ln(v), WIDTH, ln).0;
    state.tau2[block.columns.clone()].fill(u.exp());
}
