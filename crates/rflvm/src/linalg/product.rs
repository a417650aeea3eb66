//! Products of dense matrices, on one thread or all, with identical bits.

use super::Mat;
use crate::par::{self, chunk_rows};
use crate::simd::{self, CacheLines, LANES, Packed, View};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// What a thread packed last, and the id of the slab: about [`CELLS`] numbers, kept per thread. Every thread
    /// packs for itself, because fetching what another one has just written takes longer.
    static PACKED: RefCell<(u64, CacheLines)> = const { RefCell::new((0, CacheLines::new())) };
    /// Memory of [`by_columns`]. It is taken while in use: a thread that waits for its tasks may begin another product.
    static STRIPS: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
}

/// Number of slabs so far.
static SLABS: AtomicU64 = AtomicU64::new(0);

/// Numbers packed at a time: half the second-level cache.
const CELLS: usize = 131_072;
/// Maximum number of columns packed at a time, so that a slab does not have too few rows.
const WIDTH: usize = 960;
/// Rows of `out` computed at a time: whole tiles at every level, and few enough to stay in cache from one strip to the next.
const ROWS: usize = 48;
/// Rows or columns of `out` in a task are a multiple of this: whole tiles at every level.
const TILES: usize = 24;
/// Number of multiplications of a task: some 100 µs.
const TASK: usize = 1 << 21;

/// out = a · b, or out += a · b if `add`, one thread. `out` has as many columns as `b`.
pub fn mul(out: &mut [f64], a: View<'_>, b: View<'_>, add: bool) {
    multiply(out, b.cols(), a, b, add, false);
}

/// out = a · b, or out += a · b if `add`, split over threads.
pub fn par_mul(out: &mut Mat, a: View<'_>, b: View<'_>, add: bool) {
    par_mul_into(out.as_mut_slice(), a, b, add);
}

/// [`par_mul`] into the values of a matrix.
pub fn par_mul_into(out: &mut [f64], a: View<'_>, b: View<'_>, add: bool) {
    split(out, b.cols(), a, b, add);
}

/// Rows (or columns) of `out` in a task, if one of them takes this many multiplications.
fn task_size(multiplications: usize) -> usize {
    TASK.div_ceil((TILES * multiplications).max(1)) * TILES
}

fn split(out: &mut [f64], stride: usize, a: View<'_>, b: View<'_>, add: bool) {
    let (high, wide) = (task_size(a.cols() * b.cols()), task_size(a.cols() * a.rows()));
    let strips = b.cols().div_ceil(wide);
    // Short products of long sums have too few rows to share, but columns; their result is small enough to be copied.
    if strips > 1 && strips > a.rows().div_ceil(high) && a.rows() <= a.cols() {
        by_columns(out, stride, &[(0..b.cols(), a)], b, add, wide);
    } else {
        multiply(out, stride, a, b, add, a.rows() > high);
    }
}

/// out[:, columns] = a · b[:, columns] for several a, each with its own columns; these adjoin each other. `b` is as wide as `out`.
pub fn par_mul_each(out: &mut Mat, parts: &[(Range<usize>, View<'_>)], b: View<'_>) {
    let Some((first, a)) = parts.first() else { return };
    let stride = out.cols();
    assert!(b.cols() == stride && parts.iter().all(|(_, a)| a.rows() == out.rows()));
    let (start, wide) = (first.start, task_size(a.cols() * a.rows()));
    by_columns(&mut out.as_mut_slice()[start..], stride, parts, b, false, wide);
}

/// Each task computes some columns, in its own memory, from which they are copied to `out`, where `parts` begin.
fn by_columns(out: &mut [f64], stride: usize, parts: &[(Range<usize>, View<'_>)], b: View<'_>, add: bool, wide: usize) {
    let (rows, start, end) = (parts[0].1.rows(), parts[0].0.start, parts[parts.len() - 1].0.end);
    let strips: Vec<(Range<usize>, View<'_>)> = parts.iter().flat_map(|(part, a)| cut(part, wide, *a)).collect();
    let mut workspace = STRIPS.take();
    workspace.resize(workspace.len().max(rows * (end - start)), 0.0);
    let (before, mut rest) = (&*out, &mut workspace[..]);
    let tasks: Vec<_> = strips
        .iter()
        .map(|(columns, a)| {
            let own = rest.split_off_mut(..rows * columns.len()).unwrap_or_default();
            (columns, *a, own)
        })
        .collect();
    par::for_each(tasks, 1, |(columns, a, own)| {
        let k = columns.len();
        if add {
            let lines = own.chunks_exact_mut(k).enumerate();
            lines.for_each(|(r, line)| line.copy_from_slice(&before[r * stride + columns.start - start..][..k]));
        }
        multiply(own, k, a, b.subcols(columns.start, k), add, false);
    });
    let at_once = chunk_rows(rows, end - start);
    let pieces = out[..(rows - 1) * stride + end - start].chunks_mut(at_once * stride).enumerate();
    par::for_each(pieces, 1, |(c, piece)| {
        for (i, line) in piece.chunks_mut(stride).enumerate() {
            for (columns, _) in &strips {
                let (k, from) = (columns.len(), columns.start - start);
                line[from..][..k].copy_from_slice(&workspace[from * rows + (c * at_once + i) * k..][..k]);
            }
        }
    });
    STRIPS.set(workspace);
}

/// Columns in strips of nearly equal width, at most `wide`, a multiple of [`TILES`].
fn cut<T: Copy>(columns: &Range<usize>, wide: usize, with: T) -> impl Iterator<Item = (Range<usize>, T)> + use<T> {
    let (count, end) = (columns.len().div_ceil(wide), columns.end);
    let width = columns.len().div_ceil(count.max(1)).next_multiple_of(TILES);
    columns.clone().step_by(width.max(1)).map(move |start| (start..(start + width).min(end), with))
}

fn multiply(out: &mut [f64], stride: usize, a: View<'_>, b: View<'_>, add: bool, split: bool) {
    assert!(a.cols() == b.rows() && b.cols() <= stride);
    if a.rows() == 0 || b.cols() == 0 {
        return;
    }
    let out = &mut out[..(a.rows() - 1) * stride + b.cols()];
    let depth = Packed::depth(b.rows());
    // Panels of equal width, so that none has only a little work for a task.
    let width = b.cols().div_ceil(b.cols().div_ceil(WIDTH)).next_multiple_of(3 * LANES);
    for c in (0..b.cols()).step_by(width) {
        let b = b.subcols(c, width.min(b.cols() - c));
        let slab = (CELLS / Packed::width(b.cols()) / depth).max(1) * depth;
        // Once even without any terms, to set `out` to zero.
        for k in (0..b.rows().max(1)).step_by(slab) {
            let b = b.subrows(k, slab.min(b.rows() - k));
            let a = a.subcols(k, b.rows());
            let number = SLABS.fetch_add(1, Ordering::Relaxed) + 1;
            let rows = if split { task_size(b.rows() * b.cols()) } else { ROWS };
            let task = |(i, out): (usize, &mut [f64])| {
                let a = a.subrows(i * rows, rows.min(a.rows() - i * rows));
                with_packed(number, b, depth, |b| simd::multiply(a, b, add || k > 0, &mut out[c..], stride));
            };
            match split {
                true => par::for_each(out.chunks_mut(rows * stride).enumerate(), 1, task),
                false => out.chunks_mut(rows * stride).enumerate().for_each(task),
            }
        }
    }
}

/// Applies `f` to `b`, packed unless this thread has already packed the same slab.
fn with_packed(number: u64, b: View<'_>, depth: usize, f: impl FnOnce(Packed<'_>)) {
    PACKED.with_borrow_mut(|(packed, numbers)| {
        if *packed != number {
            let width = Packed::width(b.cols());
            numbers.reserve(b.rows() * width);
            for k in (0..b.rows()).step_by(depth) {
                let block = b.subrows(k, depth.min(b.rows() - k));
                simd::pack(block, &mut numbers[k * width..][..block.rows() * width]);
            }
            *packed = number;
        }
        f(Packed { numbers, cols: b.cols(), depth });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::tests::at_each_level;

    fn random(n: usize, seed: u64) -> Vec<f64> {
        let mix =
            |i: u64| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (1..=n as u64).map(|i| (mix(i) >> 11) as f64 * 2f64.powi(-52) - 1.0).collect()
    }

    /// A matrix of random numbers with `gap` extra between rows, by rows or transposed.
    struct Factor {
        values: Vec<f64>,
        rows: usize,
        cols: usize,
        stride: usize,
        turned: bool,
    }

    impl Factor {
        fn new(rows: usize, cols: usize, gap: usize, turned: bool, seed: u64) -> Self {
            let (high, wide) = if turned { (cols, rows) } else { (rows, cols) };
            let stride = wide + gap;
            // No more than the last row needs, to catch reads beyond it.
            let values = random(high.saturating_sub(1) * stride + if high > 0 { wide } else { 0 }, seed);
            Factor { values, rows, cols, stride, turned }
        }

        fn view(&self) -> View<'_> {
            match self.turned {
                true => View::new(&self.values, self.cols, self.rows, self.stride).transpose(),
                false => View::new(&self.values, self.rows, self.cols, self.stride),
            }
        }

        fn at(&self, i: usize, k: usize) -> f64 {
            self.values[if self.turned { k * self.stride + i } else { i * self.stride + k }]
        }
    }

    type Multiply = fn(&mut [f64], usize, View<'_>, View<'_>, bool);

    /// The product at each level, checked against plain sums; `gap` between the rows of every matrix.
    fn check((n, m, j): (usize, usize, usize), gap: usize, turned: (bool, bool), add: bool, multiply: Multiply) {
        let (a, b) = (Factor::new(n, m, gap, turned.0, 1), Factor::new(m, j, gap, turned.1, 2));
        let stride = j + gap;
        let before = random((n.max(1) - 1) * stride + j, 3);
        let outs = at_each_level(|| {
            let mut out = before.clone();
            multiply(&mut out, stride, a.view(), b.view(), add);
            out
        });
        for i in 0..n {
            for c in 0..stride.min(before.len() - i * stride) {
                let at = i * stride + c;
                if c >= j {
                    assert!(outs.iter().all(|out| out[at] == before[at]), "{n}×{m}×{j}: written between rows");
                    continue;
                }
                let start = if add { before[at] } else { 0.0 };
                let fused = (0..m).fold(start, |sum, k| a.at(i, k).mul_add(b.at(k, c), sum));
                let plain = (0..m).fold(start, |sum, k| sum + a.at(i, k) * b.at(k, c));
                for (level, out) in outs.iter().enumerate() {
                    // One sum in the order of its terms: equal to the last bit.
                    assert!(out[at] == plain || out[at] == fused, "{n}×{m}×{j} {level}: {} {plain}", out[at]);
                    assert!(level == 0 || out[at] == fused, "{n}×{m}×{j} {level}");
                }
            }
        }
    }

    fn one_thread(out: &mut [f64], stride: usize, a: View<'_>, b: View<'_>, add: bool) {
        multiply(out, stride, a, b, add, false);
    }

    /// Strips that are narrower than a task needs, so that there are many of them.
    fn in_strips(out: &mut [f64], stride: usize, a: View<'_>, b: View<'_>, add: bool) {
        if a.rows() > 0 && b.cols() > 0 {
            by_columns(out, stride, &[(0..b.cols(), a)], b, add, TILES);
        }
    }

    const TURNED: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

    #[test]
    fn products_are_plain_sums_in_order_at_every_level() {
        let odd = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 23, 24, 25, 32, 33];
        let columns = odd.into_iter().flat_map(|j| [(9, 7, j), (14, 3, j), (1, 1, j)]);
        let rows = (0..=17).flat_map(|n| [(n, 5, 27), (n, 7, 4)]);
        let terms = [0, 1, 2, 8, 63, 64, 65, 127, 128, 129, 257].into_iter().map(|m| (13, m, 11));
        let large = [(49, 101, 100), (101, 300, 40), (200, 101, 9), (30, 101, 4), (5, 1300, 104)];
        for shape in columns.chain(rows).chain(terms).chain(large) {
            for turned in TURNED {
                for (gap, add) in [(0, false), (0, true), (3, false), (3, true)] {
                    check(shape, gap, turned, add, one_thread);
                    check(shape, gap, turned, add, in_strips);
                }
            }
        }
    }

    #[test]
    fn wide_products_and_long_sums_are_cut_without_a_trace() {
        for turned in TURNED {
            check((26, 11, 2 * WIDTH + 3), 1, turned, true, one_thread);
            check((10, CELLS / 32 + 5, 29), 0, turned, false, one_thread);
        }
    }

    #[test]
    fn threads_do_not_show_in_the_bits() {
        let pools = [1, 2, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
        for (n, m, j) in [(500, 101, 100), (101, 1500, 100), (60, 101, 1000), (60, 700, 130), (1, 1, 1)] {
            for turned in TURNED {
                let (a, b) = (Factor::new(n, m, 0, turned.0, 1), Factor::new(m, j, 0, turned.1, 2));
                let mut alone = random(n * j, 3);
                let outs = pools.each_ref().map(|pool| {
                    let mut out = alone.clone();
                    pool.install(|| par_mul_into(&mut out, a.view(), b.view(), true));
                    out
                });
                mul(&mut alone, a.view(), b.view(), true);
                assert!(outs.iter().all(|out| *out == alone));
            }
        }
    }

    #[test]
    fn each_part_of_the_columns_is_multiplied_by_its_own_matrix() {
        let (p, q, b) = (random(30 * 30, 1), random(30 * 30, 2), random(30 * 700, 3));
        let [p, q] = [&p, &q].map(|values| View::new(values, 30, 30, 30));
        let b = View::new(&b, 30, 700, 700);
        for wide in [TILES, 240, 10_000] {
            let mut out = vec![7.0; 30 * 700];
            by_columns(&mut out[20..], 700, &[(20..300, p), (300..650, q)], b, false, wide);
            let alone = [p, q].map(|a| {
                let mut alone = vec![0.0; 30 * 700];
                mul(&mut alone, a, b, false);
                alone
            });
            for (i, &value) in out.iter().enumerate() {
                match i % 700 {
                    20..300 => assert!(value == alone[0][i]),
                    300..650 => assert!(value == alone[1][i]),
                    _ => assert!(value == 7.0),
                }
            }
            // The public function chooses the width.
            let mut again = Mat::from_vec(30, 700, vec![7.0; 30 * 700]);
            par_mul_each(&mut again, &[(20..300, p), (300..650, q)], b);
            assert!(again.as_slice() == out);
        }
    }

    #[test]
    fn products_begun_while_another_waits_have_memory_of_their_own() {
        let (a, b) = (Factor::new(300, 101, 0, false, 1), Factor::new(101, 90, 0, true, 2));
        let product = || {
            let mut out = vec![0.0; 300 * 90];
            par_mul_into(&mut out, a.view(), b.view(), false);
            out
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let outs = pool.install(|| par::collect(0..64, 1, |_| product()));
        assert!(outs.iter().all(|out| *out == product()));
    }
}
