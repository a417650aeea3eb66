//! One joint gradient move of (X, W, β).

use crate::error::NumericalError;
use crate::hmc::directions::{Directions, Modes};
use crate::hmc::flow::Flight;
use crate::hmc::hamiltonian::Trajectory;
use crate::hmc::smooth::Smooth;
use crate::model::latent::Paths;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::steps::tuning::Tuning;
use crate::table::Table;
use std::borrow::Cow;

/// One trajectory in (X, W, β); X is held fixed if `positions` is false. Where rows have times, X moves along paths as smooth
/// as their prior and as free as the data allow. Returns the acceptance probability.
pub fn update(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    paths: Option<&Paths<'_>>,
    (positions, tuning): (bool, &Tuning),
    stream: Stream,
) -> Result<f64, NumericalError> {
    let Some(reference) = &tuning.reference else { return Ok(0.0) };
    let smooth = paths.filter(|_| positions).map(|paths| Smooth::new(paths, &state.axes, &tuning.information));
    let smooth = smooth.transpose()?;
    let trajectory = &*held(&tuning.trajectory, model, positions, smooth.is_some());
    let directions = smooth.as_ref().map(|smooth| smooth as &dyn Directions);
    let flight = Flight { reference, paths, trajectory, directions };
    let landing = table.fly(model, state, flight, &mut stream.rng());
    table.check()?;
    Ok(landing.acceptance)
}

/// The trajectory, with rows held fixed that may not move, or not individually.
pub(super) fn held<'a>(
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
