//! Lower triangles by columns: weighted Gram matrices, Cholesky factors, and solving with them.
//!
//! Written by hand because the matrices are small (the weights of one column of the table, a few
//! hundred) and many: a product library spends as long on splitting the triangle and repacking
//! its operands as on the work.
//!
//! One layout serves all. Column j begins at j · `stride`, a multiple of [`LANES`]; the order is
//! padded to such a multiple as well, with the identity for a matrix, otherwise with zeros. A row
//! of H has the layout of a column of L, so that A + HᵀH and A − LLᵀ are one loop, [`add_terms`].
//!
//! Every element is one sum in the order of its terms, so the shape of the tiles does not affect
//! the bits.

use super::dispatch;
use super::math;
use super::tile::{LANES, Lanes, Terms, Tile, add_terms};
use std::slice::{ChunksExact, ChunksExactMut};

/// Rows of H, `order` numbers each, and the factor that makes each a row of √Ω H.
#[derive(Clone, Copy)]
struct Weighing<'a> {
    h: &'a [f64],
    order: usize,
    roots: &'a [f64],
}

/// Columns u_k, at the rows from `r` along a tile and at those from `c` across it.
struct Columns<'a> {
    u: ChunksExact<'a, f64>,
    r: usize,
    c: usize,
}

impl<T: Lanes, const V: usize, const C: usize> Terms<T, V, C> for Columns<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<([T; V], [f64; C])> {
        let u = self.u.next()?;
        let mut along = [T::splat(0.0); V];
        for (v, along) in along.iter_mut().enumerate() {
            *along = T::load(&u[self.r + v * LANES..]);
        }
        Some((along, u[self.c..self.c + C].try_into().unwrap()))
    }
}

/// [`Columns`] computed on the fly: a separate pass would cost a tenth more, since memory is idle here.
struct Weighed<'a> {
    u: ChunksExactMut<'a, f64>,
    r: usize,
    c: usize,
    k: usize,
    from: Weighing<'a>,
}

impl<T: Lanes, const V: usize, const C: usize> Terms<T, V, C> for Weighed<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<([T; V], [f64; C])> {
        let u = self.u.next()?;
        let root = T::splat(self.from.roots[self.k]);
        let mut along = [T::splat(0.0); V];
        for (v, along) in along.iter_mut().enumerate() {
            let row = self.r + v * LANES;
            *along = T::load(&self.from.h[self.k * self.from.order + row..]).times(root);
            along.store(&mut u[row..]);
        }
        self.k += 1;
        Some((along, u[self.c..self.c + C].try_into().unwrap()))
    }
}

/// The tile at rows from `r`; `a` begins at its first column.
#[inline(always)]
fn load_tile<T: Lanes, const V: usize, const C: usize>(stride: usize, r: usize, a: &[f64]) -> Tile<T, V, C> {
    let mut tile = [[T::splat(0.0); V]; C];
    for j in 0..C {
        for v in 0..V {
            tile[j][v] = T::load(&a[j * stride + r + v * LANES..]);
        }
    }
    tile
}

/// Writes a tile to its rows from `r`; `a` begins at its first column.
#[inline(always)]
fn store_tile<T: Lanes, const V: usize, const C: usize>(tile: Tile<T, V, C>, stride: usize, r: usize, a: &mut [f64]) {
    for j in 0..C {
        for v in 0..V {
            tile[j][v].store(&mut a[j * stride + r + v * LANES..]);
        }
    }
}

/// a += Σ_k u_k u_kᵀ by tiles of 8 `V` rows from `r` that end by `end`; returns the row after them.
#[inline(always)]
fn add_tiles<T: Lanes, const WEIGH: bool, const V: usize, const C: usize>(
    u: &mut [f64],
    stride: usize,
    (mut r, c): (usize, usize),
    end: usize,
    a: &mut [f64],
    from: Weighing<'_>,
) -> usize {
    while V <= T::WIDTH && r + V * LANES <= end {
        let tile: Tile<T, V, C> = load_tile(stride, r, a);
        let tile = match WEIGH {
            true => add_terms::<T, false, V, C>(tile, Weighed { u: u.chunks_exact_mut(stride), r, c, k: 0, from }),
            false => add_terms::<T, false, V, C>(tile, Columns { u: u.chunks_exact(stride), r, c }),
        };
        store_tile(tile, stride, r, a);
        r += V * LANES;
    }
    r
}

/// [`add_tiles`] of every height, the tallest first.
#[inline(always)]
fn add_column<T: Lanes, const WEIGH: bool, const C: usize>(
    u: &mut [f64],
    stride: usize,
    (r, c): (usize, usize),
    end: usize,
    a: &mut [f64],
    from: Weighing<'_>,
) -> usize {
    let r = add_tiles::<T, WEIGH, 3, C>(u, stride, (r, c), end, a, from);
    let r = add_tiles::<T, WEIGH, 2, C>(u, stride, (r, c), end, a, from);
    add_tiles::<T, WEIGH, 1, C>(u, stride, (r, c), end, a, from)
}

/// a += Σ_k u_k u_kᵀ below the diagonal, `C` columns at a time; the u_k are computed along with the first of them.
#[inline(always)]
fn gram<T: Lanes, const C: usize>(from: Weighing<'_>, stride: usize, u: &mut [f64], a: &mut [f64]) {
    let size = from.order.next_multiple_of(LANES);
    let whole = from.order / LANES * LANES;
    for ((row, u), root) in from.h.chunks_exact(from.order).zip(u.chunks_exact_mut(stride)).zip(from.roots) {
        row[whole..].iter().zip(&mut u[whole..]).for_each(|(h, u)| *u = root * h);
    }
    let mut c = 0;
    while c < size {
        let a = &mut a[c * stride..];
        let r = c / LANES * LANES;
        if c + C <= size {
            let r = if c == 0 { add_column::<T, true, C>(u, stride, (r, c), whole, a, from) } else { r };
            add_column::<T, false, C>(u, stride, (r, c), size, a, from);
            c += C;
        } else {
            add_column::<T, false, 2>(u, stride, (r, c), size, a, from);
            c += 2;
        }
    }
}

/// Columns c..c+8 of A − LLᵀ with the finished part of L, `C` at a time, by tiles of 8 `V` rows as in [`add_tiles`]; `a` and
/// `to` begin at column c.
#[inline(always)]
fn subtract_tiles<T: Lanes, const V: usize, const C: usize>(
    done: &[f64],
    stride: usize,
    (mut r, c): (usize, usize),
    size: usize,
    a: &[f64],
    to: &mut [f64],
) -> usize {
    while V <= T::WIDTH && r + V * LANES <= size {
        for j in (0..LANES).step_by(C) {
            let tile: Tile<T, V, C> = load_tile(stride, r, &a[j * stride..]);
            let tile = add_terms::<T, true, V, C>(tile, Columns { u: done.chunks_exact(stride), r, c: c + j });
            store_tile(tile, stride, r, &mut to[j * stride..]);
        }
        r += V * LANES;
    }
    r
}

/// L, eight columns at a time, each from those on its left; on failure, the index of the first bad pivot.
#[inline(always)]
fn cholesky<T: Lanes, const FMA: bool, const C: usize>(
    a: &[f64],
    jitter: f64,
    stride: usize,
    l: &mut [f64],
    inverse: &mut [f64],
) -> Option<usize> {
    let size = inverse.len();
    for c in (0..size).step_by(LANES) {
        let a = &a[c * stride..];
        let (done, l) = l.split_at_mut(c * stride);
        let r = subtract_tiles::<T, 3, C>(done, stride, (c, c), size, a, l);
        let r = subtract_tiles::<T, 2, C>(done, stride, (r, c), size, a, l);
        subtract_tiles::<T, 1, C>(done, stride, (r, c), size, a, l);
        // The block on the diagonal, then the rows below it.
        let mut d = [[0.0; LANES]; LANES];
        for j in 0..LANES {
            d[j] = l[j * stride + c..][..LANES].try_into().unwrap();
            d[j][j] += jitter;
        }
        let inverse: &mut [f64; LANES] = (&mut inverse[c..c + LANES]).try_into().unwrap();
        for j in 0..LANES {
            let pivot = d[j][j];
            if !(pivot > 0.0 && pivot < f64::INFINITY) {
                return Some(c + j);
            }
            d[j][j] = pivot.sqrt();
            inverse[j] = 1.0 / d[j][j];
            d[j][j + 1..].iter_mut().for_each(|x| *x *= inverse[j]);
            for k in j + 1..LANES {
                for i in k..LANES {
                    d[k][i] = math::fma::<FMA>(-d[j][k], d[j][i], d[k][i]);
                }
            }
        }
        for j in 0..LANES {
            l[j * stride + c..][..LANES].copy_from_slice(&d[j]);
        }
        for r in (c + LANES..size).step_by(LANES) {
            let mut x = [T::splat(0.0); LANES];
            for j in 0..LANES {
                x[j] = T::load(&l[j * stride + r..]);
            }
            for j in 0..LANES {
                x[j] = x[j].times(T::splat(inverse[j]));
                for k in j + 1..LANES {
                    x[k] = T::fma::<true>(x[j], T::splat(d[j][k]), x[k]);
                }
                x[j].store(&mut l[j * stride + r..]);
            }
        }
    }
    None
}

/// Eight unknowns at a time, then their contribution to the rest.
#[inline(always)]
fn solve_lower<T: Lanes, const FMA: bool>(l: &[f64], stride: usize, inverse: &[f64], x: &mut [f64]) {
    let size = x.len();
    for c in (0..size).step_by(LANES) {
        let l = &l[c * stride..];
        let (head, rest) = x[c..].split_at_mut(LANES);
        let b: &mut [f64; LANES] = head.try_into().unwrap();
        for j in 0..LANES {
            b[j] *= inverse[c + j];
            for i in j + 1..LANES {
                b[i] = math::fma::<FMA>(-l[j * stride + c + i], b[j], b[i]);
            }
        }
        for (g, x) in rest.chunks_exact_mut(LANES).enumerate() {
            let mut sum = T::load(x);
            for j in 0..LANES {
                sum = T::fma::<true>(T::load(&l[j * stride + c + (g + 1) * LANES..]), T::splat(b[j]), sum);
            }
            sum.store(x);
        }
    }
}

/// Eight unknowns at a time, after the contribution of the later ones; four sums at once fit AVX2's registers.
#[inline(always)]
fn solve_upper<T: Lanes, const FMA: bool>(l: &[f64], stride: usize, inverse: &[f64], x: &mut [f64]) {
    const HALF: usize = LANES / 2;
    let size = x.len();
    for c in (0..size).step_by(LANES).rev() {
        let l = &l[c * stride..];
        let (head, rest) = x[c..].split_at_mut(LANES);
        let b: &mut [f64; LANES] = head.try_into().unwrap();
        for half in [0, HALF] {
            let mut sums = [T::splat(0.0); HALF];
            for (g, x) in rest.chunks_exact(LANES).enumerate() {
                let x = T::load(x);
                for j in 0..HALF {
                    let column = T::load(&l[(half + j) * stride + c + (g + 1) * LANES..]);
                    sums[j] = T::fma::<false>(column, x, sums[j]);
                }
            }
            for j in 0..HALF {
                let mut s = [0.0; LANES];
                sums[j].store(&mut s);
                b[half + j] -= ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            }
        }
        for j in (0..LANES).rev() {
            b[j] *= inverse[c + j];
            for i in 0..j {
                b[i] = math::fma::<FMA>(-l[i * stride + c + j], b[j], b[i]);
            }
        }
    }
}

dispatch! {
    /// a += Σ_k roots_k² h_k h_kᵀ on and below the diagonal, for rows h_k of `order` numbers; `u` is scratch memory for as many
    /// columns of √Ω H, its padding zero.
    pub fn add_gram(h: &[f64], order: usize, roots: &[f64], stride: usize, u: &mut [f64], a: &mut [f64]) {
        assert_eq!(h.len(), order * roots.len());
        let from = Weighing { h, order, roots };
        let u = &mut u[..roots.len() * stride];
        match Eight::COUNT {
            8 => gram::<Eight, 8>(from, stride, u, a),
            6 => gram::<Eight, 6>(from, stride, u, a),
            _ => gram::<Eight, 2>(from, stride, u, a),
        }
    }

    /// L with LLᵀ = A + jitter · I, and 1 / l_jj; on failure, the index of the first bad pivot. A is unchanged, for another try.
    pub fn factor(a: &[f64], jitter: f64, stride: usize, l: &mut [f64], inverse: &mut [f64]) -> Option<usize> {
        match Eight::COUNT {
            8 => cholesky::<Eight, FMA, 8>(a, jitter, stride, l, inverse),
            6 => cholesky::<Eight, FMA, 4>(a, jitter, stride, l, inverse),
            _ => cholesky::<Eight, FMA, 2>(a, jitter, stride, l, inverse),
        }
    }

    /// x ← L⁻¹ x, for x padded like L.
    pub fn solve_lower_triangle(l: &[f64], stride: usize, inverse: &[f64], x: &mut [f64]) {
        solve_lower::<Eight, FMA>(l, stride, inverse, x)
    }

    /// x ← L⁻ᵀ x, for x padded like L.
    pub fn solve_upper_triangle(l: &[f64], stride: usize, inverse: &[f64], x: &mut [f64]) {
        solve_upper::<Eight, FMA>(l, stride, inverse, x)
    }
}
