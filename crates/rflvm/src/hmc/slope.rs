//! Gradients with respect to X, W and β, a block of rows at a time: F, G = ∂ ln p(Y|F)/∂F and ∂H are computed for as many rows as all threads
//! can share, so that for a large table nothing as large as it is stored besides it.

use crate::linalg::{Mat, View, mul, par_mul_into};
use crate::model::family::Theta;
use crate::model::plain::Plain;
use crate::model::{Known, Model};
use crate::par;
use std::ops::Range;

/// Where a gradient is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub x: &'a Mat,
    pub w: &'a Mat,
    pub plain: &'a Plain,
    /// H, or √a H.
    pub h: &'a Mat,
    /// √a_n, or nothing.
    pub roots: &'a [f64],
    /// What F is besides Hβ.
    pub known: Known<'a>,
}

/// Scratch memory for a block of rows.
#[derive(Debug, Default)]
pub(crate) struct SlopeScratch {
    /// F, and then G.
    g: Vec<f64>,
    dh: Vec<f64>,
    t: Vec<f64>,
}

/// `0..rows` in blocks of nearly equal size. Depends only on the shape, so that sums are always taken in the same pieces.
fn blocks(rows: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    /// 32 MB of a table: tens of tasks for each thread.
    const CELLS: usize = 1 << 22;
    let block = rows.div_ceil((rows * columns).div_ceil(CELLS).max(1)).max(1);
    (0..rows).step_by(block).map(move |start| start..(start + block).min(rows))
}

impl SlopeScratch {
    /// ln p(Y | F) of some columns, F = o + Hβ + G; its gradient with respect to their β (for √aH, that of β given by G/√a) in `dbeta`, and those
    /// with respect to X and W added to `to`.
    pub fn likelihood(
        &mut self,
        model: &Model,
        theta: &[Theta],
        at: At<'_>,
        (some, beta): (&Range<usize>, View<'_>),
        dbeta: &mut [f64],
        (gx, gw): (&mut [f64], &mut [f64]),
    ) -> f64 {
        let (m, columns) = (at.h.cols(), some.len());
        let mut ln_density = 0.0;
        for rows in blocks(at.h.rows(), columns) {
            let (count, start) = (rows.len(), rows.start);
            let h = at.h.view().subrows(start, count);
            let g = resized(&mut self.g, count * columns);
            par_mul_into(g, h, beta, false);
            ln_density += par::rows([(&mut *g, columns)], 2 * columns, |first, [g]| {
                let mut f = vec![0.0; columns];
                let of_row = |(i, g): (usize, &mut [f64])| {
                    let n = start + first + i;
                    let shrink = at.roots.get(n).map_or(1.0, |root| root.recip());
                    f.iter_mut().zip(&*g).for_each(|(f, product)| *f = product * shrink);
                    at.known.add_cells(n, some.start, &mut f);
                    let ln_density = model.gradient_cells(theta, n, some, &f, g);
                    g.iter_mut().for_each(|g| *g *= shrink);
                    ln_density
                };
                g.chunks_exact_mut(columns).enumerate().map(of_row).sum()
            });
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
/// A linear part adds s times its ∂H to ∂x_n; covariates do not move.
fn to_positions(at: At<'_>, rows: Range<usize>, dh: &[f64], t: &mut Vec<f64>, gx: &mut [f64], gw: &mut [f64]) {
    let (count, l, d) = (rows.len(), at.w.rows(), at.x.cols());
    let t = resized(t, count * l);
    let gx = &mut gx[rows.start * d..rows.end * d];
    par::rows([(&mut *t, l), (gx, d)], 4 * l, |first, [t, gx]| {
        let dh = || dh[first * at.h.cols()..].chunks_exact(at.h.cols());
        for ((t, n), dh) in t.chunks_exact_mut(l).zip(rows.start + first..).zip(dh()) {
            let h = at.h.row(n);
            for (i, t) in t.iter_mut().enumerate() {
                *t = h[l + i] * dh[i] - h[i] * dh[l + i];
            }
        }
        mul(gx, View::new(t, t.len() / l, l, l), at.w.view(), true);
        if at.plain.is_linear() {
            let linear = 2 * l + at.plain.count()..2 * l + at.plain.count() + d;
            for ((gx, n), dh) in gx.chunks_exact_mut(d).zip(rows.start + first..).zip(dh()) {
                let factor = at.plain.s() * at.roots.get(n).copied().unwrap_or(1.0);
                gx.iter_mut().zip(&dh[linear.clone()]).for_each(|(g, dh)| *g += factor * dh);
            }
        }
        0.0
    });
    mul(gw, View::new(t, count, l, l).transpose(), at.x.view().subrows(rows.start, count), true);
}

/// Memory for some cells; the values are unspecified.
fn resized(values: &mut Vec<f64>, len: usize) -> &mut [f64] {
    if values.len() < len {
        values.resize(len, 0.0);
    }
    &mut values[..len]
}
