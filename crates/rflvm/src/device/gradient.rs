//! The joint gradient move of (X, W, β), with the noise on the device.

use super::{Device, check, refresh};
use crate::error::NumericalError;
use crate::hmc::flow::Flowing;
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::hamiltonian::hamiltonian;
use crate::hmc::noncentred::Noncentred;
use crate::hmc::tuning::Tuning;
use crate::hmc::update::held;
use crate::hmc::workspace::Workspace;
use crate::model::{Model, State};
use crate::rng::Stream;

/// One trajectory; X is held fixed if `positions` is false. Returns the acceptance probability.
pub fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    positions: bool,
    tuning: &Tuning,
    room: &mut Workspace,
    stream: Stream,
) -> Result<f64, NumericalError> {
    let Some(reference) = &tuning.reference else { return Ok(0.0) };
    let rng = &mut stream.rng();
    let trajectory = held(&tuning.trajectory, model, positions, false);
    let frequencies = FrequencyPrior::integrated(&model.spec().kernel, &state.spectral);
    let given = (&state.theta[..], &state.tau2[..]);
    if let Some(flow) = device.flow() {
        let (mut target, mut q) = Flowing::new(flow, model, given, frequencies, reference, state, rng);
        let landing = hamiltonian(&mut target, &mut q, &trajectory, None, rng);
        drop(target);
        if let (true, Some(flow)) = (landing.is_accepted, device.flow()) {
            flow.beta(&mut state.beta);
            let (x, w) = q.split_at(model.rows() * model.latent_dim());
            state.features.set(x, w);
        }
        check(device)?;
        refresh(device, state);
        check(device)?;
        return Ok(landing.acceptance);
    }
    let mut target = Noncentred::new(model, given, frequencies, None, reference, &mut *device, std::mem::take(room));
    let mut q = target.gather(state, rng);
    let landing = hamiltonian(&mut target, &mut q, &trajectory, None, rng);
    (*room, _) = target.finish();
    check(device)?;
    if landing.is_accepted {
        // The last evaluation of the trajectory was at its end point.
        state.beta.as_mut_slice().copy_from_slice(room.beta().as_slice());
        let (x, w) = q.split_at(model.rows() * model.latent_dim());
        state.features.set(x, w);
    }
    refresh(device, state);
    check(device)?;
    Ok(landing.acceptance)
}
