//! The objective of the MAP estimate: the posterior density of (X, W, θ, τ², clusters) with β integrated out,
//!
//! Q = ln p(Y | F, θ) − ½ Σ_j (β_j − b_0j)ᵀB_0j⁻¹(β_j − b_0j) − ½ Σ_j ln|I + B_0j HᵀΛ_jH|   (Laplace's ∫ … dβ, at the optimal β)
//!     + ln p(θ, τ², s) + ln p(X) + ½(N − L) ln|XᵀX| + ln p(W | μ, Σ) + ln p(μ, Σ, α).
//!
//! Without the third term, i.e. with the joint density including β, a rougher map always fits better: the freedom of the weights
//! costs nothing ([`Occam`]). The term with XᵀX gives X the scale of its prior ([`super::Volume`]). For one
//! complete Gaussian block β and σ² are integrated out exactly (model section 5), and the first three terms are
//! ln p(Y | X, W). All frequencies are in one cluster: assignments are discrete. Length-scales and noise of paths over
//! time stay at their prior medians: their density given X grows without bound as X becomes smooth.

use super::volume::ln_volume;
use crate::error::NumericalError;
use crate::hmc::occam::Occam;
use crate::model::collapsed::CollapsedData;
use crate::model::{Model, State, joint};

/// Whether β and σ² are integrated out exactly: one complete Gaussian block. Rows may have times.
pub fn is_exact(model: &Model) -> bool {
    let [block] = model.blocks() else { return false };
    block.family.as_gaussian().is_some() && !model.has_missing()
}

/// Q at a state, computed directly.
pub fn objective(model: &Model, state: &State) -> Result<f64, NumericalError> {
    Ok(ln_data(model, state)? + ln_besides(model, state)?)
}

/// Q less ln p(Y, θ, τ², s | X, W).
pub(super) fn ln_besides(model: &Model, state: &State) -> Result<f64, NumericalError> {
    let (x, w) = (state.features.x(), state.features.w());
    let frequencies = state.spectral.ln_frequencies(w) + state.spectral.ln_prior(&model.spec().kernel)?;
    Ok(joint::ln_positions(model, state)? + ln_volume(x, w.rows())? + frequencies)
}

/// ln p(Y, θ, τ², s | X, W) with β integrated out: exactly, or by Laplace's method if β is at its optimum.
pub(crate) fn ln_data(model: &Model, state: &State) -> Result<f64, NumericalError> {
    let h = state.features.h();
    if is_exact(model) {
        let family = &model.blocks()[0].family;
        let scales = joint::ln_amplitudes(model, state) + joint::ln_linear(model, state);
        let target = CollapsedData::new(model, &state.theta);
        return Ok(target.ln_marginal(h, &state.tau2)?
            + target.ln_constant(model, state)
            + family.ln_hyper(&state.theta[0])
            + scales);
    }
    Ok(ln_laplace(model, state, model.ln_likelihood(state), Occam::new(model, state).ln_freedom(h)?))
}

/// The same by Laplace's method, from ln p(Y | F, θ) and the penalty of the weights' freedom.
pub(crate) fn ln_laplace(model: &Model, state: &State, ln_likelihood: f64, freedom: f64) -> f64 {
    let parameters = joint::ln_parameters(model, state) + joint::ln_linear(model, state);
    ln_likelihood + parameters - half_square(model, state) - freedom
}

/// ½ Σ_j (β_j − b_0j)ᵀB_0j⁻¹(β_j − b_0j).
fn half_square(model: &Model, state: &State) -> f64 {
    let last = state.beta.rows() - 1;
    let of_column = |j: usize| {
        let centre = |m: usize| if m == last { model.units()[j].centre } else { 0.0 };
        let precision = model.weight_precision(state.tau2[j]);
        let square: f64 = (0..=last).map(|m| precision[m] * (state.beta[(m, j)] - centre(m)).powi(2)).sum();
        0.5 * model.weight_scale(&state.theta, j) * square
    };
    model.sum_free(of_column)
}
