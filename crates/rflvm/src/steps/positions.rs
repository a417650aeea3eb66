//! X, independent rows: x_n ~ N(0, I) times Π_j p(y_nj | f_nj). Given W, β and θ the rows are independent, so all
//! of them take an elliptical slice step in parallel, each with its own stream.

use super::{SweepInfo, together};
use crate::error::NumericalError;
use crate::model::features::RowsMut;
use crate::model::position::{Positions, Scratch};
use crate::model::{Model, State};
use crate::par;
use crate::rng::Stream;
use crate::slice;

/// Moves all rows.
pub fn update(model: &Model, state: &mut State, stream: Stream, info: &mut SweepInfo) -> Result<(), NumericalError> {
    if !model.chunks().is_alone() {
        return together::update(model, state, stream, info);
    }
    let (columns, dim, width) = (model.columns(), model.latent_dim(), model.width());
    let together = par::chunk_rows(model.rows(), 40 * columns);
    let (pieces, w, s) = state.features.pieces_mut(together);
    let positions = Positions::new(model, &state.theta, &state.beta, (w, s));
    let step = |scratch: &mut Scratch, n: usize, x: &mut [f64], at: (&mut [f64], &mut [f64])| {
        let rng = &mut stream.at(n as u64).rng();
        let current = model.ln_lik_row(&state.theta, n, at.1);
        if !current.is_finite() {
            let place = format!("row {}", n + 1);
            return Err(NumericalError::NotFinite { step: "positions", value: current, place });
        }
        let mut room = std::mem::take(&mut scratch.room);
        let landing = slice::standard(rng, x, current, &mut room, |x| positions.ln_lik(n, x, scratch));
        scratch.room = room;
        if landing.sin != 0.0 {
            at.0.copy_from_slice(&scratch.h);
            at.1.copy_from_slice(&scratch.f);
        }
        Ok(landing.tries)
    };
    let pieces = pieces.zip(state.f.as_mut_slice().chunks_mut(together * columns)).enumerate();
    let tries = par::collect(pieces, 1, |(c, (RowsMut { x, h }, f))| {
        let scratch = &mut positions.scratch();
        let rows = x.chunks_mut(dim).zip(h.chunks_mut(width)).zip(f.chunks_mut(columns)).enumerate();
        rows.map(|(i, ((x, h), f))| step(scratch, c * together + i, x, (h, f))).sum::<Result<u32, _>>()
    });
    info.position_tries = tries.into_iter().sum::<Result<u32, NumericalError>>()?.into();
    info.position_tries /= model.rows() as f64;
    Ok(())
}

/// ln p(x_n' | rest) − ln p(x_n | rest): the target of the slice, prior included. For identity tests.
pub fn ln_ratio(model: &Model, state: &State, n: usize, x: &[f64]) -> f64 {
    let features = (state.features.w(), state.features.plain().s());
    let positions = Positions::new(model, &state.theta, &state.beta, features);
    let there = positions.ln_lik(n, x, &mut positions.scratch());
    let square = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
    there - model.ln_lik_row(&state.theta, n, state.f.row(n)) - 0.5 * square(x)
        + 0.5 * square(state.features.x().row(n))
}
