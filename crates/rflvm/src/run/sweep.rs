//! One sweep of exact moves, in an order that is essential to their correctness.

use crate::error::NumericalError;
use crate::model::latent::Paths;
use crate::model::spectral::Kernel;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::steps::info::Clock;
use crate::steps::tuning::Tuning;
use crate::steps::{
    Moves, Step, SweepInfo, amplitudes, assignments, column_process, components, concentration, frequencies, gradient,
    integrated, linear, positions, relevance, symmetry, timescales, windows,
};
use crate::table::Table;
use rand::RngExt;

/// Rounds of cluster assignments per sweep.
const SPECTRAL_ROUNDS: u64 = 5;

/// One sweep of the sampler.
///
/// The order: the spectral prior first, since it depends only on W; then W and X, where possible with β and σ² integrated out,
/// and so right before β and θ are redrawn: a sweep ends with a joint draw of (X, W, β, θ). Symmetry moves come last:
/// they leave F unchanged.
pub fn sweep(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    stream: Stream,
) -> Result<SweepInfo, NumericalError> {
    let clock = &mut Clock::new();
    table.redraw(stream.named("totals"));
    spectral(model, state, stream)?;
    clock.lap(Step::Spectral);
    let mut paths = model.paths(state)?;
    clock.lap(Step::Scales);
    if let Some(workspace) = table.collapsed(model) {
        clock.info.acceptance = integrated::update(model, state, moves, tuning, workspace, stream)?;
        if moves.gradient {
            redraw_clusters(model, state, stream)?;
        }
        clock.lap(Step::Gradient);
        // X and W moved with β integrated out: all of it is redrawn, amplitudes with it, before anything is asked of it.
        table.draw_weights(model, state, 1.0, stream.named("beta"))?;
        linear::update(table, model, state, stream.named("linear"))?;
        clock.lap(Step::Weights);
        one_by_one(table, model, state, &mut paths, moves, stream, clock)?;
    } else {
        one_by_one(table, model, state, &mut paths, moves, stream, clock)?;
        if moves.gradient {
            let (how, own) = ((moves.positions, tuning), stream.named("gradient"));
            clock.info.acceptance = gradient::update(table, model, state, paths.as_ref(), how, own)?;
            // The streams of both kinds of table, by which draws are known.
            redraw_clusters(model, state, if table.is_here() { stream } else { own })?;
        }
        clock.lap(Step::Gradient);
        table.draw_weights(model, state, moves.share(), stream.named("beta"))?;
        column_process::update(table, model, state, moves.share(), stream.named("residual"))?;
        amplitudes::update(table, model, state, stream.named("tau2"))?;
        linear::update(table, model, state, stream.named("linear"))?;
    }
    clock.lap(Step::Weights);
    if moves.symmetry && moves.positions {
        symmetries(model, state, &mut paths, stream)?;
    }
    table.end(model, state)?;
    clock.lap(Step::Symmetry);
    Ok(clock.info)
}

/// Moves that leave F unchanged.
fn symmetries(
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
fn spectral(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
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
fn redraw_clusters(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    match &model.spec().kernel {
        Kernel::Learned(mixture) => components::update(mixture, state, &mut stream.named("clusters again").rng()),
        Kernel::Rbf { .. } => Ok(()),
    }
}

/// W frequency by frequency, and X row by row or window by window, given β.
fn one_by_one(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    paths: &mut Option<Paths<'_>>,
    moves: Moves,
    stream: Stream,
    clock: &mut Clock,
) -> Result<(), NumericalError> {
    frequencies::update(table, model, state, moves, stream.named("w"), &mut clock.info)?;
    clock.lap(Step::Frequencies);
    match paths {
        Some(paths) => timed(table, model, state, paths, moves, stream, clock)?,
        None if moves.positions => positions::update(table, model, state, stream.named("x"), &mut clock.info)?,
        None => {}
    }
    clock.lap(Step::Positions);
    Ok(())
}

/// X along time, and the scales of its paths; the latter also while X is held fixed.
fn timed(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    paths: &mut Paths<'_>,
    moves: Moves,
    stream: Stream,
    clock: &mut Clock,
) -> Result<(), NumericalError> {
    // One of the two at random: each candidate costs a factorisation of the covariance.
    let stream = stream.named("scales");
    if moves.positions && stream.named("turn").rng().random() {
        timescales::whitened(table, model, state, paths, stream)?;
    } else {
        timescales::centred(state, paths, stream)?;
    }
    clock.lap(Step::Scales);
    if moves.positions {
        windows::update(table, model, state, paths, stream.named("windows"), &mut clock.info)?;
    }
    Ok(())
}
