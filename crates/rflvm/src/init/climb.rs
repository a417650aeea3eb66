//! An ascent of X, W and β together, given the rest.

use crate::error::NumericalError;
use crate::hmc::gradient::{Layout, Split};
use crate::hmc::optimise::{Limit, Optimum};
use crate::model::{Model, State};
use crate::table::Table;

/// What an ascent climbs, and how far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Climb {
    /// Whether X moves.
    pub positions: bool,
    /// Whether W moves.
    pub frequencies: bool,
    /// Whether β is integrated out: exactly, or by Laplace's method about its optimum.
    pub is_integrated: bool,
    /// Most steps.
    pub iterations: usize,
    /// It stops once ten steps together gain less than this.
    pub gain: f64,
}

/// Moves X, W and β to a maximum.
pub(super) fn climb(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    how: Climb,
) -> Result<Optimum, NumericalError> {
    let with_beta = !(how.is_integrated && table.is_exact(model));
    let layout = Layout::new(model, with_beta);
    let scales = scales(model, state, layout, (how.positions, how.frequencies));
    let mut q = layout.gather(state);
    let limit = Limit { scales: &scales, iterations: how.iterations, gain: how.gain };
    let optimum = table.climb(model, state, &mut q, how.is_integrated, limit)?;
    let Split { x, w, beta } = layout.split(&q);
    state.features.set(x, w);
    if with_beta {
        state.beta.as_mut_slice().copy_from_slice(beta);
    }
    table.check()?;
    drop(q);
    table.reset(model, state);
    Ok(optimum)
}

/// One for positions and frequencies that move; for weights the prior's standard deviations, so that the optimiser takes the same steps in any unit of
/// the table, and zero for fixed weights.
pub(super) fn scales(model: &Model, state: &State, layout: Layout, (x, w): (bool, bool)) -> Vec<f64> {
    let mut scales = vec![1.0; layout.len()];
    let of = layout.split_mut(&mut scales);
    of.x.fill(f64::from(u8::from(x)));
    of.w.fill(f64::from(u8::from(w)));
    let of_column = |j: usize| match model.is_free(j) {
        true => (state.tau2[j] / model.weight_scale(&state.theta, j)).sqrt(),
        false => 0.0,
    };
    let row: Vec<f64> = (0..model.columns()).map(of_column).collect();
    of.beta.chunks_exact_mut(row.len()).for_each(|to| to.copy_from_slice(&row));
    scales
}
