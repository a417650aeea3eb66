//! The joint gradient move of (X, W, β), with the noise on the device.

use super::{Device, check, refresh};
use crate::error::NumericalError;
use crate::hmc::directions::Directions;
use crate::hmc::flow::Flowing;
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::hamiltonian::hamiltonian;
use crate::hmc::smooth::Smooth;
use crate::hmc::tuning::Tuning;
use crate::hmc::update::held;
use crate::model::latent::Paths;
use crate::model::{Model, State};
use crate::rng::Stream;

/// One trajectory; X is held fixed if `positions` is false. Returns the acceptance probability.
pub fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    paths: Option<&Paths<'_>>,
    (positions, tuning): (bool, &Tuning),
    stream: Stream,
) -> Result<f64, NumericalError> {
    let Some(reference) = &tuning.reference else { return Ok(0.0) };
    let rng = &mut stream.rng();
    let smooth = paths.filter(|_| positions).map(|paths| Smooth::new(paths, &state.axes, &tuning.information));
    let smooth = smooth.transpose()?;
    let trajectory = held(&tuning.trajectory, model, positions, smooth.is_some());
    let directions = smooth.as_ref().map(|smooth| smooth as &dyn Directions);
    let frequencies = FrequencyPrior::integrated(&model.spec().kernel, &state.spectral);
    let given = (&state.theta[..], &state.tau2[..]);
    let (mut target, mut q) = Flowing::new(device, model, given, (frequencies, paths), reference, state, rng);
    let landing = hamiltonian(&mut target, &mut q, &trajectory, directions, rng);
    target.finish(landing.is_accepted.then_some(&mut state.beta));
    if landing.is_accepted {
        let (x, w) = q.split_at(model.rows() * model.latent_dim());
        state.features.set(x, w);
    }
    check(device)?;
    refresh(device, state);
    check(device)?;
    Ok(landing.acceptance)
}
