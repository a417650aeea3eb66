//! Several positions evaluated together, each of some row: β is read once for all of them. A value does not depend on what it is evaluated with.

use super::super::features::fill_row;
use super::{Positions, Slope};
use crate::simd::{self, Packed, View};

/// Numbers of f and its derivatives that stay in the second-level cache.
const CACHED: usize = 1 << 17;

/// Memory for several positions; h and f are those of the last evaluated ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Several {
    argument: Vec<f64>,
    h: Vec<f64>,
    f: Vec<f64>,
    dh: Vec<f64>,
    df: Vec<f64>,
}

impl Positions<'_> {
    /// As many positions as are best evaluated together.
    pub fn together(&self) -> usize {
        (CACHED / ((self.w.cols() + 1) * self.beta.cols()).max(1)).clamp(8, 64)
    }

    /// h and f of positions, one after another in `x`, each of a row.
    pub fn place_several(&self, rows: &[u32], x: &[f64], to: &mut Several) {
        let (width, columns, dim) = (self.beta.rows(), self.beta.cols(), self.w.cols());
        to.argument.resize(self.w.rows(), 0.0);
        to.h.resize(rows.len() * width, 0.0);
        to.f.resize(rows.len() * columns, 0.0);
        let memory = to.h.chunks_exact_mut(width).zip(to.f.chunks_exact_mut(columns));
        for ((&n, x), (h, f)) in rows.iter().zip(x.chunks_exact(dim)).zip(memory) {
            let plain = (self.model.covariates().row(n as usize), self.s);
            fill_row(x, &self.turned, plain, &mut to.argument, h);
            self.known.fill_cells(n as usize, self.some.start, f);
        }
        self.multiply(&to.h, true, &mut to.f);
    }

    /// The part of ln p(y_n | f(x)) that depends on x, where these rows were placed.
    pub fn ln_lik_of_several(&self, rows: &[u32], placed: &Several, out: &mut [f64]) {
        for ((out, &n), f) in out.iter_mut().zip(rows).zip(placed.f.chunks_exact(self.beta.cols())) {
            *out = self.model.ln_lik_row(self.theta, n as usize, f);
        }
    }

    /// The slopes where rows were placed; `slots` says which of the positions theirs are.
    pub fn slopes(&self, rows: &[u32], slots: &[usize], placed: &mut Several) -> Vec<Slope> {
        let (columns, dim) = (self.beta.cols(), self.w.cols());
        self.derive(slots, placed);
        let each = rows.iter().zip(slots).zip(placed.df.chunks_exact(dim * columns));
        each.map(|((&n, slot), df)| self.slope_at(n as usize, &placed.f[slot * columns..][..columns], df)).collect()
    }

    /// The derivatives of f along the axes at positions, one after another in `x`: position × axis × column.
    pub fn derivatives(&self, x: &[f64]) -> Vec<f64> {
        let mut placed = Several::default();
        let rows = vec![0; x.len() / self.w.cols()];
        self.place_several(&rows, x, &mut placed);
        self.derive(&(0..rows.len()).collect::<Vec<_>>(), &mut placed);
        placed.df
    }

    /// The constant part of ln p(y_n | f, θ), which does not depend on f, of rows where they were placed.
    pub fn constants(&self, rows: &[u32], placed: &Several) -> Vec<f64> {
        rows.iter().zip(placed.f.chunks_exact(self.beta.cols())).map(|(&n, f)| self.constant(n as usize, f)).collect()
    }

    fn derive(&self, slots: &[usize], placed: &mut Several) {
        let (width, columns, dim) = (self.beta.rows(), self.beta.cols(), self.w.cols());
        let frequencies = self.w.rows();
        let linear = 2 * frequencies + self.model.covariates().cols();
        placed.dh.clear();
        placed.dh.resize(slots.len() * dim * width, 0.0);
        placed.df.resize(slots.len() * dim * columns, 0.0);
        for (slot, dh) in slots.iter().zip(placed.dh.chunks_exact_mut(dim * width)) {
            let (sin, cos) = placed.h[slot * width..][..2 * frequencies].split_at(frequencies);
            for (d, dh) in dh.chunks_exact_mut(width).enumerate() {
                let w = self.turned.axis(d);
                let (of_sin, rest) = dh.split_at_mut(frequencies);
                of_sin.iter_mut().zip(w).zip(cos).for_each(|((to, w), cos)| *to = w * cos);
                rest.iter_mut().zip(w).zip(sin).for_each(|((to, w), sin)| *to = -w * sin);
                if self.s > 0.0 {
                    dh[linear + d] = self.s;
                }
            }
        }
        self.multiply(&placed.dh, false, &mut placed.df);
    }

    /// out = hβ, or out += hβ if `add`.
    fn multiply(&self, h: &[f64], add: bool, out: &mut [f64]) {
        let (width, columns) = (self.beta.rows(), self.beta.cols());
        let depth = Packed::depth(width);
        let numbers = self.packed.get_or_init(|| super::packed(self.beta.view(), depth));
        let h = View::new(h, h.len() / width, width, width);
        simd::multiply(h, Packed { numbers, cols: columns, depth }, add, out, columns);
    }
}
