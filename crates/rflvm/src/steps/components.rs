//! (μ_k, Σ_k): from their normal-inverse-Wishart posterior given the frequencies of the cluster.

use crate::error::NumericalError;
use crate::model::State;
use crate::model::spectral::Mixture;
use rand::Rng;

/// Redraws all clusters.
pub fn update<R: Rng + ?Sized>(mixture: &Mixture, state: &mut State, rng: &mut R) -> Result<(), NumericalError> {
    let w = state.features.w();
    let base = mixture.base(&state.spectral.psi);
    for k in 0..state.spectral.count() {
        state.spectral.clusters[k] = base.posterior(state.spectral.members(w, k, None)).draw(rng)?;
    }
    Ok(())
}
