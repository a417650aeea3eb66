//! Complexity penalty of the weights: ½ Σ_j ln|I + B_0j HᵀΛ_jH|, with Λ_j the information of the cells of column j about their f.
//!
//! Λ_j is replaced by its mean over the columns, so that one factor serves all of them: with Λ̄_n = mean_j τ_j²Λ_nj/λ_j,
//! ½J ln|P⁻¹(HᵀΛ̄H + P)|, P = diag(1, …, 1, 1/s_c²). ln|·| is concave, so this is never below the mean over columns.
//! Λ̄ is fixed while X and W move, and updated from round to round.

use super::slope::{At, SlopeScratch};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, par_gram, par_mul_into};
use crate::model::{Model, State};
use std::ops::Range;

/// The penalty at a given Λ̄.
#[derive(Debug, Clone)]
pub struct LaplaceTerm {
    /// Λ̄.
    information: Vec<f64>,
    /// P.
    precision: Vec<f64>,
    /// J, the number of columns with weights.
    columns: f64,
}

/// What multiplies the information of each column in Λ̄: τ_j²/(λ_jJ); zero where there are no weights.
pub fn shares(model: &Model, state: &State) -> Vec<f64> {
    let columns = model.all_free() as f64;
    let share = |j: usize| state.tau2[j] / model.weight_scale(&state.theta, j) / columns;
    (0..model.columns()).map(|j| if model.is_free(j) { share(j) } else { 0.0 }).collect()
}

impl LaplaceTerm {
    /// With Λ̄ at a state.
    pub fn new(model: &Model, state: &State) -> Self {
        let shares = shares(model, state);
        let information = model.chunks().add(&mut model.chunks().own(), model.rows(), |chunk, to| {
            let some = chunk.columns.clone();
            let free: Vec<(usize, f64)> =
                some.clone().filter(|&j| model.is_free(j)).map(|j| (j - some.start, shares[j])).collect();
            crate::par::rows([(to, 1)], 16 * some.len(), |first, [to]| {
                let mut known = vec![0.0; some.len()];
                for (n, to) in (first..).zip(to) {
                    model.information_cells(&state.theta, n, &some, &state.f.row(n)[some.clone()], &mut known);
                    *to = free.iter().map(|&(j, share)| share * known[j]).sum();
                }
                0.0
            });
        });
        LaplaceTerm::with(model, information)
    }

    /// With a given Λ̄.
    pub fn with(model: &Model, information: Vec<f64>) -> Self {
        let mut precision = vec![1.0; model.width()];
        precision[model.width() - 1] = 1.0 / model.spec().priors.intercept;
        LaplaceTerm { information, precision, columns: model.all_free() as f64 }
    }

    fn factor(&self, h: &Mat) -> Result<Cholesky, NumericalError> {
        Cholesky::new(par_gram(h, Some(&self.information), &self.precision), "map")
    }

    fn half_ln(&self, factor: &Cholesky) -> f64 {
        let prior: f64 = self.precision.iter().map(|p| p.ln()).sum();
        0.5 * self.columns * (factor.ln_det() - prior)
    }

    /// The penalty for H.
    pub fn ln_freedom(&self, h: &Mat) -> Result<f64, NumericalError> {
        Ok(self.half_ln(&self.factor(h)?))
    }

    /// Adds the gradient of minus the penalty to those of X and W; minus the penalty, or not a number where A has no Cholesky factor. `columns` are those of the table.
    pub(crate) fn add(
        &self,
        at: At<'_>,
        columns: usize,
        scratch: &mut SlopeScratch,
        to: (&mut [f64], &mut [f64]),
    ) -> f64 {
        let Ok((charge, pull)) = self.charge(at.h) else { return f64::NAN };
        scratch.carry(at, columns, to, |rows, dh| self.pull(at.h, &pull, rows, dh));
        -charge
    }

    /// The penalty for H, and J A⁻¹ for `LaplaceTerm::pull`.
    pub fn charge(&self, h: &Mat) -> Result<(f64, Mat), NumericalError> {
        let factor = self.factor(h)?;
        let mut pull = factor.inverse();
        pull.as_mut_slice().iter_mut().for_each(|p| *p *= self.columns);
        Ok((self.half_ln(&factor), pull))
    }

    /// Minus the gradient of the penalty, J Λ̄HA⁻¹, for some rows.
    fn pull(&self, h: &Mat, pull: &Mat, rows: Range<usize>, dh: &mut [f64]) {
        par_mul_into(dh, h.view().subrows(rows.start, rows.len()), pull.view(), false);
        for (dh, information) in dh.chunks_exact_mut(h.cols()).zip(&self.information[rows]) {
            dh.iter_mut().for_each(|d| *d *= -information);
        }
    }

    /// Effective number of the features (and plain columns) used by a column's weights, on average: their number − tr(A⁻¹P) over them.
    pub fn used_features(&self, h: &Mat) -> Result<f64, NumericalError> {
        self.used(h, 0..self.precision.len() - 1)
    }

    /// The effective number of some columns of H.
    pub fn used(&self, h: &Mat, some: Range<usize>) -> Result<f64, NumericalError> {
        let inverse = self.factor(h)?.inverse();
        Ok(some.map(|m| 1.0 - inverse[(m, m)]).sum())
    }
}
