//! The discrete Fourier transform X_k = Σ_t x_t e^(−2πikt/n) for n a power of two (Cooley & Tukey 1965).
//!
//! Written by hand because autocovariances are all that needs it: a library of transforms for every length and instruction set took a
//! sixth of the engine's compile time.

use std::f64::consts::TAU;

/// Transforms of one length.
pub struct Fourier {
    /// e^(−2πik/n), k < n/2: cosine and sine.
    turns: Vec<(f64, f64)>,
    length: usize,
}

impl Fourier {
    /// Of at least this length.
    pub fn new(length: usize) -> Self {
        let length = length.next_power_of_two();
        let turn = |k: usize| (-TAU * k as f64 / length as f64).sin_cos();
        Fourier { turns: (0..length / 2).map(turn).map(|(sin, cos)| (cos, sin)).collect(), length }
    }

    /// n.
    pub fn length(&self) -> usize {
        self.length
    }

    /// In place: real and imaginary parts.
    pub fn transform(&self, wave: &mut [(f64, f64)]) {
        let n = self.length;
        assert_eq!(wave.len(), n);
        let shift = usize::BITS - n.trailing_zeros();
        for i in 1..n {
            let reversed = i.reverse_bits() >> shift;
            if i < reversed {
                wave.swap(i, reversed);
            }
        }
        let mut half = 1;
        while half < n {
            for block in wave.chunks_exact_mut(2 * half) {
                let (even, odd) = block.split_at_mut(half);
                let turns = self.turns.iter().step_by(n / (2 * half));
                for ((a, b), &(cos, sin)) in even.iter_mut().zip(odd).zip(turns) {
                    let turned = (b.0 * cos - b.1 * sin, b.0 * sin + b.1 * cos);
                    *b = (a.0 - turned.0, a.1 - turned.1);
                    *a = (a.0 + turned.0, a.1 + turned.1);
                }
            }
            half *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_that_defines_it() {
        for n in [1, 2, 4, 8, 64, 512] {
            let wave: Vec<(f64, f64)> =
                (0..n).map(|t| ((t as f64 * 1.7).sin(), (t as f64 * 0.3 + 1.0).cos())).collect();
            let mut transformed = wave.clone();
            Fourier::new(n).transform(&mut transformed);
            for (k, found) in transformed.iter().enumerate() {
                let mut sum = (0.0, 0.0);
                for (t, x) in wave.iter().enumerate() {
                    let (sin, cos) = (-TAU * ((k * t) % n) as f64 / n as f64).sin_cos();
                    sum.0 += x.0 * cos - x.1 * sin;
                    sum.1 += x.0 * sin + x.1 * cos;
                }
                let error = (found.0 - sum.0).abs().max((found.1 - sum.1).abs());
                assert!(error < 1e-12 * n as f64, "{n}: {found:?} for {sum:?}");
            }
        }
    }
}
