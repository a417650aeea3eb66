//! What the evidence of a map takes from the table: ln p(Y, θ, τ², s | X, W) with β integrated out by Laplace's method, as
//! [`crate::init::map`] does it.

use super::{Device, check, totals};
use crate::error::NumericalError;
use crate::hmc::occam::{Occam, shares};
use crate::init::map::ln_laplace;
use crate::model::{Model, State};

/// At a state whose F is on the device. H is computed here: it is small compared with the table.
pub fn ln_data(device: &mut dyn Device, model: &Model, state: &State) -> Result<f64, NumericalError> {
    let ln_likelihood = totals::ln_likelihood(device, model);
    let freedom = occam(device, model, state)?.ln_freedom(state.features.held().h())?;
    Ok(ln_laplace(model, state, ln_likelihood, freedom))
}

/// The penalty of the weights' freedom, at the information of the cells there.
pub fn occam(device: &mut dyn Device, model: &Model, state: &State) -> Result<Occam, NumericalError> {
    let mut information = vec![0.0; model.rows()];
    device.information_rows(&shares(model, state), &mut information);
    check(device)?;
    Ok(Occam::with(model, information))
}
