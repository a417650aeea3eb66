//! The posterior of one new position given one draw of the parameters: p(x | y, W, β, θ) ∝ N(x; m, diag(s²)) Π_j p(y_j | f_j(x)).
//!
//! In the coordinates u of the prior, x = m + s∘u, it is N(u; 0, I) times the likelihood. Rows without times have m = 0, s = 1.

use crate::linalg::{Cholesky, Mat};
use crate::model::position::{Positions, Scratch, Slope};

/// One row to place.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    pub positions: &'a Positions<'a>,
    /// Index of the row in the model of the new rows.
    pub row: usize,
    pub prior: Prior<'a>,
}

/// The prior of one position.
#[derive(Clone, Copy)]
pub struct Prior<'a> {
    /// m.
    pub mean: &'a [f64],
    /// s.
    pub sd: &'a [f64],
}

/// A Gaussian approximation of the posterior at a point.
pub struct Local {
    /// A = I + diag(s) (Σ_j i_j ∂f_j ∂f_jᵀ) diag(s), factored.
    pub factor: Cholesky,
    /// A⁻¹g, g the gradient of ln p(u | y): the step to the predicted mode.
    pub step: Vec<f64>,
    /// gᵀA⁻¹g: twice the predicted gain.
    pub decrement: f64,
}

impl Prior<'_> {
    /// D.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// Whether u is x.
    pub fn is_standard(&self) -> bool {
        self.mean.iter().all(|m| *m == 0.0) && self.sd.iter().all(|s| *s == 1.0)
    }

    /// x of u.
    pub fn position(&self, u: &[f64]) -> Vec<f64> {
        u.iter().zip(self.mean).zip(self.sd).map(|((u, m), s)| m + s * u).collect()
    }

    /// u of x; NaN if the prior has zero variance.
    pub fn coordinates(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(self.mean).zip(self.sd).map(|((x, m), s)| (x - m) / s).collect()
    }

    /// The Gaussian approximation at u, where the likelihood has this slope; `None` if it does not exist.
    pub fn local(&self, u: &[f64], slope: &Slope) -> Option<Local> {
        let s = self.sd;
        let identity = |d: usize, e: usize| if d == e { 1.0 } else { 0.0 };
        let a = Mat::from_fn(u.len(), u.len(), |d, e| identity(d, e) + s[d] * slope.information[(d, e)] * s[e]);
        let g: Vec<f64> = slope.gradient.iter().zip(s).zip(u).map(|((g, s), u)| s * g - u).collect();
        if !a.as_slice().iter().chain(&g).all(|v| v.is_finite()) {
            return None;
        }
        let factor = Cholesky::new(&a, "new rows").ok()?;
        let mut step = g.clone();
        factor.solve(&mut step);
        let decrement = step.iter().zip(&g).map(|(s, g)| s * g).sum();
        Some(Local { factor, step, decrement })
    }
}

impl Target<'_> {
    /// The part of ln p(y | u) that depends on u; −∞ instead of NaN.
    pub fn ln_lik(&self, u: &[f64], scratch: &mut Scratch) -> f64 {
        or_nothing(self.positions.ln_lik(self.row, &self.prior.position(u), scratch))
    }

    /// The same at several points.
    pub fn ln_lik_of_several(&self, u: &[Vec<f64>], scratch: &mut Scratch) -> Vec<f64> {
        let x: Vec<Vec<f64>> = u.iter().map(|u| self.prior.position(u)).collect();
        let mut values = self.positions.ln_lik_of_several(self.row, &x, scratch);
        values.iter_mut().for_each(|value| *value = or_nothing(*value));
        values
    }

    /// The Gaussian approximation at u, the last evaluated point; `None` if it does not exist.
    pub fn local(&self, u: &[f64], scratch: &Scratch) -> Option<Local> {
        self.prior.local(u, &self.positions.slope(self.row, scratch))
    }
}

/// −∞ instead of NaN.
pub fn or_nothing(ln_lik: f64) -> f64 {
    if ln_lik.is_nan() { f64::NEG_INFINITY } else { ln_lik }
}

/// |u|².
pub fn square(u: &[f64]) -> f64 {
    u.iter().map(|v| v * v).sum()
}
