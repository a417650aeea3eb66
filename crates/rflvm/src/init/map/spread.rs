//! Conditional uncertainty of a row's position: the inverse of I + Σ_j Λ_nj (∂f_nj/∂x)(∂f_nj/∂x)ᵀ (Laplace).
//! W, β and θ are treated as known, so their uncertainty is not included; for a path over time only the prior variance at that
//! time counts, not neighbouring rows.

use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use crate::model::position::Positions;
use crate::model::{Model, State};

/// Covariance of x_n given W, β and θ, for each row.
pub fn spread(model: &Model, state: &State) -> Result<Vec<Mat>, NumericalError> {
    let (x, w) = (state.features.x(), state.features.w());
    let positions =
        Positions::new(model, &state.theta, &state.beta, (w, state.features.plain().s())).beside(model.known(state));
    let of_row = |n: usize| {
        let mut scratch = positions.scratch();
        positions.ln_lik(n, x.row(n), &mut scratch);
        let mut precision = positions.slope(n, &scratch).information;
        (0..x.cols()).for_each(|d| precision[(d, d)] += 1.0);
        Ok(Cholesky::new(&precision, "map")?.inverse())
    };
    let work = 2 * model.rows() * w.rows() * x.cols() * model.columns();
    crate::par::map(model.rows(), work, of_row).into_iter().collect()
}
