//! Conditional uncertainty of a row's position: the inverse of I + Σ_j Λ_nj (∂f_nj/∂x)(∂f_nj/∂x)ᵀ (Laplace).
//! W, β and θ are treated as known, so their uncertainty is not included; for a path over time only the prior variance at that
//! time counts, not neighbouring rows.

use crate::chunks::Chunk;
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use crate::model::position::Positions;
use crate::model::{Model, State};

/// Covariance of x_n given W, β and θ, for each row.
pub fn spread(model: &Model, state: &State) -> Result<Vec<Mat>, NumericalError> {
    let (x, w, dim) = (state.features.x(), state.features.w(), model.latent_dim());
    let sum = model.chunks().add(&mut model.chunks().own(), x.rows() * dim * dim, |Chunk { columns, .. }, to| {
        let beta = state.beta.some_cols(columns.clone());
        let positions = Positions::new(model, &state.theta, &state.beta, (w, state.features.plain().s()));
        let positions = positions.beside(model.known(state)).of_columns(columns.clone(), &beta);
        let work = 2 * w.rows() * dim * columns.len();
        crate::par::rows([(to, dim * dim)], work, |first, [to]| {
            let mut scratch = positions.scratch();
            for (n, to) in (first..).zip(to.chunks_exact_mut(dim * dim)) {
                positions.place(n, x.row(n), &mut scratch);
                to.copy_from_slice(positions.slope(n, &scratch).information.as_slice());
            }
            0.0
        });
    });
    let of_row = |information: &[f64]| {
        let mut precision = Mat::from_vec(dim, dim, information.to_vec());
        (0..dim).for_each(|d| precision[(d, d)] += 1.0);
        Ok(Cholesky::new(&precision, "map")?.inverse())
    };
    sum.chunks_exact(dim * dim).map(of_row).collect()
}
