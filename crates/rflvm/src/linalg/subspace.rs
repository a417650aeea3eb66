//! Leading singular vectors by subspace iteration: it needs only products, so that a wide table requires no large
//! decomposition.

use super::{Mat, par_mul};
use crate::simd;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

/// An orthonormal basis, one vector per row and the largest singular value first, of the leading `rank` right singular vectors of
/// `y` (or as many as its rank allows), after `rounds` rounds.
pub fn leading<R: Rng + ?Sized>(y: &Mat, rank: usize, rounds: usize, rng: &mut R) -> Mat {
    let rank = rank.min(y.rows()).min(y.cols());
    let mut basis = Mat::from_vec(rank, y.cols(), (0..rank * y.cols()).map(|_| rng.sample(StandardNormal)).collect());
    let mut scores = Mat::zeros(y.rows(), rank);
    for _ in 0..rounds {
        orthonormalise(&mut basis);
        par_mul(&mut scores, y.view(), basis.view().transpose(), false);
        par_mul(&mut basis, scores.view().transpose(), y.view(), false);
    }
    // Rows are in the order of their singular values: Gram–Schmidt keeps the leading directions first.
    orthonormalise(&mut basis);
    basis
}

/// Modified Gram–Schmidt on the rows. A linearly dependent row becomes zero.
pub fn orthonormalise(basis: &mut Mat) {
    let cols = basis.cols();
    for d in 0..basis.rows() {
        let (done, rest) = basis.as_mut_slice().split_at_mut(d * cols);
        let row = &mut rest[..cols];
        let before = simd::dot(row, row).sqrt();
        for other in done.chunks_exact(cols) {
            let overlap = simd::dot(other, row);
            simd::axpy(-overlap, other, row);
        }
        let norm = simd::dot(row, row).sqrt();
        // What remains is rounding error, not a direction.
        let scale = if norm > 1e-12 * before && norm > 1e-150 { norm.recip() } else { 0.0 };
        row.iter_mut().for_each(|v| *v *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_wide_directions_of_a_table_are_found_in_order() {
        // y = 5 a uᵀ + 2 b vᵀ with orthonormal u, v and a, b.
        let (u, v) = ([0.6, 0.8, 0.0], [0.0, 0.0, 1.0]);
        let (a, b) = ([0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5]);
        let y = Mat::from_fn(4, 3, |n, j| 5.0 * a[n] * u[j] + 2.0 * b[n] * v[j]);
        let basis = leading(&y, 2, 40, &mut Stream::new(3).rng());
        for (row, truth) in basis.iter_rows().zip([u, v]) {
            assert!((simd::dot(row, &truth).abs() - 1.0).abs() < 1e-12);
        }
        // Three columns span at most three directions, and this table spans two.
        let all = leading(&y, 9, 40, &mut Stream::new(3).rng());
        assert_eq!(all.rows(), 3);
        assert_eq!(all.row(2), [0.0; 3]);
    }
}
