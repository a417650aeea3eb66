//! τ_j²: amplitudes of the columns, if learned. τ_j² ~ IG(a + M/2, b + ½ λ_j Σ_m β_mj²), λ_j the weight scale.

use crate::dist::gamma;
use crate::model::{Amplitude, Model, State};
use rand::Rng;

/// Shape and rate of the inverse gamma of τ_j².
pub fn conditional(model: &Model, state: &State, shape: f64, rate: f64, j: usize) -> (f64, f64) {
    let features = model.spec().features;
    let square: f64 = (0..features).map(|m| state.beta[(m, j)].powi(2)).sum();
    let scale = model.weight_scale(&state.theta, j);
    (shape + 0.5 * features as f64, rate + 0.5 * scale * square)
}

/// Redraws all τ_j²; does nothing if they are known.
pub fn update<R: Rng + ?Sized>(model: &Model, state: &mut State, rng: &mut R) {
    let Amplitude::Learned { shape, rate } = model.spec().amplitude else { return };
    for j in (0..model.columns()).filter(|&j| model.is_free(j)) {
        let (shape, rate) = conditional(model, state, shape, rate, j);
        state.tau2[j] = 1.0 / gamma(shape, rate, rng);
    }
}
