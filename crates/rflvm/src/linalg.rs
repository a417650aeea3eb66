//! Dense matrices by rows, products, and Cholesky factors. The one place that knows faer.

use crate::error::NumericalError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{self as llt, LltRegularization};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{matmul, triangular_solve};
use faer::{Accum, MatMut, MatRef, Par};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::ops::{Index, IndexMut};

/// A dense matrix, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
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

    /// From values, row after row. The length must be `rows · cols`.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * cols, "a {rows}×{cols} matrix needs {} values", rows * cols);
        Mat { rows, cols, data }
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

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All values, row after row.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// The values themselves.
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

    /// Each row in turn.
    pub fn iter_rows(&self) -> impl Iterator<Item = &[f64]> {
        self.data.chunks_exact(self.cols.max(1))
    }

    /// A copy of column `j`.
    pub fn col(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
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

    /// A view for faer.
    pub fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    /// A view for faer.
    pub fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_row_major_slice_mut(&mut self.data, self.rows, self.cols)
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

/// out = a · b, one thread.
pub fn mul(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul::matmul(out, Accum::Replace, a, b, 1.0, Par::Seq);
}

/// out += a · b, one thread.
pub fn mul_add(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>) {
    matmul::matmul(out, Accum::Add, a, b, 1.0, Par::Seq);
}

/// Rows of the left factor in one task of [`par_mul`]: fixed, so that results do not depend on threads.
const MUL_ROWS: usize = 64;

/// out (+)= a · b with rows of `out` split over threads in fixed pieces.
pub fn par_mul(out: &mut Mat, a: MatRef<'_, f64>, b: MatRef<'_, f64>, accumulate: bool) {
    par_mul_into(&mut out.data, out.cols, a, b, accumulate);
}

/// [`par_mul`] into the values of a matrix with `cols` columns.
pub fn par_mul_into(out: &mut [f64], cols: usize, a: MatRef<'_, f64>, b: MatRef<'_, f64>, accumulate: bool) {
    let accum = if accumulate { Accum::Add } else { Accum::Replace };
    out.par_chunks_mut((MUL_ROWS * cols).max(1)).enumerate().for_each(|(c, piece)| {
        let rows = piece.len() / cols;
        let piece = MatMut::from_row_major_slice_mut(piece, rows, cols);
        matmul::matmul(piece, accum, a.subrows(c * MUL_ROWS, rows), b, 1.0, Par::Seq);
    });
}

/// The weighted Gram matrix HᵀΩH + diag(prior), ready for [`Cholesky::new`]; `scratch` holds ΩH.
pub fn gram(h: &Mat, omega: Option<&[f64]>, prior: &[f64], scratch: &mut Mat) -> Mat {
    let m = h.cols;
    let weighted = match omega {
        None => h.view(),
        Some(omega) => {
            if (scratch.rows, scratch.cols) != (h.rows, m) {
                *scratch = Mat::zeros(h.rows, m);
            }
            for ((to, from), &weight) in scratch.data.chunks_exact_mut(m).zip(h.data.chunks_exact(m)).zip(omega) {
                to.iter_mut().zip(from).for_each(|(t, &f)| *t = weight * f);
            }
            scratch.view()
        }
    };
    let mut a = Mat::zeros(m, m);
    triangular::matmul(
        a.view_mut().transpose_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        h.view().transpose(),
        BlockStructure::Rectangular,
        weighted,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    for i in 0..m {
        for j in 0..i {
            a[(i, j)] = a[(j, i)];
        }
        a[(i, i)] += prior[i];
    }
    a
}

/// A = LLᵀ, with the jitter (if any) that had to be added to the diagonal of A.
#[derive(Debug, Clone)]
pub struct Cholesky {
    n: usize,
    // L by columns, i.e. Lᵀ by rows; what lies on the other side of the diagonal is not used.
    l: Vec<f64>,
    jitter: f64,
}

impl Cholesky {
    /// Factors a symmetric matrix. If a pivot fails, tries again with 1e-12, 1e-11, …, 1e-6 of the mean
    /// diagonal added; `step` names the caller in the error.
    pub fn new(a: &Mat, step: &'static str) -> Result<Self, NumericalError> {
        let n = a.rows;
        let mean = (0..n).map(|i| a[(i, i)]).sum::<f64>() / n.max(1) as f64;
        let mut pivot = 0;
        for rung in -1..=6 {
            let jitter = if rung < 0 { 0.0 } else { mean.abs() * 1e-12 * 10_f64.powi(rung) };
            let mut l = a.data.clone();
            (0..n).for_each(|i| l[i * n + i] += jitter);
            match factor(&mut l, n) {
                Ok(()) => return Ok(Cholesky { n, l, jitter }),
                Err(index) => pivot = index,
            }
        }
        Err(NumericalError::NotPositiveDefinite { step, size: n, pivot, jitter: mean.abs() * 1e-6 })
    }

    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.n
    }

    /// What was added to the diagonal to make the factor exist; zero nearly always.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// L[i, j].
    pub fn at(&self, i: usize, j: usize) -> f64 {
        if j > i { 0.0 } else { self.l[j * self.n + i] }
    }

    /// ln |A|.
    pub fn ln_det(&self) -> f64 {
        2.0 * (0..self.n).map(|i| self.l[i * self.n + i].ln()).sum::<f64>()
    }

    fn lower(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.l, self.n, self.n)
    }

    /// b ← L⁻¹ b.
    pub fn solve_lower(&self, b: &mut [f64]) {
        let n = self.n;
        for j in 0..n {
            let column = &self.l[j * n..(j + 1) * n];
            b[j] /= column[j];
            let bj = b[j];
            b[j + 1..n].iter_mut().zip(&column[j + 1..]).for_each(|(x, &l)| *x -= l * bj);
        }
    }

    /// b ← L⁻ᵀ b.
    pub fn solve_upper(&self, b: &mut [f64]) {
        let n = self.n;
        for j in (0..n).rev() {
            let column = &self.l[j * n..(j + 1) * n];
            let dot: f64 = column[j + 1..].iter().zip(&b[j + 1..n]).map(|(l, x)| l * x).sum();
            b[j] = (b[j] - dot) / column[j];
        }
    }

    /// b ← A⁻¹ b.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    /// b ← L b.
    pub fn mul_lower(&self, b: &mut [f64]) {
        for i in (0..self.n).rev() {
            b[i] = (0..=i).map(|j| self.at(i, j) * b[j]).sum();
        }
    }

    /// B ← L⁻ᵀ B, all columns at once.
    pub fn solve_upper_mat(&self, b: &mut Mat) {
        triangular_solve::solve_upper_triangular_in_place(self.lower().transpose(), b.view_mut(), Par::Seq);
    }

    /// B ← L⁻¹ B, all columns at once.
    pub fn solve_lower_mat(&self, b: &mut Mat) {
        triangular_solve::solve_lower_triangular_in_place(self.lower(), b.view_mut(), Par::Seq);
    }

    /// B ← A⁻¹ B, all columns at once.
    pub fn solve_mat(&self, b: &mut Mat) {
        self.solve_lower_mat(b);
        self.solve_upper_mat(b);
    }

    /// A⁻¹.
    pub fn inverse(&self) -> Mat {
        let mut inverse = Mat::identity(self.n, 1.0);
        self.solve_mat(&mut inverse);
        inverse
    }

    /// A draw from N(A⁻¹ rhs, scale² A⁻¹): Gaussian with precision A / scale².
    pub fn draw_from_precision<R: Rng + ?Sized>(&self, rhs: &[f64], scale: f64, rng: &mut R) -> Vec<f64> {
        let mut x = rhs.to_vec();
        self.solve_lower(&mut x);
        for v in &mut x {
            *v += scale * rng.sample::<f64, _>(StandardNormal);
        }
        self.solve_upper(&mut x);
        x
    }
}

/// In-place L by columns; the index of the first bad pivot on failure.
fn factor(l: &mut [f64], n: usize) -> Result<(), usize> {
    // faer pays for set-up: the tiny matrices of the spectral prior are factored by hand.
    if n <= 16 {
        for j in 0..n {
            for k in 0..j {
                let ljk = l[k * n + j];
                (j..n).for_each(|i| l[j * n + i] -= ljk * l[k * n + i]);
            }
            let pivot = l[j * n + j];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(j);
            }
            let root = pivot.sqrt();
            (j..n).for_each(|i| l[j * n + i] /= root);
        }
        return Ok(());
    }
    let mut memory = MemBuffer::new(llt::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
    llt::cholesky_in_place(
        MatMut::from_column_major_slice_mut(l, n, n),
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .map_err(|llt::LltError::NonPositivePivot { index }| index)?;
    // faer lets a NaN through; a pivot that is not a number is not positive.
    (0..n).find(|&i| !l[i * n + i].is_finite()).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn random(rows: usize, cols: usize, seed: u64) -> Mat {
        let mut rng = Stream::new(seed).rng();
        Mat::from_vec(rows, cols, (0..rows * cols).map(|_| rng.sample(StandardNormal)).collect())
    }

    #[test]
    fn cholesky_solves_at_both_sizes() {
        for n in [1, 3, 16, 17, 60] {
            let h = random(2 * n, n, n as u64);
            let a = gram(&h, None, &vec![1.0; n], &mut Mat::default());
            let cholesky = Cholesky::new(&a, "test").unwrap();
            let b = random(n, 3, 9);
            let mut x = b.clone();
            cholesky.solve_mat(&mut x);
            let mut back = Mat::zeros(n, 3);
            mul(back.view_mut(), a.view(), x.view());
            back.as_slice().iter().zip(b.as_slice()).for_each(|(u, v)| assert!((u - v).abs() < 1e-9));
            let mut single = b.col(1);
            cholesky.solve(&mut single);
            single.iter().zip(x.col(1)).for_each(|(u, v)| assert!((u - v).abs() < 1e-9));
            let mut lower = b.col(0);
            cholesky.mul_lower(&mut lower);
            cholesky.solve_lower(&mut lower);
            lower.iter().zip(b.col(0)).for_each(|(u, v)| assert!((u - v).abs() < 1e-9));
        }
    }

    #[test]
    fn weighted_gram_is_the_plain_sum() {
        let h = random(30, 5, 1);
        let omega: Vec<f64> = (0..30).map(|n| n as f64 / 10.0).collect();
        let a = gram(&h, Some(&omega), &[0.5; 5], &mut Mat::default());
        for i in 0..5 {
            for j in 0..5 {
                let plain: f64 = (0..30).map(|n| omega[n] * h[(n, i)] * h[(n, j)]).sum();
                assert!((a[(i, j)] - plain - if i == j { 0.5 } else { 0.0 }).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn a_singular_matrix_climbs_the_jitter_ladder_and_an_indefinite_one_fails() {
        let ones = Mat::from_fn(20, 20, |_, _| 1.0);
        assert!(Cholesky::new(&ones, "test").unwrap().jitter() > 0.0);
        let mut indefinite = Mat::identity(3, 1.0);
        indefinite[(1, 1)] = -1.0;
        let error = Cholesky::new(&indefinite, "weights").unwrap_err();
        assert!(error.to_string().contains("weights"));
    }
}
