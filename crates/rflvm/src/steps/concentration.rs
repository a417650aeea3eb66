//! α: the concentration of the Dirichlet process (Escobar & West 1995). η ~ Beta(α+1, L); then α is a **choice** between
//! Ga(a+K, b−ln η) and Ga(a+K−1, b−ln η) with odds (a+K−1) : L(b−ln η). L counts frequencies, not features.

use crate::dist::gamma;
use crate::model::spectral::{Mixture, Spectral};
use rand::{Rng, RngExt};

/// Redraws α.
pub fn update<R: Rng + ?Sized>(mixture: &Mixture, spectral: &mut Spectral, rng: &mut R) {
    let frequencies = spectral.z.len() as f64;
    let clusters = spectral.count() as f64;
    // Beta(α+1, L) from two gammas.
    let (a, b) = (gamma(spectral.alpha + 1.0, 1.0, rng), gamma(frequencies, 1.0, rng));
    let rate = mixture.alpha_rate - (a / (a + b)).ln();
    let odds = odds(mixture, clusters, frequencies, rate);
    let chosen = if rng.random::<f64>() < odds / (1.0 + odds) { clusters } else { clusters - 1.0 };
    spectral.alpha = gamma(mixture.alpha_shape + chosen, rate, rng);
}

/// π/(1−π) for K clusters of L frequencies, with rate = b_α − ln η.
pub fn odds(mixture: &Mixture, clusters: f64, frequencies: f64, rate: f64) -> f64 {
    (mixture.alpha_shape + clusters - 1.0) / (frequencies * rate)
}
