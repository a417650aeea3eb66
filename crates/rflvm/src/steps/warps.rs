//! Smooth warps of the latent space, the slowest directions of X: neighbouring rows move together, the functions follow, and
//! the likelihood hardly changes. The scale of a single row does not reveal them, so they are learned separately:
//!
//! ```text
//! X ≈ Vᵀc + remainder,   V: the R leading left singular vectors of H (smooth functions of x),   c = VX (R×D),
//! ```
//!
//! and a trajectory gets its own momenta for the directions VᵀL, LLᵀ = cov(c).

use crate::hmc::directions::Modes;
use crate::linalg::{Cholesky, Mat, View, gram, leading, mul, orthonormalise};
use crate::model::features::Features;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// R: number of smooth functions of the position along which each axis of X can move.
const RANK: usize = 12;
/// Rounds of subspace iteration for them; they need not be exact.
const ROUNDS: usize = 4;

/// Learns the covariance of c over a window of sweeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Warps {
    /// V, one function per row.
    basis: Mat,
    dim: usize,
    /// c of each sweep.
    seen: Vec<f64>,
}

impl Warps {
    /// Centred at a state.
    pub fn new(features: &Features) -> Self {
        let held = features.held();
        let (h, dim) = (held.h(), features.x().cols());
        // The basis need not be exact, and is the same for any seed.
        let right = leading(h, RANK, ROUNDS, &mut Stream::new(0).rng());
        let mut basis = Mat::zeros(right.rows(), h.rows());
        mul(basis.as_mut_slice(), right.view(), h.view().transpose(), false);
        orthonormalise(&mut basis);
        Warps { basis, dim, seen: Vec::new() }
    }

    /// Adds X, and returns the part of it that is not a smooth function of the initial positions.
    pub fn add(&mut self, x: &Mat) -> Mat {
        let (rank, dim) = (self.basis.rows(), self.dim);
        let start = self.seen.len();
        self.seen.resize(start + rank * dim, 0.0);
        mul(&mut self.seen[start..], self.basis.view(), x.view(), false);
        let c = View::new(&self.seen[start..], rank, dim, dim);
        let mut smooth = Mat::zeros(x.rows(), dim);
        mul(smooth.as_mut_slice(), self.basis.view().transpose(), c, false);
        smooth.as_mut_slice().iter_mut().zip(x.as_slice()).for_each(|(s, x)| *s = x - *s);
        smooth
    }

    /// VᵀL; empty before two sweeps were added, or if they do not differ.
    pub fn directions(&self) -> Modes {
        let size = self.basis.rows() * self.dim;
        let count = self.seen.len() / size.max(1);
        if count < 2 {
            return Modes::default();
        }
        let mut c = Mat::from_vec(count, size, self.seen.clone());
        for i in 0..size {
            let mean = c.col(i).iter().sum::<f64>() / count as f64;
            (0..count).for_each(|t| c[(t, i)] -= mean);
        }
        // Shrunk towards zero, since a window of few sweeps may overestimate it.
        const PRIOR_WEIGHT: f64 = 5.0;
        let covariance =
            gram(&c, None, &vec![0.0; size]).scaled_plus((count as f64 + PRIOR_WEIGHT).recip(), &vec![0.0; size]);
        let Ok(factor) = Cholesky::new(covariance, "warps") else { return Modes::default() };
        Modes { functions: self.basis.clone(), coefficients: Mat::from_fn(size, size, |i, k| factor.at(i, k)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{normal, normals};
    use crate::hmc::directions::Directions;

    #[test]
    fn rows_that_swing_together_become_a_direction_and_their_own_noise_does_not() {
        let mut rng = Stream::new(4).rng();
        let x = Mat::from_vec(80, 2, normals(160, &mut rng));
        let w = Mat::from_fn(10, 2, |l, d| 0.3 * ((2 * l + d) as f64).sin());
        let features = Features::new(x.clone(), w);
        let mut warps = Warps::new(&features);
        // In every sweep all rows shift together by 0.5 times a common number, and by 0.01 times their own.
        for _ in 0..400 {
            let lean = 0.5 * normal(&mut rng);
            let moved = Mat::from_vec(80, 2, x.as_slice().iter().map(|x| x + 0.01 * normal(&mut rng)).collect());
            let moved = Mat::from_fn(80, 2, |n, d| moved[(n, d)] + if d == 0 { lean * x[(n, 1)] } else { 0.0 });
            warps.add(&moved);
        }
        let modes = warps.directions();
        let direction = |i: usize| {
            let (mut one, mut q) = (vec![0.0; modes.count()], vec![0.0; 160]);
            one[i] = 1.0;
            modes.push(&one, 1.0, &mut q);
            q
        };
        let directions: Vec<Vec<f64>> = (0..modes.count()).map(direction).collect();
        let along = |n: usize, d: usize| directions.iter().map(|u| u[2 * n + d].powi(2)).sum::<f64>().sqrt();
        for n in 0..80 {
            let truth = 0.5 * x[(n, 1)].abs();
            assert!((along(n, 0) - truth).abs() < 0.1 * truth + 0.05, "row {n}: {} for {truth}", along(n, 0));
            assert!(along(n, 1) < 0.02, "row {n}: {}", along(n, 1));
        }
    }

    #[test]
    fn one_sweep_tells_no_direction() {
        let x = Mat::from_fn(5, 2, |n, d| (3 * n + d) as f64);
        let mut warps = Warps::new(&Features::new(x.clone(), Mat::from_vec(1, 2, vec![0.1, 0.2])));
        warps.add(&x);
        assert_eq!(warps.directions().count(), 0);
    }
}
