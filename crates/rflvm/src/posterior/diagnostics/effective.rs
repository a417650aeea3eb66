//! Effective sample size of split chains: S/τ, τ = −1 + 2 Σ P_k over the pairs P_k = ρ_2k + ρ_2k+1 of autocorrelations
//! ρ_t = 1 − (W − s_t)/V, up to the first that is not positive and made monotone (Geyer 1992; Vehtari et al. 2021).
//! s_t is the mean autocovariance at lag t, W = s_0 n/(n − 1), and V = s_0 plus the variance of the halves' means.

use super::fourier::Fourier;
use super::halves::Halves;
use super::moments::{mean, variance};

/// Draws within this range count as equal, and each counts fully: ArviZ's rule.
const RESOLUTION: f64 = 1e-15;

/// Computes effective sample sizes for half-chains of one length.
pub struct EffectiveSize {
    fourier: Fourier,
}

impl EffectiveSize {
    /// For half-chains of this length.
    pub fn new(length: usize) -> Self {
        // Twice the length, so that the ends of a half do not wrap around.
        EffectiveSize { fourier: Fourier::new(2 * length) }
    }

    /// The effective sample size.
    pub fn of(&self, halves: &Halves) -> f64 {
        let (size, n) = (halves.values().len() as f64, halves.length());
        let (least, most) = halves.values().iter().fold((f64::MAX, f64::MIN), |(a, b), &v| (v.min(a), v.max(b)));
        if most - least < RESOLUTION {
            return size;
        }
        let covariance = self.autocovariance(halves);
        let within = covariance[0] * n as f64 / (n as f64 - 1.0);
        let total = covariance[0] + variance(&halves.means());
        let correlation = |lag: usize| 1.0 - (within - covariance[lag]) / total;

        let (mut even, mut odd) = (1.0, correlation(1));
        let (mut time, mut smallest) = (-1.0, f64::INFINITY);
        let mut lag = 1;
        while lag + 3 < n && even + odd > 0.0 {
            smallest = smallest.min(even + odd);
            time += 2.0 * smallest;
            (even, odd) = (correlation(lag + 1), correlation(lag + 2));
            lag += 2;
        }
        if odd.is_nan() {
            return f64::NAN;
        }
        // Of the pair that ends the sum, the even term counts once.
        time += if even + odd < 0.0 { even.max(0.0) } else { even };
        // The size of antithetic chains is capped at S log₁₀ S.
        size / time.max(1.0 / size.log10())
    }

    /// Autocovariance at each lag, averaged over all halves. The two halves of a chain are the real and imaginary part: the
    /// autocovariance of u + iv has the sum of those of u and v as its real part.
    fn autocovariance(&self, halves: &Halves) -> Vec<f64> {
        let (padded, n) = (self.fourier.length(), halves.length());
        let mut power = vec![(0.0, 0.0); padded];
        let mut wave = vec![(0.0, 0.0); padded];
        for chain in halves.values().chunks_exact(2 * n) {
            let (u, v) = chain.split_at(n);
            let centre = (mean(u), mean(v));
            wave.fill((0.0, 0.0));
            wave.iter_mut().zip(u.iter().zip(v)).for_each(|(w, (u, v))| *w = (u - centre.0, v - centre.1));
            self.fourier.transform(&mut wave);
            power.iter_mut().zip(&wave).for_each(|(p, (re, im))| p.0 += re * re + im * im);
        }
        // A real spectrum: forward and inverse transforms differ only in the sign of the imaginary part.
        self.fourier.transform(&mut power);
        let scale = 1.0 / (padded as f64 * halves.values().len() as f64);
        power[..n].iter().map(|p| p.0 * scale).collect()
    }
}
