//! One sweep of exact moves, in an order that is essential to their correctness.

use crate::error::NumericalError;
use crate::hmc::frequencies::FrequencyPrior;
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
    Moves, Step, SweepInfo, amplitudes, assignments, components, concentration, frequencies, jumps, linear, positions,
    relevance, residual, symmetry, timescales, weights, windows,
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
    spectral(model, state, stream)?;
    clock.lap(&mut info, Step::Spectral);
    let mut paths = model.paths(state)?;
    clock.lap(&mut info, Step::Scales);
    if model.is_collapsed() {
        info.acceptance = integrated(model, state, moves, tuning, room, stream)?;
        if moves.gradient {
            redraw_clusters(model, state, stream)?;
        }
        clock.lap(&mut info, Step::Gradient);
        // X and W moved with β integrated out: all of it is redrawn, amplitudes with it, before anything is asked of it.
        weights::update(model, state, 1.0, stream.named("beta"))?;
        linear::update(model, state, stream.named("linear"));
        clock.lap(&mut info, Step::Weights);
        one_by_one(model, state, &mut paths, moves, stream, &mut info, &mut clock)?;
    } else {
        one_by_one(model, state, &mut paths, moves, stream, &mut info, &mut clock)?;
        if moves.gradient {
            let gradient = stream.named("gradient");
            info.acceptance = update::update(model, state, paths.as_ref(), moves.positions, tuning, room, gradient)?;
            redraw_clusters(model, state, stream)?;
        }
        clock.lap(&mut info, Step::Gradient);
        weights::update(model, state, moves.share(), stream.named("beta"))?;
        residual::update(model, state, moves.share(), stream.named("residual"))?;
        amplitudes::update(model, state, stream.named("tau2"))?;
        linear::update(model, state, stream.named("linear"));
    }
    clock.lap(&mut info, Step::Weights);
    if moves.symmetry && moves.positions {
        symmetries(model, state, &mut paths, stream)?;
    }
    clock.lap(&mut info, Step::Symmetry);
    Ok(info)
}

/// Moves that leave F unchanged.
pub(crate) fn symmetries(
    model: &Model,
    state: &mut State,
    paths: &mut Option<Paths<'_>>,
    stream: Stream,
) -> Result<(), NumericalError> {
    symmetry::translate(model, state, paths.as_ref(), &mut stream.named("translation").rng())?;
    // Axes of paths have their own scales and are not rotated.
    if model.has_relevance() && paths.is_none() {
        relevance::turn(state, &mut stream.named("turn").rng())?;
    }
    let rng = &mut stream.named("scale").rng();
    match paths {
        Some(paths) => symmetry::scale_path(model, state, paths, rng),
        None => symmetry::scale(model, state, rng),
    }
}

/// The prior of W: clusters, their members and their number.
pub(crate) fn spectral(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    let Kernel::Learned(mixture) = &model.spec().kernel else { return Ok(()) };
    // Cheap compared with the rest of a sweep, and clusters form and dissolve slowly.
    for round in 0..SPECTRAL_ROUNDS {
        let stream = stream.at(round);
        assignments::update(mixture, state, &mut stream.named("z").rng())?;
        concentration::update(mixture, &mut state.spectral, &mut stream.named("alpha").rng());
    }
    components::update(mixture, state, &mut stream.named("clusters").rng())?;
    relevance::update(mixture, &mut state.spectral, &mut stream.named("psi").rng());
    Ok(())
}

/// (μ_k, Σ_k), which a gradient move integrates out: before anything is asked of them.
pub(crate) fn redraw_clusters(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    match &model.spec().kernel {
        Kernel::Learned(mixture) => components::update(mixture, state, &mut stream.named("clusters again").rng()),
        Kernel::Rbf { .. } => Ok(()),
    }
}

/// W frequency by frequency, and X row by row or window by window, given β.
fn one_by_one(
    model: &Model,
    state: &mut State,
    paths: &mut Option<Paths<'_>>,
    moves: Moves,
    stream: Stream,
    info: &mut SweepInfo,
    clock: &mut Clock,
) -> Result<(), NumericalError> {
    frequencies::update(model, state, moves, stream.named("w"), info)?;
    clock.lap(info, Step::Frequencies);
    match paths {
        Some(paths) => timed(model, state, paths, moves, stream, info, clock)?,
        None if moves.positions => positions::update(model, state, stream.named("x"), info)?,
        None => {}
    }
    clock.lap(info, Step::Positions);
    Ok(())
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

/// The gradient move and the jumps of X and W of a complete Gaussian table, and s, with β and σ² integrated out. Returns the acceptance
/// probability of the first.
fn integrated(
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    room: &mut Workspace,
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
        let mut marginal = Marginal::within(&target, &state.tau2, given, layout, h, std::mem::take(room));
        let trajectory = held(&tuning.trajectory, model, moves.positions, false);
        let stream = stream.named("gradient");
        let landing = hamiltonian(&mut marginal, &mut q, &trajectory, None, &mut stream.rng());
        let h;
        (h, *room) = marginal.finish();
        let (x, w, _) = layout.split(&q);
        state.features.take_back(h, landing.is_accepted.then_some((x, w)));
        acceptance = landing.acceptance;
        jumps::update(model, state, &target, (moves.positions, moves.jumps), stream.named("jumps"))?;
    }
    linear::update_collapsed(model, state, &target, stream.named("linear-collapsed"));
    state.f = target.into_memory();
    Ok(acceptance)
}
