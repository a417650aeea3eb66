//! Directions along which coordinates of a trajectory move together.

use crate::linalg::{Mat, View, mul};
use crate::simd;
use serde::{Deserialize, Serialize};

/// Directions along which the first coordinates of q move together, each with its own momentum: q' = Ar, r' = Aᵀg.
pub trait Directions {
    /// Number of momenta.
    fn count(&self) -> usize;
    /// q ← q + step·Ar.
    fn push(&self, r: &[f64], step: f64, q: &mut [f64]);
    /// r ← r + step·Aᵀg.
    fn pull(&self, g: &[f64], step: f64, r: &mut [f64]);
}

/// Directions of the first N·D coordinates as VᵀC. Each column c of C, of length R·D, gives one: row n moves by Σ_r v_rn c_r.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Modes {
    /// V, R×N: functions of the rows.
    pub functions: Mat,
    /// C, (R·D)×directions.
    pub coefficients: Mat,
}

impl Modes {
    /// D.
    fn dim(&self) -> usize {
        self.coefficients.rows() / self.functions.rows().max(1)
    }
}

impl Directions for Modes {
    fn count(&self) -> usize {
        self.coefficients.cols()
    }

    fn push(&self, r: &[f64], step: f64, q: &mut [f64]) {
        let (rank, rows, dim) = (self.functions.rows(), self.functions.cols(), self.dim());
        let c: Vec<f64> = self.coefficients.iter_rows().map(|c| step * simd::dot(c, r)).collect();
        mul(&mut q[..rows * dim], self.functions.view().transpose(), View::new(&c, rank, dim, dim), true);
    }

    fn pull(&self, g: &[f64], step: f64, r: &mut [f64]) {
        let (rank, rows, dim) = (self.functions.rows(), self.functions.cols(), self.dim());
        let mut c = vec![0.0; rank * dim];
        mul(&mut c, self.functions.view(), View::new(&g[..rows * dim], rows, dim, dim), false);
        c.iter().zip(self.coefficients.iter_rows()).for_each(|(c, own)| simd::axpy(step * c, own, r));
    }
}
