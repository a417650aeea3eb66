//! Symmetric matrices and weighted Gram matrices, computed for many columns of the table in the same memory.

use super::Mat;
use crate::par::{self, chunk_rows, middle};
use crate::simd::{self, CacheLines, LANES};
use std::cell::RefCell;

/// Distance between columns: an odd number of cache lines, so that they do not compete for the same cache sets.
pub(super) fn stride(order: usize) -> usize {
    (order.div_ceil(LANES) | 1) * LANES
}

/// Cells of √Ω H kept at a time: together with the result they fit the second-level cache.
const CELLS: usize = 16_384;
/// Minimum number of rows, so that large results are not read and written too often.
const HEIGHT: usize = 128;

/// A symmetric matrix, stored on and below the diagonal by columns and padded with the identity.
#[derive(Debug, Clone, Default)]
pub struct Symmetric {
    pub(super) order: usize,
    pub(super) a: CacheLines,
}

impl Symmetric {
    /// Sets it to diag(values).
    fn reset(&mut self, diagonal: &[f64]) {
        let (order, stride) = (diagonal.len(), stride(diagonal.len()));
        self.order = order;
        self.a.reset(order.next_multiple_of(LANES) * stride);
        let padded = diagonal.iter().copied().chain(std::iter::repeat(1.0));
        (0..order.next_multiple_of(LANES)).zip(padded).for_each(|(j, value)| self.a[j * (stride + 1)] = value);
    }

    /// Sets it to the matrix of this order whose column j is written by `fill(j, …)` from its diagonal down.
    pub fn compute(&mut self, order: usize, mut fill: impl FnMut(usize, &mut [f64])) {
        if self.order != order || self.a.is_empty() {
            self.reset(&vec![0.0; order]);
        }
        for (j, column) in self.a.chunks_exact_mut(stride(order)).take(order).enumerate() {
            fill(j, &mut column[j..order]);
        }
    }

    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.order
    }

    /// factor · A + diag(values).
    pub fn scaled_plus(&self, factor: f64, diagonal: &[f64]) -> Self {
        let mut to = self.clone();
        let stride = stride(self.order);
        for (j, column) in to.a.chunks_exact_mut(stride).take(self.order).enumerate() {
            column[j..self.order].iter_mut().for_each(|a| *a *= factor);
            column[j] += diagonal[j];
        }
        to
    }

    /// The full matrix.
    pub fn to_mat(&self) -> Mat {
        let n = self.order;
        let mut full = Mat::zeros(n, n);
        for j in 0..n {
            let column = &self.a[j * stride(n)..][..n];
            full.row_mut(j)[j..].copy_from_slice(&column[j..]);
            (j + 1..n).for_each(|i| full[(i, j)] = column[i]);
        }
        full
    }

    /// A[i, j].
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.a[i.min(j) * stride(self.order) + i.max(j)]
    }
}

impl From<&Mat> for Symmetric {
    fn from(from: &Mat) -> Self {
        let mut to = Symmetric::default();
        to.reset(&vec![0.0; from.rows()]);
        for (row, column) in from.iter_rows().zip(to.a.chunks_exact_mut(stride(from.rows()))) {
            column[..row.len()].copy_from_slice(row);
        }
        to
    }
}

/// HᵀΩH + diag(prior). Keeps its memory between calls.
#[derive(Debug, Default)]
pub struct Gram {
    sum: Symmetric,
    order: usize,
    // A block of rows of √Ω H at a time: by the root of Ω, so that one copy is both factors of the product.
    rows: CacheLines,
    roots: Vec<f64>,
}

impl Gram {
    /// The matrix for rows `h` weighted by `omega` ≥ 0, or unweighted.
    pub fn compute(&mut self, h: &Mat, omega: Option<&[f64]>, prior: &[f64]) -> &Symmetric {
        self.of_rows(h.as_slice(), h.cols(), omega, prior)
    }

    fn of_rows(&mut self, h: &[f64], order: usize, omega: Option<&[f64]>, prior: &[f64]) -> &Symmetric {
        assert!(omega.is_none_or(|omega| omega.len() * order == h.len()));
        let stride = stride(order);
        let height = (CELLS / stride).max(HEIGHT);
        if self.order != order {
            // The padding stays zero from here.
            self.rows.reset(height * stride);
            self.roots.resize(height, 1.0);
            self.order = order;
        }
        self.sum.reset(prior);
        for (c, rows) in h.chunks(height * order).enumerate() {
            let roots = &mut self.roots[..rows.len() / order];
            match omega {
                Some(omega) => {
                    roots.iter_mut().zip(&omega[c * height..]).for_each(|(root, omega)| *root = omega.sqrt())
                }
                None => roots.fill(1.0),
            }
            simd::add_gram(rows, order, roots, stride, &mut self.rows, &mut self.sum.a);
        }
        &self.sum
    }
}

thread_local! {
    static GRAM: RefCell<Gram> = RefCell::default();
}

/// HᵀΩH + diag(prior), in memory kept by the thread.
pub fn gram(h: &Mat, omega: Option<&[f64]>, prior: &[f64]) -> Symmetric {
    GRAM.with_borrow_mut(|gram| gram.compute(h, omega, prior).clone())
}

/// [`gram`], split over threads: the sum of the matrices of fixed pieces of the rows, which differs from [`gram`] by rounding.
pub fn par_gram(h: &Mat, omega: Option<&[f64]>, prior: &[f64]) -> Symmetric {
    let chunk = chunk_rows(h.rows(), h.cols() * h.cols() / 64);
    halves(h.as_slice(), h.cols(), omega, prior, chunk)
}

fn halves(h: &[f64], order: usize, omega: Option<&[f64]>, prior: &[f64], chunk: usize) -> Symmetric {
    let rows = h.len() / order;
    if rows <= chunk {
        return GRAM.with_borrow_mut(|gram| gram.of_rows(h, order, omega, prior).clone());
    }
    let middle = middle(rows, chunk);
    let (above, below) = h.split_at(middle * order);
    let (of_above, of_below) = omega.map(|omega| omega.split_at(middle)).unzip();
    let (mut sum, other) = par::join(
        || halves(above, order, of_above, prior, chunk),
        || halves(below, order, of_below, &vec![0.0; order], chunk),
    );
    let columns = sum.a.chunks_exact_mut(stride(order)).zip(other.a.chunks_exact(stride(order)));
    for (j, (sum, other)) in columns.take(order).enumerate() {
        sum[j..order].iter_mut().zip(&other[j..order]).for_each(|(sum, other)| *sum += other);
    }
    sum
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Cholesky;
    use super::*;
    use crate::simd::tests::at_each_level;

    pub fn random(rows: usize, cols: usize, seed: usize) -> Mat {
        let mix = |i: usize| {
            (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
        };
        Mat::from_fn(rows, cols, |i, j| (mix(seed + i * cols + j) >> 11) as f64 * 2f64.powi(-52) - 1.0)
    }

    pub fn weights(rows: usize, seed: usize) -> Vec<f64> {
        // Every fifth cell is missing.
        random(1, rows, seed)
            .as_slice()
            .iter()
            .enumerate()
            .map(|(i, x)| if i % 5 == 4 { 0.0 } else { x.abs() })
            .collect()
    }

    /// On and below the diagonal.
    fn triangle(a: &Symmetric) -> Vec<f64> {
        (0..a.order()).flat_map(|j| (j..a.order()).map(move |i| a.at(i, j))).collect()
    }

    #[test]
    fn the_gram_matrix_is_the_plain_sum_at_every_level_and_in_used_memory() {
        let shapes = [(500, 101), (1, 1), (3, 2), (40, 7), (41, 8), (20, 9), (700, 23), (33, 24), (9, 101), (200, 47)];
        let shapes = shapes.into_iter().chain((1..=40).map(|m| (2 * m, m)));
        let mut reused = Gram::default();
        for (n, m) in shapes {
            let (h, omega) = (random(n, m, 1), weights(n, 2));
            let prior: Vec<f64> = (0..m).map(|i| 0.5 + i as f64).collect();
            let fresh = at_each_level(|| triangle(Gram::default().compute(&h, Some(&omega), &prior)));
            let again = at_each_level(|| triangle(reused.compute(&h, Some(&omega), &prior)));
            assert_eq!(fresh, again);
            if let [_, avx2, avx512] = &fresh[..] {
                assert_eq!(avx2, avx512);
            }
            let plain = |i: usize, j: usize| (0..n).map(|k| omega[k] * h[(k, i)] * h[(k, j)]).sum::<f64>();
            let plain: Vec<f64> = (0..m)
                .flat_map(|j| (j..m).map(move |i| (i, j)))
                .map(|(i, j)| plain(i, j) + if i == j { prior[i] } else { 0.0 })
                .collect();
            for values in fresh {
                values.iter().zip(&plain).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{n}×{m}: {a} {b}"));
            }
            for parallel in [par_gram(&h, Some(&omega), &prior), halves(h.as_slice(), m, Some(&omega), &prior, 7)] {
                let alike = triangle(&parallel).into_iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-10);
                assert!(alike && Cholesky::new(parallel, "test").is_ok(), "{n}×{m}");
            }
            let unweighted = triangle(reused.compute(&h, None, &prior));
            assert_eq!(unweighted, triangle(reused.compute(&h, Some(&vec![1.0; n]), &prior)));
        }
    }
}
