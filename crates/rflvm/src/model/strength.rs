//! What the moves of the amplitudes τ² take from the weights.

use super::{HalfT, Model, State};

/// Width of a slice of ln τ².
pub(crate) const WIDTH: f64 = 1.0;

/// ln p(β | τ²) + ln p(u) up to a constant, for `count` weights whose squares in units of their prior but for τ² sum to `square`.
pub fn ln_centred(prior: HalfT, count: f64, square: f64, u: f64) -> f64 {
    prior.ln_density(u) - 0.5 * count * u - 0.5 * (-u).exp() * square
}

/// λ_j Σ_m (β_mj − b_0)²/d_m, d the prior variances for τ² = λ = 1.
pub fn square(model: &Model, state: &State, j: usize) -> f64 {
    let last = state.beta.rows() - 1;
    let weights: f64 = (0..last).map(|m| state.beta[(m, j)].powi(2)).sum();
    let intercept = (state.beta[(last, j)] - model.units()[j].centre).powi(2) / model.spec().priors.intercept;
    model.weight_scale(&state.theta, j) * (weights + intercept)
}

/// What multiplies the weights when u becomes v and (β_j − b_0)/τ_j is held.
pub(crate) fn growth(u: f64, v: f64) -> f64 {
    (0.5 * (v - u)).exp()
}

/// Multiplies the weights of column j, less their prior means.
pub(crate) fn grow(model: &Model, state: &mut State, j: usize, factor: f64) {
    let last = state.beta.rows() - 1;
    for m in 0..=last {
        let centre = if m == last { model.units()[j].centre } else { 0.0 };
        state.beta[(m, j)] = centre + factor * (state.beta[(m, j)] - centre);
    }
}
