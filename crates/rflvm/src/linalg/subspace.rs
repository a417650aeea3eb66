//! Leading singular vectors by subspace iteration: it needs only products, so that a wide table requires no large
//! decomposition.

use super::{Mat, par_mul, par_mul_into};
use crate::chunks::{Chunk, Chunks};
use crate::rng::Stream;
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

/// [`leading`] of a table whose columns several processes may share, or which is wide: of this process's columns of the basis.
pub fn leading_of<R: Rng + ?Sized>(chunks: &Chunks, y: &Mat, rank: usize, rounds: usize, rng: &mut R) -> Mat {
    if chunks.count() == 1 {
        return leading(y, rank, rounds, rng);
    }
    let rank = rank.min(y.rows()).min(chunks.columns());
    let (mut basis, stream) = (Mat::zeros(rank, y.cols()), Stream::new(rng.random()));
    for chunk in chunks.own() {
        let rng = &mut chunks.stream(stream, &chunk).rng();
        for r in 0..rank {
            basis.row_mut(r)[chunk.columns.clone()].iter_mut().for_each(|v| *v = rng.sample(StandardNormal));
        }
    }
    for _ in 0..rounds {
        orthonormalise_of(chunks, &mut basis);
        let scores = products(chunks, y, &basis);
        par_mul(&mut basis, scores.view().transpose(), y.view(), false);
    }
    orthonormalise_of(chunks, &mut basis);
    basis
}

/// y·bᵀ, a sum over the columns of all processes.
pub fn products(chunks: &Chunks, y: &Mat, b: &Mat) -> Mat {
    let sum = chunks.add(&mut chunks.own(), y.rows() * b.rows(), |Chunk { columns, .. }, to| {
        let [y, b] = [y, b].map(|of| of.view().subcols(columns.start, columns.len()));
        par_mul_into(to, y, b.transpose(), false);
    });
    Mat::from_vec(y.rows(), b.rows(), sum)
}

/// Gram–Schmidt, twice over, on rows whose columns several processes may share: each row takes few sums over all columns.
pub fn orthonormalise_of(chunks: &Chunks, basis: &mut Mat) {
    let cols = basis.cols();
    for d in 0..basis.rows() {
        let (done, rest) = basis.as_mut_slice().split_at_mut(d * cols);
        let row = &mut rest[..cols];
        let square = |row: &[f64]| {
            chunks.sum(|Chunk { columns, .. }| simd::dot(&row[columns.clone()], &row[columns.clone()])).sqrt()
        };
        let before = square(row);
        for _ in 0..2 {
            let overlaps = chunks.add(&mut chunks.own(), d, |Chunk { columns, .. }, to| {
                let others = done.chunks_exact(cols.max(1)).zip(to);
                others.for_each(|(other, to)| *to = simd::dot(&other[columns.clone()], &row[columns.clone()]));
            });
            done.chunks_exact(cols.max(1)).zip(overlaps).for_each(|(other, overlap)| simd::axpy(-overlap, other, row));
        }
        let norm = square(row);
        let scale = if norm > 1e-12 * before && norm > 1e-150 { norm.recip() } else { 0.0 };
        row.iter_mut().for_each(|v| *v *= scale);
    }
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

    #[test]
    fn chunks_of_a_wide_table_have_the_same_directions() {
        let y = Mat::from_fn(40, 300, |n, j| {
            let t = n as f64 / 7.0;
            5.0 * t.sin() * (0.1 * j as f64).cos() + 2.0 * t.cos() * (0.03 * j as f64).sin() + 0.2 * (2.0 * t).sin()
        });
        let (whole, chunks) = (leading(&y, 3, 60, &mut Stream::new(3).rng()), Chunks::new(300, &[]));
        let cut = leading_of(&chunks, &y, 3, 60, &mut Stream::new(4).rng());
        assert!(chunks.count() > 1);
        for (a, b) in whole.iter_rows().zip(cut.iter_rows()) {
            assert!((simd::dot(a, b).abs() - 1.0).abs() < 1e-9);
        }
    }
}
