//! ln p(Y, θ, τ², s | X, W) with β integrated out: exactly, or by Laplace's method.

use crate::error::NumericalError;
use crate::model::collapsed::CollapsedData;
use crate::model::{Model, State, joint};

/// Whether β and σ² can be integrated out exactly: one complete Gaussian block. Rows may have times.
pub fn is_exact(model: &Model) -> bool {
    let [block] = model.blocks() else { return false };
    block.family.as_gaussian().is_some() && !model.has_missing()
}

/// Exactly.
pub(crate) fn ln_exact(model: &Model, state: &State) -> Result<f64, NumericalError> {
    let scales = joint::ln_amplitudes(model, state) + joint::ln_linear(model, state);
    let (target, family) = (CollapsedData::new(model, &state.theta), &model.blocks()[0].family);
    let constant = target.ln_constant(model, state) + family.ln_hyper(&state.theta[0]);
    Ok(target.ln_marginal(state.features.h(), &state.tau2)? + constant + scales)
}

/// By Laplace's method at the best β, from ln p(Y | F, θ) and the penalty of the weights' freedom.
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
