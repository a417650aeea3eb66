//! X, independent rows: x_n ~ N(0, I) times Π_j p(y_nj | f_nj). Given W, β and θ the rows are independent, so all
//! of them take an elliptical slice step in parallel, each with its own stream.

use super::SweepInfo;
use crate::error::NumericalError;
use crate::model::position::Positions;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::table::Table;

/// Moves all rows.
pub fn update(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let tries = table.slice_rows(model, state, stream)?;
    info.position_tries = f64::from(tries) / model.rows() as f64;
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
