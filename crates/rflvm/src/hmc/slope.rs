//! Gradients with respect to X, W and β, a block of rows at a time: F, G = ∂ ln p(Y|F)/∂F and ∂H of a few hundred rows are computed
//! and used while they are in cache, so that nothing as large as the table is stored besides it.

use crate::linalg::{Mat, View, mul, par_mul_into};
use crate::model::Model;
use crate::model::family::Theta;
use rayon::prelude::*;
use std::ops::Range;

/// Where a gradient is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub x: &'a Mat,
    pub w: &'a Mat,
    /// H, or √a H.
    pub h: &'a Mat,
    /// √a_n, or nothing.
    pub roots: &'a [f64],
}

/// Scratch memory for a block of rows.
#[derive(Debug, Default)]
pub(crate) struct SlopeScratch {
    f: Vec<f64>,
    g: Vec<f64>,
    dh: Vec<f64>,
    t: Vec<f64>,
}

/// Rows whose likelihood is one task.
const TASK_ROWS: usize = 64;

/// `0..rows` in blocks. Depends only on the shape, so that sums are always taken in the same pieces.
fn blocks(rows: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    /// With everything else that belongs to its rows, a block of the table fits the second-level cache.
    const CELLS: usize = 32_768;
    let block = (CELLS / columns.max(1) / TASK_ROWS).max(1) * TASK_ROWS;
    (0..rows).step_by(block).map(move |start| start..(start + block).min(rows))
}

impl SlopeScratch {
    /// ln p(Y | F), F = o + Hβ; its gradient with respect to β (for √aH, that of β given by G/√a) in `dbeta`, and those with
    /// respect to X and W added to `to`.
    pub fn likelihood(
        &mut self,
        model: &Model,
        theta: &[Theta],
        at: At<'_>,
        beta: View<'_>,
        dbeta: &mut [f64],
        (gx, gw): (&mut [f64], &mut [f64]),
    ) -> f64 {
        let (m, columns) = (at.h.cols(), model.columns());
        let mut ln_density = 0.0;
        for rows in blocks(at.h.rows(), columns) {
            let (count, start) = (rows.len(), rows.start);
            let h = at.h.view().subrows(start, count);
            let (f, g) = (resized(&mut self.f, count * columns), resized(&mut self.g, count * columns));
            let task = |(c, (f, g)): (usize, (&mut [f64], &mut [f64]))| {
                let first = c * TASK_ROWS;
                mul(f, h.subrows(first, f.len() / columns), beta, false);
                let mut sum = 0.0;
                for (i, (f, g)) in f.chunks_exact_mut(columns).zip(g.chunks_exact_mut(columns)).enumerate() {
                    let n = start + first + i;
                    let (shrink, offset) = (at.roots.get(n).map_or(1.0, |root| root.recip()), model.offset()[n]);
                    f.iter_mut().for_each(|f| *f = *f * shrink + offset);
                    sum += model.gradient_row(theta, n, f, g);
                    g.iter_mut().for_each(|g| *g *= shrink);
                }
                sum
            };
            let size = TASK_ROWS * columns;
            let sums: Vec<f64> = f.par_chunks_mut(size).zip(g.par_chunks_mut(size)).enumerate().map(task).collect();
            sums.into_iter().for_each(|sum| ln_density += sum);
            let g = View::new(g, count, columns, columns);
            par_mul_into(dbeta, h.transpose(), g, start > 0);
            let dh = resized(&mut self.dh, count * m);
            par_mul_into(dh, g, beta.transpose(), false);
            to_positions(at, rows, dh, &mut self.t, gx, gw);
        }
        ln_density
    }

    /// Propagates ∂H, which `fill` provides for a block of rows at a time, to X and W. `columns` are those of the table.
    pub fn carry(
        &mut self,
        at: At<'_>,
        columns: usize,
        (gx, gw): (&mut [f64], &mut [f64]),
        mut fill: impl FnMut(Range<usize>, &mut [f64]),
    ) {
        for rows in blocks(at.h.rows(), columns) {
            let dh = resized(&mut self.dh, rows.len() * at.h.cols());
            fill(rows.clone(), dh);
            to_positions(at, rows, dh, &mut self.t, gx, gw);
        }
    }
}

/// ∂ sin(w·x)/∂(w·x) = cos(w·x): with t_nl = H_cos ∂H_sin − H_sin ∂H_cos, ∂x_n = Σ_l t_nl w_l and ∂w_l = Σ_n t_nl x_n.
fn to_positions(at: At<'_>, rows: Range<usize>, dh: &[f64], t: &mut Vec<f64>, gx: &mut [f64], gw: &mut [f64]) {
    let (count, l, d) = (rows.len(), at.w.rows(), at.x.cols());
    let t = resized(t, count * l);
    for ((t, n), dh) in t.chunks_exact_mut(l).zip(rows.clone()).zip(dh.chunks_exact(at.h.cols())) {
        let h = at.h.row(n);
        for (i, t) in t.iter_mut().enumerate() {
            *t = h[l + i] * dh[i] - h[i] * dh[l + i];
        }
    }
    let t = View::new(t, count, l, l);
    mul(&mut gx[rows.start * d..rows.end * d], t, at.w.view(), true);
    mul(gw, t.transpose(), at.x.view().subrows(rows.start, count), true);
}

/// Memory for some cells; the values are unspecified.
pub(super) fn resized(values: &mut Vec<f64>, len: usize) -> &mut [f64] {
    if values.len() < len {
        values.resize(len, 0.0);
    }
    &mut values[..len]
}
