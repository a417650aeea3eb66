//! A complete Gaussian table with β and σ² integrated out: ln p(Y | X, W) = const − (J/2) ln|A| − a_n Σ_j ln b_j.
//!
//! Moves of single rows and frequencies keep P = A⁻¹, G = PC, E = Ỹ − HG and b_j exact by low-rank updates, so that the
//! marginal is never recomputed within a step.

use super::{Amplitude, Model, State};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, gram, par_mul};

/// Parts of the model that the collapsed likelihood needs.
#[derive(Debug)]
pub struct CollapsedData {
    /// Ỹ = Y − o − centre.
    pub(crate) y: Mat,
    /// S0⁻¹.
    pub(crate) precision: Vec<f64>,
    /// b0_j.
    pub(crate) rate: Vec<f64>,
    /// b0_j + ½ỹᵀỹ.
    pub(crate) total: Vec<f64>,
    /// a_n.
    pub(crate) shape: f64,
}

impl CollapsedData {
    /// For a model with one complete Gaussian block (see [`Model::is_collapsed`]).
    pub fn new(model: &Model) -> Self {
        Self::within(model, Mat::default())
    }

    /// The same, reusing the memory of another table.
    pub(crate) fn within(model: &Model, mut y: Mat) -> Self {
        let units = model.units();
        y.fit(model.rows(), model.columns());
        for (n, from) in model.y().iter_rows().enumerate() {
            let cells = y.row_mut(n).iter_mut().zip(from).zip(units);
            cells.for_each(|((to, y), unit)| *to = y - model.offset()[n] - unit.centre);
        }
        let Amplitude::Fixed(tau2) = model.spec().amplitude else {
            unreachable!("a collapsed model has a known amplitude")
        };
        let Some(gaussian) = model.blocks()[0].family.as_gaussian() else {
            unreachable!("a collapsed model is Gaussian")
        };
        let rate = units.iter().map(|u| gaussian.column_rate(u)).collect();
        Self::of(y, model.weight_precision(tau2), rate, gaussian.shape + 0.5 * model.rows() as f64)
    }

    pub(crate) fn of(y: Mat, precision: Vec<f64>, rate: Vec<f64>, shape: f64) -> Self {
        let mut total = rate.clone();
        for row in y.iter_rows() {
            total.iter_mut().zip(row).for_each(|(b, y)| *b += 0.5 * y * y);
        }
        CollapsedData { y, precision, rate, total, shape }
    }

    /// The memory of Ỹ; its values are unspecified.
    pub(crate) fn into_memory(self) -> Mat {
        self.y
    }

    /// ln p(Y | X, W) up to a constant, directly from the definition.
    pub fn ln_marginal(&self, h: &Mat) -> Result<f64, NumericalError> {
        let factored = Factored::new(self, h)?;
        let columns = self.y.cols() as f64;
        let ln_rates: f64 = factored.rate.iter().map(|b| b.ln()).sum();
        Ok(-0.5 * columns * factored.ln_det - self.shape * ln_rates)
    }

    /// β and the precisions 1/σ_j² of a state at their optimum given X and W: β_j = A⁻¹c_j about its prior mean, and the mode
    /// (a_n − 1)/b_j of the precision.
    pub fn fill_mode(&self, model: &Model, state: &mut State) -> Result<(), NumericalError> {
        let Factored { mut g, rate, .. } = Factored::new(self, state.features.h())?;
        let last = g.rows() - 1;
        g.row_mut(last).iter_mut().zip(model.units()).for_each(|(g, unit)| *g += unit.centre);
        state.beta = g;
        let mode = |b: &f64| (self.shape - 1.0).max(f64::MIN_POSITIVE) / b;
        state.theta[0].values = Mat::from_vec(1, rate.len(), rate.iter().map(mode).collect());
        Ok(())
    }
}

/// P = A⁻¹, G = PC, E = Ỹ − HG, b_j and ln|A| for the current H.
#[derive(Debug)]
pub struct Factored {
    pub(crate) p: Mat,
    pub(crate) g: Mat,
    pub(crate) e: Mat,
    pub(crate) rate: Vec<f64>,
    pub(crate) ln_det: f64,
}

impl Factored {
    /// From scratch, O(NM² + NMJ).
    pub fn new(target: &CollapsedData, h: &Mat) -> Result<Self, NumericalError> {
        Self::within(target, h, Mat::default())
    }

    /// The same, with E in the memory of another table.
    pub(crate) fn within(target: &CollapsedData, h: &Mat, mut e: Mat) -> Result<Self, NumericalError> {
        let a = gram(h, None, &target.precision);
        let cholesky = Cholesky::new(a, "positions")?;
        let mut c = Mat::zeros(h.cols(), target.y.cols());
        par_mul(&mut c, h.view().transpose(), target.y.view(), false);
        let p = cholesky.inverse();
        let mut g = Mat::zeros(h.cols(), target.y.cols());
        par_mul(&mut g, p.view(), c.view(), false);
        e.fit(h.rows(), target.y.cols());
        par_mul(&mut e, h.view(), g.view(), false);
        e.as_mut_slice().iter_mut().zip(target.y.as_slice()).for_each(|(e, y)| *e = y - *e);
        // ỹᵀỹ − cᵀg = ỹᵀe: a sum of products of residuals, not a difference of large sums.
        let mut rate = target.rate.clone();
        for (y, e) in target.y.iter_rows().zip(e.iter_rows()) {
            rate.iter_mut().zip(y.iter().zip(e)).for_each(|(b, (y, e))| *b += 0.5 * y * e);
        }
        Ok(Factored { p, g, e, rate, ln_det: cholesky.ln_det() })
    }
}
