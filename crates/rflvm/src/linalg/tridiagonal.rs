//! Householder's reduction of a symmetric matrix: enough to solve it with many shifts of its diagonal, at a fraction of the cost of
//! eigenvectors.

use super::Mat;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Conj, Par};

/// A = QTQᵀ with T tridiagonal.
#[derive(Debug, Clone)]
pub struct Tridiagonal {
    /// The diagonal of T.
    pub diagonal: Vec<f64>,
    /// The values next to it, one fewer.
    pub off: Vec<f64>,
    /// Q, orthogonal.
    pub q: Mat,
}

impl Tridiagonal {
    /// Of a symmetric matrix, of which the lower half is read; `None` if it is not finite.
    pub fn new(a: &Mat) -> Option<Self> {
        let n = a.rows();
        let mut reduced = a.faer().to_owned();
        // Q in column-major order, as faer likes it; the reflections leave its first row and column alone.
        let mut q = faer::Mat::<f64>::identity(n, n);
        if n > 1 {
            let block = recommended_block_size::<f64>(n, n);
            let mut reflections = faer::Mat::<f64>::zeros(block, n - 1);
            let mut memory = MemBuffer::new(StackReq::any_of(&[
                tridiag_in_place_scratch::<f64>(n, Par::Seq, Default::default()),
                apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(n - 1, block, n - 1),
            ]));
            let stack = MemStack::new(&mut memory);
            tridiag_in_place(reduced.as_mut(), reflections.as_mut(), Par::Seq, stack, Default::default());
            apply_block_householder_sequence_on_the_left_in_place_with_conj(
                reduced.as_ref().submatrix(1, 0, n - 1, n - 1),
                reflections.as_ref(),
                Conj::No,
                q.as_mut().submatrix_mut(1, 1, n - 1, n - 1),
                Par::Seq,
                stack,
            );
        }
        let diagonal: Vec<f64> = (0..n).map(|i| reduced[(i, i)]).collect();
        let off: Vec<f64> = (1..n).map(|i| reduced[(i, i - 1)]).collect();
        let finite = diagonal.iter().chain(&off).all(|v| v.is_finite());
        finite.then(|| Tridiagonal { diagonal, off, q: Mat::from_fn(n, n, |i, j| q[(i, j)]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Shifted, tridiagonal_inverses, tridiagonal_solves};

    fn matrix(n: usize) -> Mat {
        let b = Mat::from_fn(n, n, |i, j| ((i * 7 + j * 3 + i * j) as f64).sin());
        Mat::from_fn(n, n, |i, j| (0..n).map(|k| b[(i, k)] * b[(j, k)]).sum())
    }

    #[test]
    fn the_reduction_is_similar_to_the_matrix() {
        for n in [1, 2, 3, 10, 33, 101] {
            let a = matrix(n);
            let Tridiagonal { diagonal, off, q } = Tridiagonal::new(&a).unwrap();
            let t = |i: usize, k: usize| match i.abs_diff(k) {
                0 => diagonal[i],
                1 => off[i.min(k)],
                _ => 0.0,
            };
            let scale = (0..n).map(|i| a[(i, i)]).fold(0.0, f64::max);
            for i in 0..n {
                for j in 0..n {
                    let near = |k: usize| k.saturating_sub(1)..(k + 2).min(n);
                    let product: f64 =
                        (0..n).map(|k| q[(i, k)] * near(k).map(|l| t(k, l) * q[(j, l)]).sum::<f64>()).sum();
                    assert!((product - a[(i, j)]).abs() <= 1e-12 * scale, "{n} {i} {j}");
                }
            }
        }
        assert!(Tridiagonal::new(&Mat::from_vec(2, 2, vec![1.0, f64::NAN, f64::NAN, 1.0])).is_none());
    }

    #[test]
    fn two_negative_pivots_do_not_pass_for_positive_ones() {
        let (mut z, mut ratio, mut gain, mut ln_det) = (vec![1.0; 3], vec![0.0; 3], vec![0.0; 3], [0.0]);
        let shifted = Shifted { diagonal: &[-3.0, -4.0, 2.0], off: &[0.0; 2], tau2: &[1.0] };
        tridiagonal_solves(shifted, &mut z, &mut ratio, &mut gain, &mut ln_det);
        assert!(ln_det[0].is_nan());
    }

    #[test]
    fn shifted_systems_are_solved_and_their_inverses_summed() {
        for (n, columns) in [(1, 3), (5, 1), (12, 11), (33, 20)] {
            let t = Tridiagonal::new(&matrix(n)).unwrap();
            let tau2: Vec<f64> = (0..columns).map(|j| (0.7 * j as f64 - 2.0).exp()).collect();
            let c = Mat::from_fn(n, columns, |i, j| (i as f64 - 0.3 * j as f64).cos());
            let (mut z, mut ratio, mut gain) = (c.clone(), Mat::zeros(n, columns), Mat::zeros(n, columns));
            let mut ln_det = vec![0.0; columns];
            let (z_mut, ratio_mut) = (z.as_mut_slice(), ratio.as_mut_slice());
            let shifted = Shifted { diagonal: &t.diagonal, off: &t.off, tau2: &tau2 };
            tridiagonal_solves(shifted, z_mut, ratio_mut, gain.as_mut_slice(), &mut ln_det);
            let mut sum = Mat::zeros(n, n);
            tridiagonal_inverses(n, ratio.as_slice(), gain.as_mut_slice(), sum.as_mut_slice());
            let mut expected = Mat::zeros(n, n);
            for j in 0..columns {
                let a = Mat::from_fn(n, n, |i, k| match i.abs_diff(k) {
                    0 => t.diagonal[i] + 1.0 / tau2[j],
                    1 => t.off[i.min(k)],
                    _ => 0.0,
                });
                for i in 0..n {
                    let product: f64 = (0..n).map(|k| a[(i, k)] * z[(k, j)]).sum();
                    assert!((product - c[(i, j)]).abs() < 1e-10, "{n} {i} {j}: {product} for {}", c[(i, j)]);
                }
                let factor = crate::linalg::Cholesky::new(&a, "test").unwrap();
                let det = factor.ln_det() + n as f64 * tau2[j].ln();
                assert!((ln_det[j] - det).abs() < 1e-10 * (1.0 + det.abs()), "{} for {det}", ln_det[j]);
                for k in 0..n {
                    let mut unit = vec![0.0; n];
                    unit[k] = 1.0;
                    factor.solve(&mut unit);
                    (0..n).for_each(|i| expected[(i, k)] += unit[i]);
                }
            }
            for (got, want) in sum.as_slice().iter().zip(expected.as_slice()) {
                assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()), "{got} for {want}");
            }
        }
    }
}
