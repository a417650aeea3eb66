//! What the freedom of the weights costs: ½ Σ_j ln|I + B_0j HᵀΛ_jH|, with Λ_j what the cells of column j know of their f.
//!
//! Λ_j is replaced by its mean over the columns, so that one factor serves them all: with Λ̄_n = mean_j τ_j²Λ_nj/λ_j,
//! ½J ln|P⁻¹(HᵀΛ̄H + P)|, P = diag(1, …, 1, τ̄²/s_c²). ln|·| is concave, so this is never less than the mean over columns.
//! Λ̄ is held while X and W move: it follows from round to round.

use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, gram, par_mul};
use crate::model::{Model, State};

/// The charge at a given Λ̄.
#[derive(Debug, Clone)]
pub struct Occam {
    /// Λ̄.
    information: Vec<f64>,
    /// P.
    precision: Vec<f64>,
    /// J, of columns that have weights.
    columns: f64,
}

impl Occam {
    /// With Λ̄ at a state.
    pub fn new(model: &Model, state: &State) -> Self {
        let free: Vec<usize> = (0..model.columns()).filter(|&j| model.is_free(j)).collect();
        let columns = free.len() as f64;
        let scale: Vec<f64> =
            free.iter().map(|&j| state.tau2[j] / model.weight_scale(&state.theta, j) / columns).collect();
        let information = crate::par::map(model.rows(), 16 * model.rows() * model.columns(), |n| {
            let known = information(model, state, n);
            free.iter().zip(&scale).map(|(&j, scale)| scale * known[j]).sum()
        });
        let mut precision = vec![1.0; model.spec().features + 1];
        let tau2 = free.iter().map(|&j| state.tau2[j]).sum::<f64>() / columns;
        precision[model.spec().features] = tau2 / model.spec().intercept_variance;
        Occam { information, precision, columns }
    }

    fn factor(&self, h: &Mat) -> Result<Cholesky, NumericalError> {
        Cholesky::new(gram(h, Some(&self.information), &self.precision), "map")
    }

    fn half_ln(&self, factor: &Cholesky) -> f64 {
        let prior: f64 = self.precision.iter().map(|p| p.ln()).sum();
        0.5 * self.columns * (factor.ln_det() - prior)
    }

    /// The charge for H.
    pub fn ln_freedom(&self, h: &Mat) -> Result<f64, NumericalError> {
        Ok(self.half_ln(&self.factor(h)?))
    }

    /// The charge for H, its gradient J Λ̄HA⁻¹ taken off `dh`. Not a number where A has no factor: a climb turns back there.
    pub fn charge(&self, h: &Mat, dh: &mut Mat) -> f64 {
        let Ok(factor) = self.factor(h) else { return f64::NAN };
        let mut pulled = Mat::zeros(h.rows(), h.cols());
        par_mul(&mut pulled, h.view(), factor.inverse().view(), false);
        for (n, pull) in pulled.iter_rows().enumerate() {
            let scale = self.columns * self.information[n];
            dh.row_mut(n).iter_mut().zip(pull).for_each(|(d, p)| *d -= scale * p);
        }
        self.half_ln(&factor)
    }

    /// How many of the M features a column's weights make use of, on average: M − tr(A⁻¹P) over them.
    pub fn used_features(&self, h: &Mat) -> Result<f64, NumericalError> {
        let inverse = self.factor(h)?.inverse();
        let last = self.precision.len() - 1;
        Ok((0..last).map(|m| 1.0 - inverse[(m, m)]).sum())
    }
}

/// What each cell of row n knows of its f.
pub(super) fn information(model: &Model, state: &State, n: usize) -> Vec<f64> {
    let mut known = vec![0.0; model.columns()];
    for (block, theta) in model.blocks().iter().zip(&state.theta) {
        let columns = block.columns.clone();
        let row = model.row(block, n, theta);
        block.family.information(row, &state.f.row(n)[columns.clone()], &mut known[columns]);
    }
    known
}
