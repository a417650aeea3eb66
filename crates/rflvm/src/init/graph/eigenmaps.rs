//! The smoothest functions on a graph: eigenvectors of its normalised Laplacian with the smallest eigenvalues but the first.

use super::Graph;
use crate::dist::normals;
use crate::linalg::{Cholesky, Mat, orthonormalise};
use crate::par;
use crate::rng::StreamRng;

/// Most rows: the Laplacian is factored as a dense matrix, which is exact where iterations with the sparse one hardly converge.
pub const MOST_ROWS: usize = 4000;
/// Rounds of inverse iteration.
const ROUNDS: usize = 40;
/// Vectors beyond those asked for, which speed up the convergence of the others.
const SPARE: usize = 6;
/// Added to the Laplacian, which has an eigenvalue of zero.
const SHIFT: f64 = 1e-8;

/// `dim` of them, N×dim.
pub fn smoothest(graph: &Graph, dim: usize, rng: &mut StreamRng) -> Option<Mat> {
    let rows = graph.edges.len();
    if rows > MOST_ROWS {
        return None;
    }
    let degree: Vec<f64> = graph.edges.iter().map(|own| (own.len() as f64).sqrt()).collect();
    let mut laplacian = Mat::identity(rows, 1.0 + SHIFT);
    for (n, own) in graph.edges.iter().enumerate() {
        own.iter().for_each(|&(m, _)| laplacian[(n, m)] -= 1.0 / (degree[n] * degree[m]));
    }
    let factor = Cholesky::new(&laplacian, "start").ok()?;
    // The constant function first, so that the others are orthogonal to it; then by smoothness, since Gram–Schmidt keeps the
    // leading directions first.
    let count = (dim + 1 + SPARE).min(rows);
    let mut basis = Mat::from_vec(count, rows, normals(count * rows, rng));
    for _ in 0..ROUNDS {
        basis.row_mut(0).copy_from_slice(&degree);
        orthonormalise(&mut basis);
        let solved = par::map(count, count * rows * rows, |i| {
            let mut v = basis.row(i).to_vec();
            factor.solve(&mut v);
            v
        });
        solved.into_iter().enumerate().for_each(|(i, v)| basis.row_mut(i).copy_from_slice(&v));
    }
    basis.row_mut(0).copy_from_slice(&degree);
    orthonormalise(&mut basis);
    let along = |n: usize, d: usize| if d + 1 < count { basis[(d + 1, n)] / degree[n] } else { 0.0 };
    Some(Mat::from_fn(rows, dim, along))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn the_smoothest_functions_on_a_path_are_cosines() {
        let rows = 100;
        let points = Mat::from_fn(rows, 1, |n, _| n as f64);
        let x = smoothest(&Graph::new(&points, 1), 2, &mut Stream::new(1).rng()).unwrap();
        for d in 0..2 {
            let cosine = |n: usize| ((d + 1) as f64 * std::f64::consts::PI * (n as f64) / (rows - 1) as f64).cos();
            let dot = |f: &dyn Fn(usize) -> f64, g: &dyn Fn(usize) -> f64| (0..rows).map(|n| f(n) * g(n)).sum::<f64>();
            let own = |n: usize| x[(n, d)];
            let overlap = dot(&own, &cosine) / (dot(&own, &own) * dot(&cosine, &cosine)).sqrt();
            assert!(overlap.abs() > 0.999, "{d}: {overlap}");
        }
    }
}
