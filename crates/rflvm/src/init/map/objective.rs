//! The objective of the MAP estimate: the posterior density of (X, W, θ, τ², clusters) with β integrated out,
//!
//! Q = ln p(Y | F, θ) − ½ Σ_j (β_j − b_0j)ᵀB_0j⁻¹(β_j − b_0j) − ½ Σ_j ln|I + B_0j HᵀΛ_jH|   (Laplace's ∫ … dβ, at the optimal β)
//!     + ln p(θ, τ², s) + ln p(X) + ½(N − L) ln|XᵀX| + ln p(W | μ, Σ) + ln p(μ, Σ, α).
//!
//! Without the third term, i.e. with the joint density including β, a rougher map always fits better: the freedom of the weights
//! costs nothing ([`LaplaceTerm`]). The term with XᵀX gives X the scale of its prior ([`super::Volume`]). For one
//! complete Gaussian block β and σ² are integrated out exactly (model section 5), and the first three terms are
//! ln p(Y | X, W). All frequencies are in one cluster: assignments are discrete. Length-scales and noise of paths over
//! time stay at their prior medians: their density given X grows without bound as X becomes smooth.

use crate::error::NumericalError;
use crate::hmc::volume::ln_volume;
use crate::model::{Model, State, joint};
use crate::table::{Host, Table};

/// Q at a state, computed directly.
pub fn objective(model: &Model, state: &State) -> Result<f64, NumericalError> {
    Ok(Host::default().ln_data(model, state)? + ln_besides(model, state)?)
}

/// Q less ln p(Y, θ, τ², s | X, W).
pub(super) fn ln_besides(model: &Model, state: &State) -> Result<f64, NumericalError> {
    let (x, w) = (state.features.x(), state.features.w());
    let frequencies = state.spectral.ln_frequencies(w) + state.spectral.ln_prior(&model.spec().kernel)?;
    Ok(joint::ln_positions(model, state)? + ln_volume(x, w.rows())? + frequencies)
}
