//! Cholesky factors: solves, inverses, and draws from Gaussians given their precision.

use super::gram::{Symmetric, gram, stride};
use super::{Mat, mul};
use crate::error::NumericalError;
use crate::simd::{self, CacheLines, LANES};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{self as llt, LltRegularization};
use faer::{MatMut, Par};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of factorisations that needed jitter.
static JITTERED: AtomicU64 = AtomicU64::new(0);

/// Number of matrices in this process that needed jitter on their diagonal to be factored.
pub fn jittered() -> u64 {
    JITTERED.load(Ordering::Relaxed)
}

/// A = LLᵀ, with the jitter (if any) that was added to the diagonal of A.
#[derive(Debug, Clone, Default)]
pub struct Cholesky {
    order: usize,
    // L by columns, laid out like A in `Symmetric`; entries above the diagonal are not used.
    l: CacheLines,
    // 1 / L[j, j].
    inverse: Vec<f64>,
    jitter: f64,
}

impl Cholesky {
    /// Factors a symmetric matrix; see [`Cholesky::factor`].
    pub fn new(a: impl Into<Symmetric>, step: &'static str) -> Result<Self, NumericalError> {
        let mut cholesky = Cholesky::default();
        cholesky.factor(&a.into(), step)?;
        Ok(cholesky)
    }

    /// Replaces itself by the factor of `a`, reusing memory. If a pivot fails, retries with 1e-12, 1e-11, …, 1e-6 of
    /// the mean diagonal added; `step` names the caller in the error.
    pub fn factor(&mut self, a: &Symmetric, step: &'static str) -> Result<(), NumericalError> {
        let n = a.order;
        if self.order != n {
            self.order = n;
            self.l.reset(a.a.len());
            self.inverse.clear();
            self.inverse.resize(n.next_multiple_of(LANES), 1.0);
        }
        let mean = (0..n).map(|i| a.at(i, i)).sum::<f64>() / n.max(1) as f64;
        let mut pivot = 0;
        for rung in -1..=6 {
            self.jitter = if rung < 0 { 0.0 } else { mean.abs() * 1e-12 * 10_f64.powi(rung) };
            match self.try_factor(a) {
                None => {
                    JITTERED.fetch_add(u64::from(rung >= 0), Ordering::Relaxed);
                    return Ok(());
                }
                Some(index) => pivot = index,
            }
        }
        Err(NumericalError::NotPositiveDefinite { step, size: n, pivot, jitter: mean.abs() * 1e-6 })
    }

    /// L and the inverses of its diagonal; on failure, the index of the first bad pivot.
    fn try_factor(&mut self, a: &Symmetric) -> Option<usize> {
        let (n, stride) = (self.order, stride(self.order));
        // In between, the kernel takes a third of faer's time; above, it has no blocking for the second-level cache.
        if n > TINY && n <= LARGE {
            return simd::factor(&a.a, self.jitter, stride, &mut self.l, &mut self.inverse);
        }
        self.l.copy_from_slice(&a.a);
        (0..n).for_each(|i| self.l[i * (stride + 1)] += self.jitter);
        let bad = if n <= TINY { factor_tiny(&mut self.l, n) } else { factor_large(&mut self.l, n) };
        (0..n).for_each(|i| self.inverse[i] = 1.0 / self.l[i * (stride + 1)]);
        bad
    }

    /// Order of the matrix.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Jitter added to the diagonal; zero nearly always.
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// L[i, j].
    pub fn at(&self, i: usize, j: usize) -> f64 {
        if j > i { 0.0 } else { self.l[j * stride(self.order) + i] }
    }

    /// ln |A|.
    pub fn ln_det(&self) -> f64 {
        2.0 * (0..self.order).map(|i| self.at(i, i).ln()).sum::<f64>()
    }

    /// b ← L⁻¹ b.
    pub fn solve_lower(&self, b: &mut [f64]) {
        self.padded(b, |x| simd::solve_lower_triangle(&self.l, stride(self.order), &self.inverse, x));
    }

    /// b ← L⁻ᵀ b.
    pub fn solve_upper(&self, b: &mut [f64]) {
        self.padded(b, |x| simd::solve_upper_triangle(&self.l, stride(self.order), &self.inverse, x));
    }

    /// b ← A⁻¹ b.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    fn padded(&self, b: &mut [f64], solve: impl FnOnce(&mut [f64])) {
        assert_eq!(b.len(), self.order);
        let mut x = vec![0.0; self.inverse.len()];
        x[..b.len()].copy_from_slice(b);
        solve(&mut x);
        b.copy_from_slice(&x[..b.len()]);
    }

    /// b ← L b.
    pub fn mul_lower(&self, b: &mut [f64]) {
        for j in (0..self.order).rev() {
            let (column, at) = (self.column(j), b[j]);
            b[j] *= column[0];
            simd::axpy(at, &column[1..], &mut b[j + 1..]);
        }
    }

    /// b ← Lᵀ b.
    pub fn mul_upper(&self, b: &mut [f64]) {
        for j in 0..self.order {
            b[j] = simd::dot(self.column(j), &b[j..]);
        }
    }

    /// Column j of L from its diagonal down.
    fn column(&self, j: usize) -> &[f64] {
        &self.l[j * stride(self.order)..][j..self.order]
    }

    /// A⁻¹ = L⁻ᵀL⁻¹.
    pub fn inverse(&self) -> Mat {
        gram(&self.inverse_lower(), None, &vec![0.0; self.order]).to_mat()
    }

    /// L⁻¹.
    pub fn inverse_lower(&self) -> Mat {
        self.lower_inverse(0, self.order)
    }

    /// The inverse of the `n` rows and columns of L from `start`, by halves: [A 0; B C]⁻¹ = [A⁻¹ 0; −C⁻¹BA⁻¹ C⁻¹].
    fn lower_inverse(&self, start: usize, n: usize) -> Mat {
        const PLAIN: usize = 16;
        let mut inverse = Mat::zeros(n, n);
        if n <= PLAIN {
            for j in 0..n {
                for i in j..n {
                    let sum: f64 = (j..i).map(|k| self.at(start + i, start + k) * inverse[(k, j)]).sum();
                    let unit = if i == j { 1.0 } else { 0.0 };
                    inverse[(i, j)] = (unit - sum) * self.inverse[start + i];
                }
            }
            return inverse;
        }
        let half = (n / 2).next_multiple_of(LANES);
        let rest = n - half;
        let (a, c) = (self.lower_inverse(start, half), self.lower_inverse(start + half, rest));
        let b = Mat::from_fn(rest, half, |i, j| -self.at(start + half + i, start + j));
        let (mut ba, mut cba) = (Mat::zeros(rest, half), Mat::zeros(rest, half));
        mul(ba.as_mut_slice(), b.view(), a.view(), false);
        mul(cba.as_mut_slice(), c.view(), ba.view(), false);
        for i in 0..half {
            inverse.row_mut(i)[..half].copy_from_slice(a.row(i));
        }
        for i in 0..rest {
            let row = inverse.row_mut(half + i);
            row[..half].copy_from_slice(cba.row(i));
            row[half..].copy_from_slice(c.row(i));
        }
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

/// Order up to which a plain loop is faster than the kernel's blocks: the matrices of clusters.
const TINY: usize = 4;
/// Order from which faer is faster.
const LARGE: usize = 768;

/// L in place; on failure, the index of the first bad pivot.
fn factor_tiny(l: &mut [f64], n: usize) -> Option<usize> {
    let stride = stride(n);
    for j in 0..n {
        for k in 0..j {
            let ljk = l[k * stride + j];
            (j..n).for_each(|i| l[j * stride + i] -= ljk * l[k * stride + i]);
        }
        let pivot = l[j * (stride + 1)];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Some(j);
        }
        let root = pivot.sqrt();
        (j..n).for_each(|i| l[j * stride + i] /= root);
    }
    None
}

/// Like [`factor_tiny`], by faer.
fn factor_large(l: &mut [f64], n: usize) -> Option<usize> {
    let stride = stride(n);
    let mut memory = MemBuffer::new(llt::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
    let done = llt::cholesky_in_place(
        MatMut::from_column_major_slice_with_stride_mut(l, n, n, stride),
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    match done {
        Err(llt::LltError::NonPositivePivot { index }) => Some(index),
        // faer accepts a NaN pivot; here it counts as not positive.
        Ok(_) => (0..n).find(|&i| !l[i * (stride + 1)].is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::gram::Gram;
    use super::super::gram::tests::{random, weights};
    use super::*;
    use crate::simd::tests::at_each_level;
    use rayon::prelude::*;

    #[test]
    fn threads_do_not_show_in_the_bits() {
        let h = random(150, 31, 1);
        let draw = |threads: usize| -> Vec<Vec<f64>> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                (0..64)
                    .into_par_iter()
                    .map_init(Default::default, |(gram, cholesky): &mut (Gram, Cholesky), j| {
                        cholesky.factor(gram.compute(&h, Some(&weights(150, j)), &[1.0; 31]), "test").unwrap();
                        let mut x = vec![1.0; 31];
                        cholesky.solve(&mut x);
                        x
                    })
                    .collect()
            })
        };
        assert_eq!(draw(1), draw(2));
    }

    #[test]
    fn factors_and_solutions_multiply_back_at_every_level() {
        for n in (1..=34).chain([60, 101, 200, LARGE + 1]) {
            let h = random(2 * n, n, n);
            let mut gram = Gram::default();
            let a = gram.compute(&h, None, &vec![1.0; n]);
            let product = |x: &[f64]| -> Vec<f64> { (0..n).map(|i| (0..n).map(|j| a.at(i, j) * x[j]).sum()).collect() };
            let b = random(n, 3, 9);
            let results = at_each_level(|| {
                let mut cholesky = Cholesky::default();
                cholesky.factor(a, "test").unwrap();
                let mut x = b.col(1);
                cholesky.solve(&mut x);
                let inverse = cholesky.inverse();
                for i in 0..n {
                    let by_inverse = (0..n).map(|k| inverse[(i, k)] * b[(k, 1)]).sum::<f64>();
                    assert!((by_inverse - x[i]).abs() < 1e-9);
                }
                if n <= 101 {
                    for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                        let llt: f64 = (0..=j).map(|k| cholesky.at(i, k) * cholesky.at(j, k)).sum();
                        assert!((llt - a.at(i, j)).abs() < 1e-10);
                    }
                }
                product(&x).iter().zip(b.col(1)).for_each(|(u, v)| assert!((u - v).abs() < 1e-9));
                x
            });
            if let [_, avx2, avx512] = &results[..] {
                assert_eq!(avx2, avx512);
            }
        }
    }

    #[test]
    fn a_singular_matrix_gets_jitter_and_an_indefinite_one_fails() {
        for n in [3, 20, LARGE + 1] {
            let ones = Mat::from_fn(n, n, |_, _| 1.0);
            assert!(Cholesky::new(&ones, "test").unwrap().jitter() > 0.0);
            for bad in [-1.0, f64::NAN] {
                let mut indefinite = Mat::identity(n, 1.0);
                indefinite[(1, 1)] = bad;
                let error = Cholesky::new(&indefinite, "weights").unwrap_err();
                assert!(error.to_string().contains("weights"));
            }
        }
    }
}
