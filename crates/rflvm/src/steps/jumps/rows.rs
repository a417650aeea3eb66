//! A row jumps. With a minus for what is left without row n (V₋, G₋ and b₋ differ from V, G and b by one rank), the table at x_n = x is
//!
//! ```text
//! p(Y | X, W) ∝ s^(−J/2) Π_j (1 + e_j²/(2 s b₋_j))^(−a_n),   s = 1 + hᵀV₋h,   e_j = ỹ_nj − hᵀG₋_j.
//! ```

use super::table::{LOST, RowChoice, Table, keep_sound};
use crate::dist::{LN_SQRT_2PI, normal};
use crate::linalg::{Mat, mul};
use crate::model::features::{Turned, fill_row};
use crate::rng::StreamRng;
use crate::simd;
use crate::steps::assignments::choose;
use rand::RngExt;

/// Candidates of a row.
const CANDIDATES: usize = 96;
/// Half of a row's candidates lie near the places of this number of other rows, at about this distance.
const OTHERS: usize = 16;
const NEAR: f64 = 0.3;

impl Table<'_> {
    /// Row n chooses its place; the first candidate is where it is.
    pub(super) fn jump_row(&mut self, n: usize, (covariates, turned): (&[f64], &Turned), rng: &mut StreamRng) {
        let others = self.others(n, rng);
        let x = places(self.x.row(n), &others, rng);
        let mut choice = std::mem::take(&mut self.choice);
        choice.resize(x.rows(), self.h.cols(), self.g.cols());
        self.features_at(&x, (covariates, turned), &mut choice.h);
        self.price_row(n, &mut choice);
        let prices = choice.ln_lik.iter().zip(x.iter_rows());
        let weights: Vec<f64> = prices.map(|(ln_lik, x)| ln_lik + ln_standard(x) - ln_places(x, &others)).collect();
        let k = choose(&weights, rng);
        if k > 0 {
            self.put_row(n, k, x.row(k), &choice);
        }
        self.choice = choice;
    }

    /// The places of some rows other than n, chosen at random.
    pub(super) fn others(&self, n: usize, rng: &mut StreamRng) -> Mat {
        let rows = self.x.rows();
        let mut others = Mat::zeros(OTHERS.min(rows - 1), self.x.cols());
        for i in 0..others.rows() {
            let other = (n + rng.random_range(1..rows)) % rows;
            others.row_mut(i).copy_from_slice(self.x.row(other));
        }
        others
    }

    /// Rows of H' at places.
    pub(super) fn features_at(&self, x: &Mat, (covariates, turned): (&[f64], &Turned), h: &mut Mat) {
        let (last, mut argument) = (self.h.cols() - 1, vec![0.0; self.w.rows()]);
        for (k, x) in x.iter_rows().enumerate() {
            let h = h.row_mut(k);
            fill_row(x, turned, (covariates, self.s), &mut argument, h);
            h[last] = self.h[(0, last)];
        }
    }

    /// The table with row n at the places of a choice, the first of which is its own.
    pub(super) fn price_row(&self, n: usize, choice: &mut RowChoice) {
        let RowChoice { ln_lik, h, hv, fitted, left, residual, rate, shared, spread } = choice;
        mul(hv.as_mut_slice(), h.view(), self.v.view(), false);
        mul(fitted.as_mut_slice(), h.view(), self.g.view(), false);
        let own = hv.row(0);
        *left = 1.0 - simd::dot(own, h.row(0));
        refill(residual, self.target.y.row(n).iter().zip(fitted.row(0)).map(|(y, f)| y - f));
        let rates = self.rate.iter().zip(&self.target.prior_rate).zip(&*residual);
        refill(rate, rates.map(|((b, least), r)| (b - 0.5 * r * r / *left).max(*least)));
        refill(shared, h.iter_rows().map(|h| simd::dot(h, own) / *left));
        let spreads = shared.iter().enumerate();
        refill(spread, spreads.map(|(k, shared)| 1.0 + simd::dot(hv.row(k), h.row(k)) + shared * shared * *left));
        let error = |k: usize, j: usize| self.target.y[(n, j)] - fitted[(k, j)] + shared[k] * residual[j];
        let factor = |k: usize, j: usize| 1.0 + 0.5 * error(k, j).powi(2) / (spread[k] * rate[j]);
        let ln_products = self.ln_products(h.rows(), factor);
        let columns = self.target.chunks.columns() as f64;
        let prices = ln_products.iter().zip(&*spread);
        refill(ln_lik, prices.map(|(ln, s)| -0.5 * columns * s.ln() - self.target.shape * ln));
        // 1/s is what would be left of h there.
        keep_sound(ln_lik, |k| if k == 0 { *left > LOST } else { spread[k] * LOST < 1.0 });
    }

    pub(super) fn put_row(&mut self, n: usize, k: usize, x: &[f64], choice: &RowChoice) {
        let RowChoice { h, hv, fitted, left, residual, rate, shared, spread, .. } = choice;
        let own = hv.row(0);
        let there: Vec<f64> = hv.row(k).iter().zip(own).map(|(there, own)| there + shared[k] * own).collect();
        let fits = self.target.y.row(n).iter().zip(fitted.row(k)).zip(residual);
        let error: Vec<f64> = fits.map(|((y, f), r)| y - f + shared[k] * r).collect();
        for m in 0..self.v.rows() {
            let (leaves, comes) = (own[m] / left, there[m] / spread[k]);
            simd::axpy2(leaves, own, -comes, &there, self.v.row_mut(m));
            simd::axpy2(-leaves, residual, comes, &error, self.g.row_mut(m));
        }
        for ((to, b), e) in self.rate.iter_mut().zip(rate).zip(&error) {
            *to = b + 0.5 * e * e / spread[k];
        }
        self.x.row_mut(n).copy_from_slice(x);
        self.h.row_mut(n).copy_from_slice(h.row(k));
    }
}

/// The same memory with other values.
fn refill(to: &mut Vec<f64>, from: impl Iterator<Item = f64>) {
    to.clear();
    to.extend(from);
}

/// The place of a row, and candidates: half from the prior, half about the places of others.
pub(super) fn places(here: &[f64], others: &Mat, rng: &mut StreamRng) -> Mat {
    let mut x = Mat::zeros(CANDIDATES + 1, here.len());
    x.row_mut(0).copy_from_slice(here);
    for k in 1..=CANDIDATES {
        let to = x.row_mut(k);
        if others.rows() == 0 || rng.random() {
            to.iter_mut().for_each(|to| *to = normal(rng));
        } else {
            let about = others.row(rng.random_range(0..others.rows()));
            to.iter_mut().zip(about).for_each(|(to, x)| *to = x + NEAR * normal(rng));
        }
    }
    x
}

/// ln of the density of these candidates.
pub(super) fn ln_places(x: &[f64], others: &Mat) -> f64 {
    if others.rows() == 0 {
        return ln_standard(x);
    }
    let near = |other: &[f64]| -> f64 {
        let square: f64 = x.iter().zip(other).map(|(x, other)| ((x - other) / NEAR).powi(2)).sum();
        (-0.5 * square - x.len() as f64 * (LN_SQRT_2PI + NEAR.ln())).exp()
    };
    let near: f64 = others.iter_rows().map(near).sum();
    (0.5 * ln_standard(x).exp() + 0.5 * near / others.rows() as f64).ln()
}

pub(super) fn ln_standard(x: &[f64]) -> f64 {
    x.iter().map(|x| -0.5 * x * x - LN_SQRT_2PI).sum()
}
