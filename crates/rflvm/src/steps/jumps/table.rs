//! What a complete Gaussian table says at X and W, held while rows and frequencies jump.

use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, par_mul};
use crate::model::collapsed::{CollapsedData, scaled_gram};
use crate::model::features::Features;

/// A place is sound if other rows, or other features, leave more than this of its features: of less, rounding has taken the digits.
pub(super) const LOST: f64 = 1e-7;

/// What the table says at X and W.
pub(super) struct Table<'a> {
    pub(super) target: &'a CollapsedData,
    /// δ.
    pub(super) delta: f64,
    /// s, the scale of the linear part.
    pub(super) s: f64,
    pub(super) x: Mat,
    pub(super) w: Mat,
    /// H'.
    pub(super) h: Mat,
    /// V.
    pub(super) v: Mat,
    /// G.
    pub(super) g: Mat,
    /// b.
    pub(super) rate: Vec<f64>,
    /// Memory.
    pub(super) choice: RowChoice,
}

impl<'a> Table<'a> {
    /// Uses the memory of H, which must be given back.
    pub(super) fn new(target: &'a CollapsedData, features: &mut Features, tau2: f64) -> Result<Self, NumericalError> {
        let (unit, delta) = (target.intercept_variance.sqrt(), 1.0 / tau2);
        let mut a = scaled_gram(features.h(), unit);
        let mut h = features.lend();
        let last = h.cols() - 1;
        (0..h.rows()).for_each(|n| h[(n, last)] = unit);
        (0..=last).for_each(|m| a[(m, m)] += delta);
        let v = Cholesky::new(&a, "jumps")?.inverse();
        let (mut c, mut g) = (Mat::zeros(last + 1, target.y.cols()), Mat::zeros(last + 1, target.y.cols()));
        par_mul(&mut c, h.view().transpose(), target.y.view(), false);
        par_mul(&mut g, v.view(), c.view(), false);
        let mut rate = target.total.clone();
        for (c, g) in c.iter_rows().zip(g.iter_rows()) {
            rate.iter_mut().zip(c.iter().zip(g)).for_each(|(b, (c, g))| *b -= 0.5 * c * g);
        }
        rate.iter_mut().zip(&target.prior_rate).for_each(|(b, least)| *b = b.max(*least));
        let (x, w, s) = (features.x().clone(), features.w().clone(), features.plain().s());
        Ok(Table { target, delta, s, x, w, h, v, g, rate, choice: RowChoice::default() })
    }

    /// Σ over the columns of all processes of the ln of each candidate's product over columns, whose factors `factor(k, j)` are.
    pub(super) fn ln_products(&self, candidates: usize, factor: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
        let chunks = &self.target.chunks;
        chunks.add(&mut chunks.own(), candidates, |chunk, to| {
            for (k, to) in to.iter_mut().enumerate() {
                // Eight at a time under one logarithm.
                for first in chunk.columns.clone().step_by(8) {
                    *to += (first..chunk.columns.end.min(first + 8)).map(|j| factor(k, j)).product::<f64>().ln();
                }
            }
        })
    }
}

/// Places of a row.
#[derive(Debug, Default)]
pub(super) struct RowChoice {
    /// ln p(Y | X, W) at each, up to a constant.
    pub(super) ln_lik: Vec<f64>,
    /// h, hᵀV and hᵀG.
    pub(super) h: Mat,
    pub(super) hv: Mat,
    pub(super) fitted: Mat,
    /// 1 − h_nᵀVh_n, of the row where it is.
    pub(super) left: f64,
    /// ỹ_n − h_nᵀG, of the row where it is.
    pub(super) residual: Vec<f64>,
    /// b₋.
    pub(super) rate: Vec<f64>,
    /// hᵀVh_n/(1 − h_nᵀVh_n).
    pub(super) shared: Vec<f64>,
    /// s.
    pub(super) spread: Vec<f64>,
}

impl RowChoice {
    pub(super) fn resize(&mut self, places: usize, width: usize, columns: usize) {
        for (to, width) in [(&mut self.h, width), (&mut self.hv, width), (&mut self.fitted, columns)] {
            if (to.rows(), to.cols()) != (places, width) {
                *to = Mat::zeros(places, width);
            }
        }
    }
}

/// Jumps neither leave nor enter places that are not sound: π is left invariant on both parts.
pub(super) fn keep_sound(ln_lik: &mut [f64], is_sound: impl Fn(usize) -> bool) {
    let leaves = is_sound(0) && ln_lik[0].is_finite();
    for (k, ln) in ln_lik.iter_mut().enumerate().skip(1) {
        if !(leaves && is_sound(k) && ln.is_finite()) {
            *ln = f64::NEG_INFINITY;
        }
    }
    if !leaves {
        ln_lik[0] = 0.0;
    }
}
