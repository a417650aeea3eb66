//! The gradient move and the jumps of X and W of a complete Gaussian table, and s, with β and σ² integrated out.

use super::gradient::held;
use super::{Moves, jumps, linear};
use crate::error::NumericalError;
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::gradient::{Layout, Split};
use crate::hmc::hamiltonian::hamiltonian;
use crate::hmc::marginal::Marginal;
use crate::hmc::workspace::Workspace;
use crate::model::collapsed::CollapsedData;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::steps::tuning::Tuning;

/// Moves X, W and s; β and θ must be redrawn next. Returns the acceptance probability of the gradient move.
pub fn update(
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    workspace: &mut Workspace,
    stream: Stream,
) -> Result<f64, NumericalError> {
    if !moves.gradient && !model.has_linear() {
        return Ok(0.0);
    }
    // F is not needed while β is integrated out: Ỹ uses its memory until F is recomputed.
    let target = CollapsedData::within(model, &state.theta, std::mem::take(&mut state.f));
    let mut acceptance = 0.0;
    if moves.gradient {
        let layout = Layout::new(model, false);
        let (mut q, h) = (layout.gather(state), state.features.lend());
        let frequencies = FrequencyPrior::integrated(&model.spec().kernel, &state.spectral);
        let given = (frequencies, state.features.plain());
        let mut marginal = Marginal::within(&target, &state.tau2, given, layout, h, std::mem::take(workspace));
        let trajectory = held(&tuning.trajectory, model, moves.positions, false);
        let stream = stream.named("gradient");
        let landing = hamiltonian(&mut marginal, &mut q, &trajectory, None, &mut stream.rng());
        let h;
        (h, *workspace) = marginal.finish();
        let Split { x, w, .. } = layout.split(&q);
        state.features.take_back(h, landing.is_accepted.then_some((x, w)));
        acceptance = landing.acceptance;
        jumps::update(model, state, &target, (moves.positions, moves.jumps), stream.named("jumps"))?;
    }
    linear::update_collapsed(model, state, &target, stream.named("linear-collapsed"));
    state.f = target.into_memory();
    Ok(acceptance)
}
