//! Products of dense matrices by rows.
//!
//! Written by hand because one side is always about a hundred (the weights of one column of the
//! table): a product library loses time on the remainder outside its tiles, and more if the
//! sums are long.
//!
//! A tile of the result takes its lines from B, packed so that they stay in the
//! first-level cache, and single numbers from A in place, by rows or transposed.

use super::dispatch;
use super::tile::{LANES, Lanes, Terms, Tile, add_terms};

/// A matrix in a slice: element (i, k) at i · `row` + k · `step`, one of which is 1.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    values: &'a [f64],
    rows: usize,
    cols: usize,
    row: usize,
    step: usize,
}

impl<'a> View<'a> {
    /// Rows of `cols` numbers, `stride` apart.
    pub fn new(values: &'a [f64], rows: usize, cols: usize, stride: usize) -> Self {
        assert!(cols <= stride && (rows == 0 || (rows - 1) * stride + cols <= values.len()));
        View { values, rows, cols, row: stride, step: 1 }
    }

    /// The same numbers, transposed.
    pub fn transpose(self) -> Self {
        View { rows: self.cols, cols: self.rows, row: self.step, step: self.row, ..self }
    }

    /// Some of the rows.
    #[inline(always)]
    pub fn subrows(self, start: usize, rows: usize) -> Self {
        assert!(start + rows <= self.rows);
        View { values: &self.values[(start * self.row).min(self.values.len())..], rows, ..self }
    }

    /// Some of the columns.
    #[inline(always)]
    pub fn subcols(self, start: usize, cols: usize) -> Self {
        assert!(start + cols <= self.cols);
        View { values: &self.values[(start * self.step).min(self.values.len())..], cols, ..self }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
}

/// Terms of a sum taken at a time: a tile's share of them is half the first-level cache.
const DEPTH: usize = 128;

/// B, packed: its rows in blocks of nearly equal size, and each block in strips of [`LANES`] columns. One layout serves
/// every level.
#[derive(Clone, Copy)]
pub struct Packed<'a> {
    /// Block after block, strip after strip, the last padded; see [`pack`].
    pub numbers: &'a [f64],
    /// Columns of B.
    pub cols: usize,
    /// Rows in all blocks but the last.
    pub depth: usize,
}

impl Packed<'_> {
    /// Rows per block, for sums of this many terms.
    pub fn depth(terms: usize) -> usize {
        terms.div_ceil(terms.div_ceil(DEPTH).max(1)).max(1)
    }

    /// Numbers in one packed row of B.
    pub fn width(cols: usize) -> usize {
        cols.next_multiple_of(LANES)
    }
}

/// `C` rows of A, `step` between their numbers, and `V` strips of B, `strip` apart; `left` terms remain.
struct Rows<const C: usize> {
    a: *const f64,
    rows: [usize; C],
    step: usize,
    b: *const f64,
    strip: usize,
    left: usize,
}

impl<T: Lanes, const V: usize, const C: usize> Terms<T, V, C> for Rows<C> {
    /// By pointers: with indices LLVM computes addresses in vector registers, which takes as long as the sums.
    #[inline(always)]
    fn next(&mut self) -> Option<([T; V], [f64; C])> {
        self.left = self.left.checked_sub(1)?;
        let mut along = [T::splat(0.0); V];
        for (v, along) in along.iter_mut().enumerate() {
            // SAFETY: `columns` has checked that the whole strips are there.
            *along = T::load(unsafe { std::slice::from_raw_parts(self.b.add(v * self.strip), LANES) });
        }
        let mut across = [0.0; C];
        for (across, row) in across.iter_mut().zip(self.rows) {
            // SAFETY: and all of the rows.
            *across = unsafe { *self.a.add(row) };
        }
        self.a = self.a.wrapping_add(self.step);
        self.b = self.b.wrapping_add(LANES);
        Some((along, across))
    }
}

/// The result for `width` columns and as many rows as A has: rows `stride` apart in `out`, added to or overwritten.
struct Output<'a> {
    out: &'a mut [f64],
    stride: usize,
    width: usize,
    add: bool,
}

/// The first `height` rows, at most `C`, for the columns of `V` strips.
#[inline(always)]
fn tile<T: Lanes, const V: usize, const C: usize>(a: View<'_>, strips: &[f64], to: &mut Output<'_>, height: usize) {
    let mut sums: Tile<T, V, C> = [[T::splat(0.0); V]; C];
    for (i, sums) in sums.iter_mut().enumerate() {
        if to.add && i < height {
            let line = &to.out[i * to.stride..][..to.width];
            for (v, sum) in sums.iter_mut().enumerate() {
                *sum = T::load_some(&line[v * LANES..]);
            }
        }
    }
    // Past the last row, the last row is read again and not stored.
    let rows = std::array::from_fn(|i| i.min(height - 1) * a.row);
    let (strip, left) = (a.cols * LANES, a.cols);
    let terms = Rows { a: a.values.as_ptr(), rows, step: a.step, b: strips.as_ptr(), strip, left };
    let sums = add_terms::<T, false, V, C>(sums, terms);
    for (i, sums) in sums.iter().enumerate() {
        if i < height {
            let line = &mut to.out[i * to.stride..][..to.width];
            for (v, sum) in sums.iter().enumerate() {
                sum.store_some(&mut line[v * LANES..]);
            }
        }
    }
}

/// All rows, for the columns of `V` strips.
#[inline(always)]
fn columns<T: Lanes, const V: usize, const C: usize>(a: View<'_>, strips: &[f64], to: Output<'_>) {
    assert!(a.cols == 0 || (a.rows - 1) * a.row + (a.cols - 1) * a.step < a.values.len());
    let strips = &strips[..V * a.cols * LANES];
    for r in (0..a.rows).step_by(C) {
        let a = a.subrows(r, C.min(a.rows - r));
        let mut to = Output { out: &mut to.out[r * to.stride..], ..to };
        // Twice the code, so that whole tiles need no branch per row.
        match a.rows == C {
            true => tile::<T, V, C>(a, strips, &mut to, C),
            false => tile::<T, V, C>(a, strips, &mut to, a.rows),
        }
    }
}

/// Block by block, as many strips at a time as a tile is wide.
#[inline(always)]
fn product<T: Lanes, const C: usize>(a: View<'_>, b: Packed<'_>, add: bool, out: &mut [f64], stride: usize) {
    // Once even without any terms, to set the result to zero.
    for k in (0..a.cols.max(1)).step_by(b.depth) {
        let a = a.subcols(k, b.depth.min(a.cols - k));
        let mut c = 0;
        while c < b.cols {
            let wide = match (b.cols - c).div_ceil(LANES) {
                // A tile of width one would stall on its sums.
                4 if T::WIDTH == 3 => 2,
                strips => strips.min(T::WIDTH),
            };
            let strips = &b.numbers[k * Packed::width(b.cols) + c * a.cols..];
            let width = (b.cols - c).min(wide * LANES);
            let to = Output { out: &mut out[c..], stride, width, add: add || k > 0 };
            match wide {
                3 => columns::<T, 3, C>(a, strips, to),
                2 => columns::<T, 2, C>(a, strips, to),
                _ => columns::<T, 1, C>(a, strips, to),
            }
            c += wide * LANES;
        }
    }
}

/// Rows of B that are fetched ahead, if they are short: the processor does not look beyond a page of memory by itself.
const AHEAD: usize = 8;
const SHORT: usize = 128;

#[inline(always)]
fn fetch(b: View<'_>, row: usize) {
    #[cfg(target_arch = "x86_64")]
    if b.cols <= SHORT && row < b.rows {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        for line in b.values[row * b.row..][..b.cols].chunks(LANES) {
            // SAFETY: a hint, which reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (b, row, SHORT);
}

/// A strip from contiguous columns of B: `LANES` × `LANES` at a time, which LLVM transposes in registers.
#[inline(always)]
fn turn(columns: [&[f64]; LANES], strip: &mut [f64]) {
    let (blocks, rest) = strip.as_chunks_mut::<{ LANES * LANES }>();
    let done = blocks.len() * LANES;
    for (b, to) in blocks.iter_mut().enumerate() {
        let from: [&[f64; LANES]; LANES] = columns.map(|column| column[b * LANES..][..LANES].try_into().unwrap());
        for i in 0..LANES {
            for j in 0..LANES {
                to[i * LANES + j] = from[j][i];
            }
        }
    }
    for (i, to) in rest.chunks_exact_mut(LANES).enumerate() {
        for j in 0..LANES {
            to[j] = columns[j][done + i];
        }
    }
}

dispatch! {
    /// One block of B in strips; the padding of the last is unspecified.
    pub fn pack(b: View<'_>, to: &mut [f64]) {
        if b.step == 1 {
            // Row by row, the order in which they arrive from memory.
            for i in 0..b.rows {
                fetch(b, i + AHEAD);
                let row = &b.values[i * b.row..][..b.cols];
                for (from, strip) in row.chunks(LANES).zip(to.chunks_exact_mut(b.rows * LANES)) {
                    Eight::load_some(from).store(&mut strip[i * LANES..]);
                }
            }
        } else {
            for (c, strip) in to.chunks_exact_mut(b.rows * LANES).enumerate() {
                let last = b.cols - 1;
                turn(std::array::from_fn(|j| &b.values[(c * LANES + j).min(last) * b.step..][..b.rows]), strip);
            }
        }
    }

    /// out = a · b, or out += a · b if `add`; rows of `out` are `stride` apart. Each element is one sum in the order of
    /// its terms, so that it does not matter how `out` is divided.
    pub fn multiply(a: View<'_>, b: Packed<'_>, add: bool, out: &mut [f64], stride: usize) {
        if a.rows == 0 {
            return;
        }
        match Eight::COUNT {
            8 => product::<Eight, 8>(a, b, add, out, stride),
            6 => product::<Eight, 6>(a, b, add, out, stride),
            _ => product::<Eight, 2>(a, b, add, out, stride),
        }
    }
}
