//! One joint gradient move of (X, W, β).

use super::directions::{Directions, Modes};
use super::frequencies::FrequencyPrior;
use super::hamiltonian::{Trajectory, hamiltonian};
use super::noncentred::Noncentred;
use super::smooth::Smooth;
use super::tuning::Tuning;
use super::workspace::Workspace;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::latent::Paths;
use crate::model::{Known, Model, State};
use crate::rng::Stream;
use std::borrow::Cow;

/// One trajectory in (X, W, β); X is held fixed if `positions` is false. Where rows have times, X moves along paths as smooth
/// as their prior and as free as the data allow. Returns the acceptance probability.
pub fn update(
    model: &Model,
    state: &mut State,
    paths: Option<&Paths<'_>>,
    positions: bool,
    tuning: &Tuning,
    room: &mut Workspace,
    stream: Stream,
) -> Result<f64, NumericalError> {
    let Some(reference) = &tuning.reference else { return Ok(0.0) };
    let rng = &mut stream.rng();
    let smooth = paths.filter(|_| positions).map(|paths| Smooth::new(paths, &state.axes, &tuning.information));
    let smooth = smooth.transpose()?;
    let trajectory = held(&tuning.trajectory, model, positions, smooth.is_some());
    let directions = smooth.as_ref().map(|smooth| smooth as &dyn Directions);
    let lent = state.lend();
    let given = (&state.theta[..], &state.tau2[..], Known::new(model.offset(), &state.residual.g));
    let frequencies = FrequencyPrior::integrated(&model.spec().kernel, &state.spectral);
    let mut target = Noncentred::new(
        model,
        given,
        (frequencies, state.features.plain()),
        paths,
        reference,
        lent,
        std::mem::take(room),
    );
    let mut q = target.gather(state, rng);
    let landing = hamiltonian(&mut target, &mut q, &trajectory, directions, rng);
    // The last evaluation of the trajectory was at its end point.
    let mut beta = landing.is_accepted.then(|| Mat::zeros(state.beta.rows(), state.beta.cols()));
    if let Some(beta) = &mut beta {
        target.write_beta(beta);
    }
    let lent;
    (*room, lent) = target.finish();
    if let Some(beta) = beta {
        state.beta = beta;
    }
    let moved = landing.is_accepted.then(|| q.split_at(model.rows() * model.latent_dim()));
    state.take_back(model, lent, moved);
    Ok(landing.acceptance)
}

/// The trajectory, with rows held fixed that may not move, or not individually.
pub(crate) fn held<'a>(
    trajectory: &'a Trajectory,
    model: &Model,
    positions: bool,
    together: bool,
) -> Cow<'a, Trajectory> {
    if positions && !together {
        return Cow::Borrowed(trajectory);
    }
    let mut held = trajectory.clone();
    held.scales[..model.rows() * model.latent_dim()].fill(0.0);
    if !positions {
        held.modes = Modes::default();
    }
    Cow::Owned(held)
}
