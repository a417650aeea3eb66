//! A Gaussian by its precision A and shift c: N(A⁻¹c, s²A⁻¹), density ∝ exp((c·β − ½ βᵀAβ)/s²).
//! Every conjugate conditional of the weights β_j has this form.

use super::LN_SQRT_2PI;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Symmetric};
use rand::Rng;

/// N(A⁻¹c, s²A⁻¹).
#[derive(Debug)]
pub struct Canonical {
    cholesky: Cholesky,
    shift: Vec<f64>,
    scale: f64,
}

impl Canonical {
    /// From the precision A, the shift c and the scale s; `step` names the caller if A is not positive definite.
    pub fn new(
        precision: impl Into<Symmetric>,
        shift: Vec<f64>,
        scale: f64,
        step: &'static str,
    ) -> Result<Self, NumericalError> {
        Ok(Canonical { cholesky: Cholesky::new(precision, step)?, shift, scale })
    }

    /// A⁻¹c.
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = self.shift.clone();
        self.cholesky.solve(&mut mean);
        mean
    }

    /// L⁻ᵀ z: turns standard normals into a draw from N(0, A⁻¹).
    pub fn colour(&self, z: &mut [f64]) {
        self.cholesky.solve_upper(z);
    }

    /// A draw.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<f64> {
        self.cholesky.draw_from_precision(&self.shift, self.scale, rng)
    }

    /// uᵀAv/s².
    pub fn product(&self, u: &[f64], v: &[f64]) -> f64 {
        let [mut u, mut v] = [u.to_vec(), v.to_vec()];
        [&mut u, &mut v].into_iter().for_each(|w| self.cholesky.mul_upper(w));
        u.iter().zip(&v).map(|(u, v)| u * v).sum::<f64>() / self.scale.powi(2)
    }

    /// The log density at `beta`.
    pub fn ln_density(&self, beta: &[f64]) -> f64 {
        let n = self.cholesky.order();
        let mean = self.mean();
        // |Lᵀ(β − m)|² = (β − m)ᵀA(β − m).
        let square: f64 =
            (0..n).map(|j| (j..n).map(|i| self.cholesky.at(i, j) * (beta[i] - mean[i])).sum::<f64>().powi(2)).sum();
        0.5 * self.cholesky.ln_det() - n as f64 * (self.scale.ln() + LN_SQRT_2PI) - 0.5 * square / self.scale.powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;
    use crate::rng::Stream;

    #[test]
    fn draws_have_the_stated_mean_and_covariance() {
        let a = Mat::from_vec(2, 2, vec![2.0, 0.6, 0.6, 1.0]);
        let law = Canonical::new(&a, vec![1.0, -1.0], 0.5, "test").unwrap();
        let mut rng = Stream::new(4).rng();
        let draws: Vec<Vec<f64>> = (0..200_000).map(|_| law.draw(&mut rng)).collect();
        let n = draws.len() as f64;
        let mean = law.mean();
        let det = 2.0 * 1.0 - 0.36;
        let cov = [[0.25 / det, -0.15 / det], [-0.15 / det, 0.5 / det]];
        for i in 0..2 {
            let m = draws.iter().map(|d| d[i]).sum::<f64>() / n;
            assert!((m - mean[i]).abs() < 4.5 * (cov[i][i] / n).sqrt());
            for j in 0..2 {
                let c = draws.iter().map(|d| (d[i] - mean[i]) * (d[j] - mean[j])).sum::<f64>() / n;
                let error = ((cov[i][i] * cov[j][j] + cov[i][j].powi(2)) / n).sqrt();
                assert!((c - cov[i][j]).abs() < 4.5 * error);
            }
        }
    }
}
