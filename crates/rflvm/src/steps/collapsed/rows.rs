//! Rows of the collapsed Gaussian: one is removed from A by a rank-1 downdate, and its new position evaluated as a product of
//! Student-t densities in O(M² + MJ).

use crate::dist::normals;
use crate::error::NumericalError;

use crate::linalg::Mat;
use crate::model::State;
use crate::model::collapsed::{CollapsedData, Factored};
use crate::model::features::{Features, Turned, fill_row};
use crate::rng::Stream;
use crate::simd;
use crate::slice;
use crate::steps::SweepInfo;

impl Factored {
    /// Removes row n with features h and cells y from P, G and b. Row moves do not update E.
    pub(super) fn remove_row(&mut self, h: &[f64], y: &[f64]) {
        let mut v = vec![0.0; h.len()];
        simd::vecmat(h, self.p.as_slice(), &mut v);
        let rest = 1.0 - simd::dot(h, &v);
        self.exchange(h, y, &v, -rest);
    }

    /// Adds it again.
    pub(super) fn insert_row(&mut self, h: &[f64], y: &[f64]) {
        let mut v = vec![0.0; h.len()];
        simd::vecmat(h, self.p.as_slice(), &mut v);
        let grown = 1.0 + simd::dot(h, &v);
        self.exchange(h, y, &v, grown);
    }

    /// A ± hhᵀ by Sherman–Morrison: with v = Ph and k = ±(1 ± h·v), P −= vvᵀ/k, g_j += v e_j/k, b_j += ½ e_j²/k for the
    /// residual e_j = y_j − g_j·h before the change.
    fn exchange(&mut self, h: &[f64], y: &[f64], v: &[f64], k: f64) {
        let mut residual = vec![0.0; y.len()];
        simd::vecmat(h, self.g.as_slice(), &mut residual);
        residual.iter_mut().zip(y).for_each(|(r, y)| *r = y - *r);
        for (i, &v_i) in v.iter().enumerate() {
            simd::axpy(-v_i / k, v, self.p.row_mut(i));
            simd::axpy(v_i / k, &residual, self.g.row_mut(i));
        }
        self.rate.iter_mut().zip(&residual).for_each(|(b, e)| *b += 0.5 * e * e / k);
    }

    /// ln p(y_n | rest) for candidate features, up to a constant: Student-t with 2a degrees of freedom,
    /// a = a_n − ½, location g_j·h and squared scale b_j(1+s)/a, s = hᵀPh. The row must have been removed.
    fn price_row(&self, shape: f64, h: &[f64], y: &[f64], scratch: &mut (Vec<f64>, Vec<f64>)) -> f64 {
        let (v, mean) = scratch;
        v.fill(0.0);
        simd::vecmat(h, self.p.as_slice(), v);
        let grown = 1.0 + simd::dot(h, v);
        mean.fill(0.0);
        simd::vecmat(h, self.g.as_slice(), mean);
        // Σ ln(1 + t_j) as the log of products of eight: one logarithm for eight columns.
        let mut ln_sum = 0.0;
        for ((mean, y), rate) in mean.chunks(8).zip(y.chunks(8)).zip(self.rate.chunks(8)) {
            let terms = mean.iter().zip(y).zip(rate);
            ln_sum += terms.map(|((m, y), b)| 1.0 + (y - m).powi(2) / (2.0 * b * grown)).product::<f64>().ln();
        }
        // (a_n − ½) + ½ = a_n: the exponent of a t-density with 2a degrees of freedom is a + ½.
        -0.5 * y.len() as f64 * grown.ln() - shape * ln_sum
    }
}

/// All rows, or a fraction of them, in turn: they depend on each other through β, so they cannot move in parallel.
pub(crate) fn update(
    target: &CollapsedData,
    state: &mut State,
    share: f64,
    table: &mut Mat,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let mut factored = Factored::within(target, state.features.h(), std::mem::take(table))?;
    let (n_rows, m) = (target.y.rows(), state.features.h().cols());
    let mut argument = vec![0.0; state.features.frequencies()];
    let mut h = vec![0.0; m];
    let w = Turned::new(state.features.w());
    let mut scratch = (vec![0.0; m], vec![0.0; target.y.cols()]);
    let (mut made, mut tries) = (0, 0);
    for n in (0..n_rows).filter(|&n| stream.at(n as u64).is_chosen(share)) {
        made += 1;
        let rng = &mut stream.at(n as u64).rng();
        let y = target.y.row(n);
        factored.remove_row(state.features.h().row(n), y);
        let current = factored.price_row(target.shape, state.features.h().row(n), y, &mut scratch);
        if !current.is_finite() {
            let place = format!("row {}", n + 1);
            return Err(NumericalError::NotFinite { step: "positions", value: current, place });
        }
        let x = state.features.x().row(n);
        let auxiliary = normals(x.len(), rng);
        let candidate =
            |cos: f64, sin: f64| -> Vec<f64> { x.iter().zip(&auxiliary).map(|(x, nu)| cos * x + sin * nu).collect() };
        let landing = slice::elliptical(rng, current, |cos, sin| {
            fill_row(&candidate(cos, sin), &w, &mut argument, &mut h);
            factored.price_row(target.shape, &h, y, &mut scratch)
        });
        tries += landing.tries;
        if landing.sin != 0.0 {
            let x = candidate(landing.cos, landing.sin);
            state.features.set_row(n, &x, &h);
        }
        factored.insert_row(state.features.h().row(n), y);
    }
    *table = factored.e;
    info.position_tries = f64::from(tries) / f64::from(made.max(1));
    Ok(())
}

/// ln p(Y | x_n') − ln p(Y | x_n), as evaluated by a row move. For identity tests.
pub fn row_ln_ratio(target: &CollapsedData, features: &Features, n: usize, x: &[f64]) -> Result<f64, NumericalError> {
    let mut factored = Factored::new(target, features.h())?;
    let mut h = vec![0.0; features.h().cols()];
    fill_row(x, &Turned::new(features.w()), &mut vec![0.0; features.frequencies()], &mut h);
    let mut scratch = (vec![0.0; h.len()], vec![0.0; target.y.cols()]);
    let y = target.y.row(n);
    factored.remove_row(features.h().row(n), y);
    let old = factored.price_row(target.shape, features.h().row(n), y, &mut scratch);
    Ok(factored.price_row(target.shape, &h, y, &mut scratch) - old)
}
