//! Distributions that the sampler needs and rand_distr lacks, and the densities used by the joint density.

pub mod canonical;
pub mod cluster;
pub mod crt;
pub mod niw;
pub mod polya_gamma;
pub mod truncated;

use crate::par;
use crate::rng::Stream;
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

/// Fills `values` with standard normal draws: each piece has its own stream, so that threads can share them.
pub fn fill_normals(values: &mut [f64], stream: Stream) {
    const PIECE: usize = 16_384;
    par::for_each(values.chunks_mut(PIECE).enumerate(), 1, |(i, piece)| {
        let rng = &mut stream.at(i as u64).rng();
        piece.iter_mut().for_each(|value| *value = normal(rng));
    });
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

/// ln Σ e^v.
pub fn ln_sum_exp(values: &[f64]) -> f64 {
    let top = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top.is_finite() { top + values.iter().map(|v| (v - top).exp()).sum::<f64>().ln() } else { top }
}

/// ln(1 + eˣ), stable in both tails.
pub fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// 1/(1 + e⁻ˣ).
pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_normals_do_not_depend_on_threads_and_have_their_moments() {
        let fill = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut values = vec![0.0; 100_003];
            pool.install(|| fill_normals(&mut values, Stream::new(5)));
            values
        };
        let values = fill(1);
        assert_eq!(values, fill(3));
        // Moments 1, 2 and 4, each with its standard error, and neighbouring pieces that do not repeat each other.
        let count = values.len() as f64;
        for (power, mean, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (4, 3.0, 96.0)] {
            let average = values.iter().map(|v: &f64| v.powi(power)).sum::<f64>() / count;
            assert!((average - mean).abs() < 4.0 * f64::sqrt(variance / count), "moment {power}: {average}");
        }
        let shifted: f64 = values.iter().zip(&values[16_384..]).map(|(a, b)| a * b).sum();
        assert!(shifted.abs() < 4.0 * (count - 16_384.0).sqrt(), "{shifted}");
    }
}
