//! How much the data tell of each axis: the eigenvalues of
//! Ḡ = (1/N) Σ_n Σ_j I_nj (∂f_nj/∂x_n)(∂f_nj/∂x_n)ᵀ, where I_nj is the information of a cell about its f.
//!
//! The prior of a position has information 1 along every axis. So an eigenvalue above 1 says that the data tell more of a typical
//! row's place along its direction than the prior does, and such an axis is said to be in use. No rotation of X changes them.

use super::{Model, State};
use crate::linalg::{Mat, eigenvalues, mul};
use crate::par;

/// Information beyond which an axis is in use: that of the prior.
pub const IN_USE: f64 = 1.0;

/// The eigenvalues of Ḡ at a state, largest first.
pub fn information(model: &Model, state: &State) -> Vec<f64> {
    let dim = model.latent_dim();
    let chunk = par::chunk_rows(model.rows(), dim * model.columns());
    let chunks = model.rows().div_ceil(chunk);
    let of_chunk = |c: usize| of_rows(model, state, c * chunk..((c + 1) * chunk).min(model.rows()));
    let parts = par::map(chunks, model.rows() * dim * model.columns(), of_chunk);
    let mut total = Mat::zeros(dim, dim);
    for part in parts {
        total.as_mut_slice().iter_mut().zip(part.as_slice()).for_each(|(t, p)| *t += p / model.rows() as f64);
    }
    eigenvalues(&total)
}

/// Σ over some rows of what their cells tell, D×D.
fn of_rows(model: &Model, state: &State, rows: std::ops::Range<usize>) -> Mat {
    let (w, h, columns) = (state.features.w(), state.features.h(), model.columns());
    let (l, dim) = (w.rows(), w.cols());
    let mut features = Mat::zeros(dim, 2 * l + 1);
    let mut slopes = Mat::zeros(dim, columns);
    let mut told = vec![0.0; columns];
    let mut total = Mat::zeros(dim, dim);
    for n in rows {
        // ∂ sin(w·x)/∂x_d = w_d cos(w·x), ∂ cos(w·x)/∂x_d = −w_d sin(w·x).
        for d in 0..dim {
            let (from, to) = (h.row(n), features.row_mut(d));
            for i in 0..l {
                (to[i], to[l + i]) = (w[(i, d)] * from[l + i], -w[(i, d)] * from[i]);
            }
        }
        mul(slopes.as_mut_slice(), features.view(), state.beta.view(), false);
        for (block, theta) in model.blocks().iter().zip(&state.theta) {
            let range = block.columns.clone();
            let f = &state.f.row(n)[range.clone()];
            block.family.information(model.row(block, n, theta), f, &mut told[range]);
        }
        for d in 0..dim {
            for e in 0..=d {
                let cells = told.iter().zip(slopes.row(d)).zip(slopes.row(e));
                let sum: f64 = cells.map(|((i, a), b)| i * a * b).sum();
                total[(d, e)] += sum;
                if e < d {
                    total[(e, d)] += sum;
                }
            }
        }
    }
    total
}
