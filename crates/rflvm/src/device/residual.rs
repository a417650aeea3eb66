//! Columns' own paths. They are redrawn here ([`crate::steps::residual`]), with H and F computed for it: a filter goes along one column after the other, and tables
//! in time are short.

use super::{Device, check, totals};
use crate::error::NumericalError;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::steps::residual;

/// Redraws all columns' own paths, and β of a fraction of the columns with them; F follows.
pub fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    share: f64,
    stream: Stream,
) -> Result<(), NumericalError> {
    if model.residual().is_none() {
        return Ok(());
    }
    state.restore(model);
    let updated = residual::update(model, state, share, stream);
    drop(state.lend());
    updated?;
    device.set_parameters(&state.theta);
    device.set_paths(&state.residual.g);
    device.set_weights(&state.beta);
    // The paths were drawn without the rates of categories, which are drawn again before anything is asked of them.
    totals::update(device, stream.named("totals"));
    check(device)
}
