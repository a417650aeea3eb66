//! τ_j²: amplitudes of the columns, if learned and not drawn with the weights integrated out.
//!
//! Slice sampling of u = ln τ², alternately with the weights fixed and with the weights in units of τ fixed (Yu & Meng 2011). The first
//! depends on p(β_j | τ_j) only, and mixes well where the data determine the weights; the second rescales the weights, and F with
//! them, and mixes well where they do not.

pub use crate::model::strength::{ln_centred, square};
pub use crate::table::host::ln_whitened;

use crate::error::NumericalError;
use crate::model::strength::{WIDTH, grow, growth};
use crate::model::{Amplitude, HalfT, Model, State};
use crate::rng::Stream;
use crate::slice;
use crate::table::{Host, Table};

/// Redraws the amplitudes that are learned, and F where it moved with them.
pub fn update(table: &mut dyn Table, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let mut moved = false;
    for (b, block) in model.blocks().iter().enumerate() {
        match model.amplitude(block) {
            Amplitude::Fixed(_) => continue,
            Amplitude::Learned(prior) => table.slice_amplitudes(model, state, b, prior, stream.at(b as u64))?,
            Amplitude::Shared(prior) => shared(table, model, state, b, prior, stream.at(b as u64)),
        }
        moved = true;
    }
    if moved {
        table.refresh(model, state);
    }
    table.check()
}

/// ln p(Y | F) of block b + ln p(v) up to a constant, at ln τ² = v for all its columns with (β − b_0)/τ held. For identity tests.
pub fn ln_whitened_block(model: &Model, state: &State, b: usize, prior: HalfT, v: f64) -> f64 {
    let u = model.shared_tau2(&state.tau2, b).ln();
    Host::default().ln_lik_grown(model, state, b, growth(u, v)) + prior.ln_density(v)
}

/// One for all columns of block b.
fn shared(table: &mut dyn Table, model: &Model, state: &mut State, b: usize, prior: HalfT, stream: Stream) {
    let rng = &mut stream.rng();
    let columns = model.blocks()[b].columns.clone();
    let free: Vec<usize> = columns.clone().filter(|&j| model.is_free(j)).collect();
    // With the weights in units of τ held.
    let u = model.shared_tau2(&state.tau2, b).ln();
    let mut ln = |v: f64| table.ln_lik_grown(model, state, b, growth(u, v)) + prior.ln_density(v);
    let current = ln(u);
    let (v, _) = slice::univariate(rng, u, current, WIDTH, ln);
    free.iter().for_each(|&j| grow(model, state, j, growth(u, v)));
    // With the weights held.
    let count = (model.free_of_block(b) * state.beta.rows()) as f64;
    let is_free = |j: usize| model.is_free(columns.start + j);
    let square: f64 = model.sum_block(b, |j| if is_free(j) { square(model, state, columns.start + j) } else { 0.0 });
    let ln = |u: f64| ln_centred(prior, count, square, u);
    let u = slice::univariate(rng, v, ln(v), WIDTH, ln).0;
    state.tau2[columns].fill(u.exp());
}
