//! Eigenvalues and roots of small positive semi-definite matrices.

use super::Mat;
use faer::Side;

/// Eigenvalues, largest first; NaN if they cannot be computed.
pub fn eigenvalues(a: &Mat) -> Vec<f64> {
    let mut values = a.faer().self_adjoint_eigenvalues(Side::Lower).unwrap_or_else(|_| vec![f64::NAN; a.rows()]);
    values.reverse();
    values
}

/// A = U diag(values) Uᵀ.
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Eigenvalues, smallest first.
    pub values: Vec<f64>,
    /// Eigenvectors in columns.
    pub vectors: Mat,
}

/// The decomposition of a symmetric matrix; `None` if there is none, as for a matrix with NaN.
pub fn eigen(a: &Mat) -> Option<Eigen> {
    let found = a.faer().self_adjoint_eigen(Side::Lower).ok()?;
    let (u, s, n) = (found.U(), found.S(), a.rows());
    let values: Vec<f64> = (0..n).map(|i| s[i]).collect();
    values.iter().all(|v| v.is_finite()).then(|| Eigen { values, vectors: Mat::from_fn(n, n, |i, j| u[(i, j)]) })
}

/// The symmetric root: R = Rᵀ with R² = A. Eigenvalues made negative by rounding count as zero.
pub fn root(a: &Mat) -> Mat {
    let n = a.rows();
    let Ok(eigen) = a.faer().self_adjoint_eigen(Side::Lower) else { return Mat::from_fn(n, n, |_, _| f64::NAN) };
    let (u, s) = (eigen.U(), eigen.S());
    let part = |i: usize, j: usize, k: usize| u[(i, k)] * u[(j, k)] * s[k].max(0.0).sqrt();
    Mat::from_fn(n, n, |i, j| (0..n).map(|k| part(i, j, k)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_times_itself_is_the_matrix() {
        let a = Mat::from_vec(3, 3, vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 0.2]);
        let r = root(&a);
        for i in 0..3 {
            for j in 0..3 {
                let square: f64 = (0..3).map(|k| r[(i, k)] * r[(k, j)]).sum();
                assert!((square - a[(i, j)]).abs() < 1e-12);
                assert!((r[(i, j)] - r[(j, i)]).abs() < 1e-12);
            }
        }
        let values = eigenvalues(&a);
        assert!(values.is_sorted_by(|a, b| a >= b));
        assert!((values.iter().sum::<f64>() - 7.2).abs() < 1e-12);
    }
}
