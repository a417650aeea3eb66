//! Distributions that the sampler needs and rand_distr lacks, and the densities used by the joint density.

pub mod canonical;
pub mod cluster;
pub mod crt;
pub mod niw;
pub mod polya_gamma;

use rand::{Rng, RngExt};
use rand_distr::{Gamma, StandardNormal};

/// ln √(2π).
pub const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// A draw from Ga(shape, rate), mean shape/rate. Never zero, even where a shape near zero would underflow.
pub fn gamma<R: Rng + ?Sized>(shape: f64, rate: f64, rng: &mut R) -> f64 {
    debug_assert!(shape > 0.0 && rate > 0.0, "Ga({shape}, {rate})");
    let unit = Gamma::new(shape, 1.0).map_or(f64::NAN, |g| rng.sample(g));
    (unit / rate).max(f64::MIN_POSITIVE)
}

/// A standard normal draw.
pub fn normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    rng.sample(StandardNormal)
}

/// `n` standard normal draws.
pub fn normals<R: Rng + ?Sized>(n: usize, rng: &mut R) -> Vec<f64> {
    (0..n).map(|_| normal(rng)).collect()
}

/// ln N(x | mean, variance).
pub fn ln_normal(x: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * (x - mean).powi(2) / variance - 0.5 * variance.ln() - LN_SQRT_2PI
}

/// ln Ga(x | shape, rate).
pub fn ln_gamma_density(x: f64, shape: f64, rate: f64) -> f64 {
    shape * rate.ln() - ln_gamma(shape) + (shape - 1.0) * x.ln() - rate * x
}

/// ln Γ(x).
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// ln(1 + eˣ), stable in both tails.
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// 1/(1 + e⁻ˣ).
pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
