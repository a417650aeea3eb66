//! How well a row's position is known given everything else: the inverse of I + Σ_j Λ_nj (∂f_nj/∂x)(∂f_nj/∂x)ᵀ, with
//! ∂f_nj/∂x = Σ_l (h_cos β_lj − h_sin β_{L+l,j}) w_l (Laplace). W, β and θ are taken as known, and so is nothing of what their
//! uncertainty adds; of a path over time only the variance at one time counts, not the rows near by.

use super::occam::information;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use crate::model::{Model, State};

/// Covariance of x_n given W, β and θ, for each row.
pub fn spread(model: &Model, state: &State) -> Result<Vec<Mat>, NumericalError> {
    let (h, w, beta) = (state.features.h(), state.features.w(), &state.beta);
    let (l, dim, columns) = (w.rows(), w.cols(), model.columns());
    let of_row = |n: usize| {
        let (h, known) = (h.row(n), information(model, state, n));
        let mut slopes = Mat::zeros(dim, columns);
        for i in 0..l {
            let (sin, cos) = (h[i], h[l + i]);
            for d in 0..dim {
                let pairs = beta.row(i).iter().zip(beta.row(l + i));
                slopes
                    .row_mut(d)
                    .iter_mut()
                    .zip(pairs)
                    .for_each(|(slope, (b, c))| *slope += (cos * b - sin * c) * w[(i, d)]);
            }
        }
        let entry = |d: usize, e: usize| -> f64 {
            let pairs = slopes.row(d).iter().zip(slopes.row(e)).zip(&known);
            pairs.map(|((a, b), known)| a * b * known).sum::<f64>() + if d == e { 1.0 } else { 0.0 }
        };
        Ok(Cholesky::new(&Mat::from_fn(dim, dim, entry), "map")?.inverse())
    };
    crate::par::map(model.rows(), 2 * model.rows() * l * dim * columns, of_row).into_iter().collect()
}
