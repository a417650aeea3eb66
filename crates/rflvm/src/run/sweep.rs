//! One sweep of exact moves, in an order that is essential to their correctness.

use crate::error::NumericalError;
use crate::hmc::gradient::Layout;
use crate::hmc::hamiltonian::hamiltonian;
use crate::hmc::marginal::Marginal;
use crate::hmc::tuning::Tuning;
use crate::hmc::update::{self, held};
use crate::hmc::workspace::Workspace;
use crate::model::collapsed::CollapsedData;
use crate::model::latent::Paths;
use crate::model::spectral::Kernel;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::steps::info::Clock;
use crate::steps::{
    Moves, Step, SweepInfo, amplitudes, assignments, collapsed, components, concentration, frequencies, positions,
    relevance, symmetry, timescales, weights, windows,
};
use rand::RngExt;

/// Rounds of cluster assignments per sweep.
const SPECTRAL_ROUNDS: u64 = 5;

/// One sweep of the sampler.
///
/// The order: the spectral prior first, since it depends only on W; then W and X, where possible with β and σ² integrated out,
/// and so right before β and θ are redrawn: a sweep ends with a joint draw of (X, W, β, θ). Symmetry moves come last:
/// they leave F unchanged.
pub fn sweep(
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    room: &mut Workspace,
    stream: Stream,
) -> Result<SweepInfo, NumericalError> {
    let mut info = SweepInfo::default();
    let mut clock = Clock::new();
    if let Kernel::Learned(mixture) = &model.spec().kernel {
        // Cheap compared with the rest of a sweep, and clusters form and dissolve slowly.
        for round in 0..SPECTRAL_ROUNDS {
            let stream = stream.at(round);
            assignments::update(mixture, state, &mut stream.named("z").rng())?;
            concentration::update(mixture, &mut state.spectral, &mut stream.named("alpha").rng());
        }
        components::update(mixture, state, &mut stream.named("clusters").rng())?;
        relevance::update(mixture, &mut state.spectral, &mut stream.named("psi").rng());
    }
    clock.lap(&mut info, Step::Spectral);
    let mut paths = model.paths(state)?;
    clock.lap(&mut info, Step::Scales);
    if model.is_collapsed() {
        collapsed_moves(model, state, moves, tuning, room, stream, (&mut info, &mut clock))?;
    } else {
        frequencies::update(model, state, moves, stream.named("w"), &mut info)?;
        clock.lap(&mut info, Step::Frequencies);
        match &mut paths {
            Some(paths) => timed(model, state, paths, moves, stream, &mut info, &mut clock)?,
            None if moves.positions => positions::update(model, state, stream.named("x"), &mut info)?,
            None => {}
        }
        clock.lap(&mut info, Step::Positions);
        if moves.gradient {
            let stream = stream.named("gradient");
            info.acceptance = update::update(model, state, paths.as_ref(), moves.positions, tuning, room, stream)?;
        }
        clock.lap(&mut info, Step::Gradient);
    }
    // X and W moved with β integrated out: all of β is redrawn.
    let share = if model.is_collapsed() { 1.0 } else { moves.share() };
    weights::update(model, state, share, stream.named("beta"))?;
    amplitudes::update(model, state, &mut stream.named("tau2").rng());
    clock.lap(&mut info, Step::Weights);
    if moves.symmetry && moves.positions {
        symmetry::translate(state, paths.as_ref(), &mut stream.named("translation").rng());
        // Axes of paths have their own scales and are not rotated.
        if model.has_relevance() && paths.is_none() {
            relevance::turn(state, &mut stream.named("turn").rng())?;
        }
        let rng = &mut stream.named("scale").rng();
        match &mut paths {
            Some(paths) => symmetry::scale_path(model, state, paths, rng)?,
            None => symmetry::scale(model, state, rng)?,
        }
    }
    clock.lap(&mut info, Step::Symmetry);
    Ok(info)
}

/// X along time, and the scales of its paths; the latter also while X is held fixed.
fn timed(
    model: &Model,
    state: &mut State,
    paths: &mut Paths<'_>,
    moves: Moves,
    stream: Stream,
    info: &mut SweepInfo,
    clock: &mut Clock,
) -> Result<(), NumericalError> {
    // One of the two at random: each candidate costs a factorisation of the covariance.
    let stream = stream.named("scales");
    if moves.positions && stream.named("turn").rng().random() {
        timescales::whitened(model, state, paths, stream)?;
    } else {
        timescales::centred(state, paths, stream)?;
    }
    clock.lap(info, Step::Scales);
    if moves.positions {
        windows::update(model, state, paths, stream.named("windows"), info)?;
    }
    Ok(())
}

/// X and W of a complete Gaussian, with β and σ² integrated out.
fn collapsed_moves(
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    room: &mut Workspace,
    stream: Stream,
    (info, clock): (&mut SweepInfo, &mut Clock),
) -> Result<(), NumericalError> {
    // F is not needed while β is integrated out: Ỹ uses its memory until F is recomputed.
    let target = CollapsedData::within(model, std::mem::take(&mut state.f));
    let moved = integrated(&target, model, state, moves, tuning, room, stream, (info, clock));
    state.f = target.into_memory();
    moved
}

/// The moves, given Ỹ; residuals are in the workspace's table.
#[allow(clippy::too_many_arguments)]
fn integrated(
    target: &CollapsedData,
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    room: &mut Workspace,
    stream: Stream,
    (info, clock): (&mut SweepInfo, &mut Clock),
) -> Result<(), NumericalError> {
    collapsed::pairs::update(target, state, moves, room.table(), stream.named("w"), info)?;
    clock.lap(info, Step::Frequencies);
    if moves.positions {
        collapsed::rows::update(target, state, moves.share(), room.table(), stream.named("x"), info)?;
    }
    clock.lap(info, Step::Positions);
    if moves.gradient {
        let layout = Layout::new(model, false);
        let mut q = layout.gather(state);
        let h = state.features.lend();
        let mut marginal = Marginal::within(target, &state.spectral, layout, h, std::mem::take(room));
        let trajectory = held(&tuning.trajectory, model, moves.positions, false);
        let landing = hamiltonian(&mut marginal, &mut q, &trajectory, None, &mut stream.named("gradient").rng());
        info.acceptance = landing.acceptance;
        let h;
        (h, *room) = marginal.finish();
        let (x, w, _) = layout.split(&q);
        state.features.take_back(h, landing.is_accepted.then_some((x, w)));
    }
    clock.lap(info, Step::Gradient);
    Ok(())
}
