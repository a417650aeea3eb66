//! Dense row-major matrices, products, Gram matrices and Cholesky factors. faer is used where a matrix is large or a
//! singular value decomposition is needed.

mod cholesky;
mod eigen;
mod gram;
mod product;
mod subspace;
mod tridiagonal;

pub use crate::simd::View;
pub use cholesky::{Cholesky, jittered};
pub use eigen::{Eigen, eigen, eigenvalues, root};
pub use gram::{Gram, Symmetric, gram, par_gram};
pub use product::{mul, par_mul, par_mul_each, par_mul_into};
pub use subspace::{leading, leading_of, orthonormalise, orthonormalise_of, products};
pub use tridiagonal::Tridiagonal;

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// A dense matrix in row-major order.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Mat {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Mat {
    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Mat { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// From values in row-major order. The length must be `rows · cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * cols, "a {rows}×{cols} matrix needs {} values", rows * cols);
        Mat { rows, cols, data }
    }

    /// A matrix of this shape whose values are elsewhere: nothing may be asked of them.
    pub(crate) fn hollow(rows: usize, cols: usize) -> Self {
        Mat { rows, cols, data: Vec::new() }
    }

    /// From a function of row and column.
    pub fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows * cols).map(|i| f(i / cols, i % cols)).collect();
        Mat { rows, cols, data }
    }

    /// `scale` times the identity.
    pub fn identity(n: usize, scale: f64) -> Self {
        Mat::from_fn(n, n, |i, j| if i == j { scale } else { 0.0 })
    }

    /// Changes the shape, reusing memory if it suffices; the values are unspecified.
    pub(crate) fn fit(&mut self, rows: usize, cols: usize) {
        (self.rows, self.cols) = (rows, cols);
        self.data.resize(rows * cols, 0.0);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All values in row-major order.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All values in row-major order.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The values, consuming the matrix.
    pub fn into_vec(self) -> Vec<f64> {
        self.data
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// The rows in order.
    pub fn iter_rows(&self) -> impl Iterator<Item = &[f64]> {
        self.data.chunks_exact(self.cols.max(1))
    }

    /// A copy of column `j`.
    pub fn col(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// A copy of some columns.
    pub fn some_cols(&self, some: std::ops::Range<usize>) -> Mat {
        let data = (0..self.rows).flat_map(|i| self.row(i)[some.clone()].iter().copied()).collect();
        Mat { rows: self.rows, cols: some.len(), data }
    }

    /// Overwrites column `j`.
    pub fn set_col(&mut self, j: usize, values: &[f64]) {
        for (i, &v) in values.iter().enumerate() {
            self[(i, j)] = v;
        }
    }

    /// The transpose.
    pub fn transposed(&self) -> Mat {
        Mat::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// A view, which can be transposed.
    pub fn view(&self) -> View<'_> {
        View::new(&self.data, self.rows, self.cols, self.cols)
    }

    /// A view for faer.
    pub(crate) fn faer(&self) -> faer::MatRef<'_, f64> {
        faer::MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }
}

impl Index<(usize, usize)> for Mat {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Mat {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}
