//! How informative the data are about each axis: the eigenvalues of
//! Ḡ = (1/N) Σ_n Σ_j I_nj (∂f_nj/∂x_n)(∂f_nj/∂x_n)ᵀ, where I_nj is the information of a cell about its f.
//!
//! The prior of a position has information 1 along every axis. An eigenvalue above 1 means that the data say more about a typical
//! row's position along its direction than the prior does; such an axis is said to be in use. Rotations of X leave them unchanged.

use super::position::Positions;
use super::{Model, State};
use crate::linalg::{Mat, eigenvalues};
use crate::par;
use std::ops::Range;

/// Information above which an axis is in use: that of the prior.
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

/// Information of some rows, D×D.
fn of_rows(model: &Model, state: &State, rows: Range<usize>) -> Mat {
    let (x, w) = (state.features.x(), state.features.w());
    let positions =
        Positions::new(model, &state.theta, &state.beta, (w, state.features.plain().s())).beside(model.known(state));
    let mut scratch = positions.scratch();
    let mut total = Mat::zeros(w.cols(), w.cols());
    for n in rows {
        positions.ln_lik(n, x.row(n), &mut scratch);
        let told = positions.slope(n, &scratch).information;
        total.as_mut_slice().iter_mut().zip(told.as_slice()).for_each(|(t, p)| *t += p);
    }
    total
}
