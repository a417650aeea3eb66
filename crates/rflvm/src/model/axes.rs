//! How informative the data are about each axis: the eigenvalues of
//! Ḡ = (1/N) Σ_n Σ_j I_nj (∂f_nj/∂x_n)(∂f_nj/∂x_n)ᵀ, where I_nj is the information of a cell about its f.
//!
//! The prior of a position has information 1 along every axis. An eigenvalue above 1 means that the data say more about a typical
//! row's position along its direction than the prior does; such an axis is said to be in use. Rotations of X leave them unchanged.

use super::position::Positions;
use super::{Model, State};
use crate::chunks::Chunk;
use crate::linalg::{Mat, eigenvalues};
use crate::par;
use std::ops::Range;

/// Information above which an axis is in use: that of the prior.
pub const IN_USE: f64 = 1.0;

/// The eigenvalues of Ḡ at a state, largest first.
pub fn information(model: &Model, state: &State) -> Vec<f64> {
    let (dim, n) = (model.latent_dim(), model.rows());
    let sum = model.chunks().add(&mut model.chunks().own(), dim * dim, |Chunk { columns, .. }, to| {
        let beta = state.beta.some_cols(columns.clone());
        let (w, s) = (state.features.w(), state.features.plain().s());
        let positions = Positions::new(model, &state.theta, &state.beta, (w, s));
        let positions = positions.beside(model.known(state)).of_columns(columns.clone(), &beta);
        let rows = par::chunk_rows(n, dim * columns.len());
        let of_rows = |c: usize| of_rows(&positions, state.features.x(), c * rows..((c + 1) * rows).min(n));
        for part in par::map(n.div_ceil(rows), n * dim * columns.len(), of_rows) {
            to.iter_mut().zip(part.as_slice()).for_each(|(t, p)| *t += p / n as f64);
        }
    });
    eigenvalues(&Mat::from_vec(dim, dim, sum))
}

/// Information of some rows, D×D.
fn of_rows(positions: &Positions<'_>, x: &Mat, rows: Range<usize>) -> Mat {
    let mut scratch = positions.scratch();
    let mut total = Mat::zeros(x.cols(), x.cols());
    for n in rows {
        positions.place(n, x.row(n), &mut scratch);
        let told = positions.slope(n, &scratch).information;
        total.as_mut_slice().iter_mut().zip(told.as_slice()).for_each(|(t, p)| *t += p);
    }
    total
}
