//! β and θ: each family redraws the weights and parameters of its block given X and W.

use crate::error::NumericalError;
use crate::model::{Model, State};
use crate::rng::Stream;

/// Redraws θ of all blocks and β of a fraction of their columns (a family may redraw more), then F. Gaussian columns with their own paths are
/// left to [`super::residual`], which integrates these out.
pub fn update(model: &Model, state: &mut State, share: f64, stream: Stream) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        if model.residual().is_some() && block.family.as_gaussian().is_some() {
            continue;
        }
        block.family.update(&mut model.block_view(b, state, share), stream.at(b as u64))?;
    }
    state.refresh(model);
    Ok(())
}

/// Redraws θ of all blocks, then F (a family may have to redraw its weights too).
pub fn update_parameters(model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        block.family.update_parameters(&mut model.block_view(b, state, 1.0), stream.at(b as u64))?;
    }
    state.refresh(model);
    Ok(())
}
