//! One sweep, in the order of [`crate::run::sweep`].

use super::{
    Device, amplitudes, check, frequencies, gradient, linear, positions, refresh, residual, times, totals, weights,
};
use crate::error::NumericalError;
use crate::hmc::tuning::Tuning;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::run::sweep::{redraw_clusters, spectral, symmetries};
use crate::steps::info::Clock;
use crate::steps::{Moves, Step, SweepInfo};

/// One sweep of the sampler.
pub fn sweep(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    stream: Stream,
) -> Result<SweepInfo, NumericalError> {
    let mut info = SweepInfo::default();
    let mut clock = Clock::new();
    totals::update(device, stream.named("totals"));
    spectral(model, state, stream)?;
    clock.lap(&mut info, Step::Spectral);
    let mut paths = model.paths(state)?;
    clock.lap(&mut info, Step::Scales);
    frequencies::update(device, state, moves, stream.named("w"), &mut info)?;
    clock.lap(&mut info, Step::Frequencies);
    match &mut paths {
        Some(paths) => times::update(device, model, state, paths, moves, stream.named("scales"), &mut info)?,
        None if moves.positions => positions::update(device, model, state, stream.named("x"), &mut info)?,
        None => {}
    }
    clock.lap(&mut info, Step::Positions);
    if moves.gradient {
        let stream = stream.named("gradient");
        info.acceptance = gradient::update(device, model, state, paths.as_ref(), (moves.positions, tuning), stream)?;
        redraw_clusters(model, state, stream)?;
    }
    clock.lap(&mut info, Step::Gradient);
    weights::update(device, model, state, moves.share(), stream.named("beta"))?;
    residual::update(device, model, state, moves.share(), stream.named("residual"))?;
    amplitudes::update(device, model, state, stream.named("tau2"))?;
    linear::update(device, model, state, stream.named("linear"))?;
    clock.lap(&mut info, Step::Weights);
    if moves.symmetry && moves.positions {
        symmetries(model, state, &mut paths, stream)?;
    }
    // From the state itself, as a run that is resumed begins: what changed bit by bit is rounded otherwise.
    refresh(device, state);
    check(device)?;
    clock.lap(&mut info, Step::Symmetry);
    Ok(info)
}
