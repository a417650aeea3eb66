//! Principal components of a table, or probabilistic ones by EM if cells are missing (Tipping & Bishop 1999).

use crate::chunks::{Chunk, Chunks};
use crate::linalg::{Cholesky, Mat, leading_of, orthonormalise, products};
use crate::par;
use rand::Rng;
use std::ops::Range;

/// The first `dim` principal scores of `y` (NaN marks a missing cell), each with mean zero and variance one.
pub fn scores<R: Rng + ?Sized>(chunks: &Chunks, mut y: Mat, dim: usize, rng: &mut R) -> Mat {
    centre(&mut y);
    let holes: Vec<usize> = (0..y.as_slice().len()).filter(|&i| y.as_slice()[i].is_nan()).collect();
    holes.iter().for_each(|&i| y.as_mut_slice()[i] = 0.0);
    let loadings = subspace(chunks, &y, dim, rng);
    let mut scores = products(chunks, &y, &loadings.transposed());
    if has_any(chunks, &holes) {
        holes.iter().for_each(|&i| y.as_mut_slice()[i] = f64::NAN);
        scores = expectation_maximisation(chunks, &y, scores, loadings);
    }
    whiten(scores)
}

/// The first `dim` principal scores, each with its own variance. Missing cells are filled in by the components themselves, over and
/// over: cheap, and good enough for distances between rows.
pub fn wide_scores<R: Rng + ?Sized>(chunks: &Chunks, mut y: Mat, dim: usize, rng: &mut R) -> Mat {
    const FILLS: usize = 10;
    const ROUNDS: usize = 12;
    centre(&mut y);
    let holes: Vec<usize> = (0..y.as_slice().len()).filter(|&i| y.as_slice()[i].is_nan()).collect();
    holes.iter().for_each(|&i| y.as_mut_slice()[i] = 0.0);
    let cols = y.cols();
    let mut fills = if has_any(chunks, &holes) { FILLS } else { 0 };
    loop {
        let basis = leading_of(chunks, &y, dim, ROUNDS, rng);
        let scores = products(chunks, &y, &basis);
        if fills == 0 {
            return scores;
        }
        fills -= 1;
        let fitted =
            |i: usize| -> f64 { (0..basis.rows()).map(|d| scores[(i / cols, d)] * basis[(d, i % cols)]).sum() };
        holes.iter().for_each(|&i| y.as_mut_slice()[i] = fitted(i));
    }
}

/// Subtracts the means of the columns, row by row as a table is stored.
fn centre(y: &mut Mat) {
    let columns = y.cols();
    let (mut mean, mut count) = (vec![0.0; columns], vec![0.0; columns]);
    for row in y.iter_rows() {
        for ((mean, count), y) in mean.iter_mut().zip(&mut count).zip(row).filter(|(_, y)| !y.is_nan()) {
            *mean += y;
            *count += 1.0;
        }
    }
    mean.iter_mut().zip(count).for_each(|(mean, count): (&mut f64, f64)| *mean /= count.max(1.0));
    par::for_each(y.as_mut_slice().chunks_mut(columns.max(1)), 64, |row| {
        row.iter_mut().zip(&mean).for_each(|(y, mean)| *y -= mean);
    });
}

/// Loadings of the first `dim` components, one per column; zero beyond the rank of the table.
fn subspace<R: Rng + ?Sized>(chunks: &Chunks, y: &Mat, dim: usize, rng: &mut R) -> Mat {
    const ROUNDS: usize = 60;
    /// Extra vectors, which speed up the convergence of the leading ones.
    const SPARE: usize = 8;
    let basis = leading_of(chunks, y, dim + SPARE, ROUNDS, rng);
    Mat::from_fn(y.cols(), dim, |j, d| if d < basis.rows() { basis[(d, j)] } else { 0.0 })
}

/// Whether any process has missing cells.
fn has_any(chunks: &Chunks, holes: &[usize]) -> bool {
    let own = if holes.is_empty() { 0.0 } else { 1.0 };
    chunks.sum(|_| own) > 0.0
}

/// EM over the observed cells: scores given loadings row by row, loadings given scores column by column.
fn expectation_maximisation(chunks: &Chunks, y: &Mat, mut x: Mat, mut loadings: Mat) -> Mat {
    const ROUNDS: usize = 100;
    let dim = x.cols();
    let seen = |n: usize, columns: &Range<usize>| columns.clone().filter(move |&j| !y[(n, j)].is_nan());
    // Σ and number of the squares of the observed cells, less what is fitted.
    let squares = |fitted: &(dyn Fn(usize, usize) -> f64 + Sync)| {
        let sums = chunks.add(&mut chunks.own(), 2, |Chunk { columns, .. }, to| {
            for n in 0..y.rows() {
                for j in seen(n, columns) {
                    to[0] += (y[(n, j)] - fitted(n, j)).powi(2);
                    to[1] += 1.0;
                }
            }
        });
        sums[0] / sums[1].max(1.0)
    };
    let mut noise = squares(&|_, _| 0.0);
    for _ in 0..ROUNDS {
        // A and c of the ridge regression of each row.
        let width = dim * dim + dim;
        let sums = chunks.add(&mut chunks.own(), y.rows() * width, |Chunk { index, columns }, to| {
            for (n, to) in to.chunks_exact_mut(width).enumerate() {
                let (a, c) = to.split_at_mut(dim * dim);
                if *index == 0 {
                    (0..dim).for_each(|i| a[i * dim + i] = noise);
                }
                seen(n, columns).for_each(|j| add_pair((y[(n, j)], loadings.row(j)), a, c));
            }
        });
        for (n, sums) in sums.chunks_exact(width).enumerate() {
            let (a, c) = sums.split_at(dim * dim);
            if let Some(row) = solved(a, c) {
                x.row_mut(n).copy_from_slice(&row);
            }
        }
        // With unit-variance scores the ridge above is the posterior mean.
        x = whiten(x);
        for j in 0..y.cols() {
            let seen = (0..y.rows()).map(|n| (y[(n, j)], x.row(n)));
            if let Some(row) = ridge(seen, dim, 1e-6) {
                loadings.row_mut(j).copy_from_slice(&row);
            }
        }
        let fitted = |n: usize, j: usize| x.row(n).iter().zip(loadings.row(j)).map(|(a, b)| a * b).sum::<f64>();
        noise = squares(&fitted).max(1e-12);
    }
    x
}

/// A += bbᵀ and c += y b.
fn add_pair((y, b): (f64, &[f64]), a: &mut [f64], c: &mut [f64]) {
    let dim = b.len();
    for i in 0..dim {
        c[i] += y * b[i];
        (0..dim).for_each(|k| a[i * dim + k] += b[i] * b[k]);
    }
}

/// A⁻¹c.
fn solved(a: &[f64], c: &[f64]) -> Option<Vec<f64>> {
    let mut c = c.to_vec();
    Cholesky::new(&Mat::from_vec(c.len(), c.len(), a.to_vec()), "start").ok()?.solve(&mut c);
    Some(c)
}

/// argmin Σ (y − a·b)² + penalty |a|² over the pairs (y, b) whose y is observed.
fn ridge<'a>(seen: impl Iterator<Item = (f64, &'a [f64])>, dim: usize, penalty: f64) -> Option<Vec<f64>> {
    let (mut a, mut c) = (Mat::identity(dim, penalty), vec![0.0; dim]);
    seen.filter(|(y, _)| !y.is_nan()).for_each(|pair| add_pair(pair, a.as_mut_slice(), &mut c));
    solved(a.as_slice(), &c)
}

/// Makes the columns uncorrelated with mean zero and variance one; the first keeps its direction.
pub(super) fn whiten(mut x: Mat) -> Mat {
    let rows = x.rows() as f64;
    for d in 0..x.cols() {
        let mean = (0..x.rows()).map(|n| x[(n, d)]).sum::<f64>() / rows;
        (0..x.rows()).for_each(|n| x[(n, d)] -= mean);
    }
    let mut turned = x.transposed();
    orthonormalise(&mut turned);
    let mut x = turned.transposed();
    x.as_mut_slice().iter_mut().for_each(|v| *v *= rows.sqrt());
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normal;
    use crate::dist::normals;
    use crate::rng::Stream;

    fn low_rank(missing: bool) -> (Mat, Mat) {
        let mut rng = Stream::new(1).rng();
        let x = Mat::from_vec(80, 2, normals(160, &mut rng));
        let loadings = Mat::from_vec(12, 2, normals(24, &mut rng));
        let y = Mat::from_fn(80, 12, |n, j| 3.0 + (0..2).map(|d| x[(n, d)] * loadings[(j, d)]).sum::<f64>());
        let mut y = Mat::from_vec(80, 12, y.as_slice().iter().map(|v| v + 0.01 * normal(&mut rng)).collect());
        if missing {
            for n in 0..80 {
                y[(n, (7 * n) % 12)] = f64::NAN;
                y[(n, (5 * n + 3) % 12)] = f64::NAN;
            }
        }
        (y, x)
    }

    #[test]
    fn scores_span_the_true_plane_with_and_without_holes() {
        for missing in [false, true] {
            let (y, x) = low_rank(missing);
            let scores = scores(&Chunks::new(12, &[]), y, 2, &mut Stream::new(2).rng());
            let r2 = crate::posterior::score::affine_r2(&scores, &x);
            assert!(r2 > 0.999, "missing {missing}: {r2}");
            // Distances between rows are those of the table.
            let (y, _) = low_rank(missing);
            let (full, _) = low_rank(false);
            let wide = wide_scores(&Chunks::new(12, &[]), y, 3, &mut Stream::new(2).rng());
            let distance =
                |of: &Mat| of.row(3).iter().zip(of.row(40)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!((distance(&wide) / distance(&full) - 1.0).abs() < 0.03, "missing {missing}");
        }
    }
}
