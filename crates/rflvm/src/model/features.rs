//! Random Fourier features: φ(x) = L^(-1/2) [sin(w_1·x) … sin(w_L·x), cos(w_1·x) … cos(w_L·x)]
//! (Rahimi & Recht 2008; model section 1), and H = [Φ, plain columns, 1] with the intercept last ([`Plain`]).
//!
//! `Features` owns X, W and H with private fields, so that a stale H cannot be written.

use super::plain::{self, Plain};
use crate::linalg::{self, Mat};
use crate::par::{self, Tables};
use crate::simd;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// X, W, the plain columns, and H.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Features {
    x: Mat,
    w: Mat,
    plain: Plain,
    h: Mat,
}

/// Neighbouring rows of [`Features`], for steps that move all rows at once.
pub(crate) struct RowsMut<'a> {
    pub x: &'a mut [f64],
    pub h: &'a mut [f64],
}

impl Features {
    /// The features of positions `x` (N×D) at frequencies `w` (L×D), without plain columns.
    pub fn new(x: Mat, w: Mat) -> Self {
        let plain = Plain::none(x.rows());
        Self::with(x, w, plain)
    }

    /// The same, with plain columns.
    pub fn with(x: Mat, w: Mat, plain: Plain) -> Self {
        assert_eq!(x.cols(), w.cols(), "positions and frequencies share the latent dimension");
        let h = Mat::zeros(x.rows(), 2 * w.rows() + plain.width(x.cols()) + 1);
        let mut features = Features { x, w, plain, h };
        features.refresh();
        features
    }

    /// Without H, which is held elsewhere, or computed by [`Features::restore`].
    pub(crate) fn hollow(x: Mat, w: Mat, plain: Plain) -> Self {
        Features { x, w, plain, h: Mat::default() }
    }

    /// Computes H where it was held elsewhere.
    pub(crate) fn restore(&mut self) {
        self.h.fit(self.x.rows(), 2 * self.w.rows() + self.plain.width(self.x.cols()) + 1);
        self.refresh();
    }

    /// With H, wherever it is held.
    pub(crate) fn held(&self) -> Cow<'_, Features> {
        if self.h.cols() > 0 {
            return Cow::Borrowed(self);
        }
        let mut own = self.clone();
        own.restore();
        Cow::Owned(own)
    }

    /// X.
    pub fn x(&self) -> &Mat {
        &self.x
    }

    /// W.
    pub fn w(&self) -> &Mat {
        &self.w
    }

    /// The plain columns.
    pub fn plain(&self) -> &Plain {
        &self.plain
    }

    /// Replaces s, the scale of the linear part, which must exist.
    pub fn set_s(&mut self, s: f64) {
        self.plain.set_s(s);
        self.refresh();
    }

    /// H = [Φ, plain columns, 1].
    pub fn h(&self) -> &Mat {
        &self.h
    }

    /// X (WᵀW/L)^½, with the symmetric root: positions in units in which the root mean square of w·(x − x') is |x − x'|, so
    /// that an axis along which nothing changes has length zero. Linear maps of X compensated by W change it only by a rotation.
    pub fn in_units_of_the_map(&self) -> Mat {
        let mut scaled = Mat::zeros(self.x.rows(), self.x.cols());
        linalg::mul(scaled.as_mut_slice(), self.x.view(), units_of_the_map(&self.w).view(), false);
        scaled
    }

    /// L.
    pub fn frequencies(&self) -> usize {
        self.w.rows()
    }

    /// Replaces X and W.
    pub fn set(&mut self, x: &[f64], w: &[f64]) {
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        self.refresh();
    }

    /// Lends out the memory of H, which is unavailable until it is returned.
    pub(crate) fn lend(&mut self) -> Mat {
        std::mem::take(&mut self.h)
    }

    /// Takes it back, with X and W if they have moved.
    pub(crate) fn take_back(&mut self, h: Mat, moved: Option<(&[f64], &[f64])>) {
        self.h = h;
        if let Some((x, w)) = moved {
            self.x.as_mut_slice().copy_from_slice(x);
            self.w.as_mut_slice().copy_from_slice(w);
        }
        self.refresh();
    }

    /// H, unless it is held elsewhere.
    fn refresh(&mut self) {
        if self.h.cols() == 0 {
            return;
        }
        fill(&self.x, &self.w, &self.plain, &mut self.h);
    }

    /// A row of H, wherever it is held.
    pub(crate) fn row(&self, n: usize) -> Vec<f64> {
        let mut argument = vec![0.0; self.w.rows()];
        let mut h = vec![1.0; 2 * self.w.rows() + self.plain.width(self.x.cols()) + 1];
        let plain = (self.plain.covariates(n), self.plain.s());
        fill_row(self.x.row(n), &Turned::new(&self.w), plain, &mut argument, &mut h);
        h
    }

    /// All rows in pieces of `together`, each with its rows of H; and W.
    pub(crate) fn pieces_mut(&mut self, together: usize) -> (impl Iterator<Item = RowsMut<'_>>, &Mat) {
        let (d, m) = (together * self.x.cols(), together * self.h.cols());
        let pieces = self.x.as_mut_slice().chunks_mut(d).zip(self.h.as_mut_slice().chunks_mut(m));
        (pieces.map(|(x, h)| RowsMut { x, h }), &self.w)
    }

    /// Replaces position n, given its features.
    pub(crate) fn set_row(&mut self, n: usize, x: &[f64], h: &[f64]) {
        self.x.row_mut(n).copy_from_slice(x);
        self.h.row_mut(n).copy_from_slice(h);
    }

    /// Replaces position n where H is held elsewhere.
    pub(crate) fn set_position(&mut self, n: usize, x: &[f64]) {
        debug_assert_eq!(self.h.cols(), 0);
        self.x.row_mut(n).copy_from_slice(x);
    }

    /// Replaces frequency l where H is held elsewhere.
    pub(crate) fn set_frequency(&mut self, l: usize, w: &[f64]) {
        debug_assert_eq!(self.h.cols(), 0);
        self.w.row_mut(l).copy_from_slice(w);
    }

    /// The columns (sin, cos) for a frequency `w`, of some rows.
    pub(crate) fn pair(&self, w: &[f64], first: usize, [argument, sin, cos]: [&mut [f64]; 3]) {
        for (argument, x) in argument.iter_mut().zip(self.x.iter_rows().skip(first)) {
            *argument = x.iter().zip(w).map(|(x, w)| x * w).sum();
        }
        let scale = (self.frequencies() as f64).sqrt().recip();
        simd::sin_cos(argument, sin, cos, scale);
    }

    /// The current (sin, cos) of frequency l in row n.
    pub(crate) fn current_pair(&self, l: usize, n: usize) -> (f64, f64) {
        let row = self.h.row(n);
        (row[l], row[self.frequencies() + l])
    }

    /// Replaces frequency l, given its columns.
    pub(crate) fn set_pair(&mut self, l: usize, w: &[f64], pair: &Pair) {
        self.w.row_mut(l).copy_from_slice(w);
        let frequencies = self.w.rows();
        for n in 0..self.h.rows() {
            self.h[(n, l)] = pair.sin[n];
            self.h[(n, frequencies + l)] = pair.cos[n];
        }
    }
}

/// (WᵀW/L)^½.
pub fn units_of_the_map(w: &Mat) -> Mat {
    let mut square = Mat::zeros(w.cols(), w.cols());
    linalg::mul(square.as_mut_slice(), w.view().transpose(), w.view(), false);
    square.as_mut_slice().iter_mut().for_each(|s| *s /= w.rows() as f64);
    linalg::root(&square)
}

/// The two columns of H that belong to one frequency.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pair {
    argument: Vec<f64>,
    pub sin: Vec<f64>,
    pub cos: Vec<f64>,
}

impl Pair {
    /// Memory for this many rows; the values are unspecified.
    pub fn fit(&mut self, rows: usize) {
        [&mut self.argument, &mut self.sin, &mut self.cos].into_iter().for_each(|values| values.resize(rows, 0.0));
    }

    /// Its memory, to be filled.
    pub fn tables(&mut self) -> Tables<'_, f64, 3> {
        [&mut self.argument, &mut self.sin, &mut self.cos].map(|values| (&mut values[..], 1))
    }
}

/// h for one position, of a row with covariates u; `argument` is scratch of length L.
pub(crate) fn fill_row(x: &[f64], w: &Turned, (u, s): (&[f64], f64), argument: &mut [f64], h: &mut [f64]) {
    simd::features(x, w.values.as_slice(), w.scale, 1.0, argument, h);
    let last = h.len() - 1;
    plain::fill(u, x, s, 1.0, &mut h[2 * argument.len()..last]);
}

/// Wᵀ and L^(-1/2): shared by the features of many positions.
pub(crate) struct Turned {
    values: Mat,
    scale: f64,
}

impl Turned {
    pub fn new(w: &Mat) -> Self {
        Turned { values: w.transposed(), scale: (w.rows() as f64).sqrt().recip() }
    }
}

/// H.
pub(crate) fn fill(x: &Mat, w: &Mat, plain: &Plain, h: &mut Mat) {
    fill_weighted(x, w, plain, &[], h);
}

/// diag(weights) H; no weights are unit weights.
pub(crate) fn fill_weighted(x: &Mat, w: &Mat, plain: &Plain, weights: &[f64], h: &mut Mat) {
    let m = h.cols();
    let turned = Turned::new(w);
    let rows = crate::par::chunk_rows(x.rows(), 2 * m);
    par::for_each(h.as_mut_slice().chunks_mut(rows * m).enumerate(), 1, |(c, piece)| {
        let mut argument = vec![0.0; w.rows()];
        for (i, h) in piece.chunks_exact_mut(m).enumerate() {
            let n = c * rows + i;
            let weight = weights.get(n).copied().unwrap_or(1.0);
            simd::features(x.row(n), turned.values.as_slice(), turned.scale * weight, weight, &mut argument, h);
            plain.fill(n, x.row(n), weight, &mut h[2 * w.rows()..m - 1]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_give_the_kernel() {
        // φ(x)·φ(x') = (1/L) Σ cos(w·(x−x')).
        let x = Mat::from_vec(3, 2, vec![0.1, -0.4, 1.3, 0.2, -2.0, 0.7]);
        let w = Mat::from_vec(4, 2, vec![0.5, 1.0, -1.5, 0.3, 2.0, 2.0, 0.0, -0.7]);
        let features = Features::new(x.clone(), w.clone());
        for a in 0..3 {
            for b in 0..3 {
                let dot: f64 = (0..8).map(|m| features.h()[(a, m)] * features.h()[(b, m)]).sum();
                let argument = |l: usize| (0..2).map(|d| w[(l, d)] * (x[(a, d)] - x[(b, d)])).sum::<f64>();
                let kernel = (0..4).map(|l| argument(l).cos()).sum::<f64>() / 4.0;
                assert!((dot - kernel).abs() < 1e-13);
            }
        }
    }
}
