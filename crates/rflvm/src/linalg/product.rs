//! Products of dense matrices, on one thread or all, with identical bits.

use super::Mat;
use crate::simd::{self, CacheLines, Packed, View};
use rayon::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// What a thread packed last, and the id of the slab: about [`CELLS`] numbers, kept per thread. Every thread
    /// packs for itself, because fetching what another one has just written takes longer.
    static PACKED: RefCell<(u64, CacheLines)> = const { RefCell::new((0, CacheLines::new())) };
}

/// Number of slabs so far.
static SLABS: AtomicU64 = AtomicU64::new(0);

/// Numbers packed at a time: half the second-level cache.
const CELLS: usize = 131_072;
/// Maximum number of columns packed at a time, so that a slab does not have too few rows.
const WIDTH: usize = 960;
/// Rows of `out` computed at a time: whole tiles at every level, and few enough to stay in cache from one strip to the next.
const ROWS: usize = 48;
/// The product inside one of many tasks, so that threads do not wait for the last.
const TASK_ROWS: usize = 24;
/// Number of multiplications below which handing out tasks costs more than it gains.
const WORTH_SPLITTING: usize = 1 << 18;

/// out = a · b, or out += a · b if `add`, one thread. `out` has as many columns as `b`.
pub fn mul(out: &mut [f64], a: View<'_>, b: View<'_>, add: bool) {
    multiply(out, b.cols(), a, b, add, false);
}

/// out = a · b, or out += a · b if `add`, rows of `out` split over threads.
pub fn par_mul(out: &mut Mat, a: View<'_>, b: View<'_>, add: bool) {
    par_mul_into(out.as_mut_slice(), a, b, add);
}

/// [`par_mul`] into the values of a matrix.
pub fn par_mul_into(out: &mut [f64], a: View<'_>, b: View<'_>, add: bool) {
    multiply(out, b.cols(), a, b, add, a.rows() * a.cols() * b.cols() >= WORTH_SPLITTING);
}

fn multiply(out: &mut [f64], stride: usize, a: View<'_>, b: View<'_>, add: bool, split: bool) {
    assert!(a.cols() == b.rows() && b.cols() <= stride);
    if a.rows() == 0 || b.cols() == 0 {
        return;
    }
    let out = &mut out[..(a.rows() - 1) * stride + b.cols()];
    let depth = Packed::depth(b.rows());
    for c in (0..b.cols()).step_by(WIDTH) {
        let b = b.subcols(c, WIDTH.min(b.cols() - c));
        let slab = (CELLS / Packed::width(b.cols()) / depth).max(1) * depth;
        // Once even without any terms, to set `out` to zero.
        for k in (0..b.rows().max(1)).step_by(slab) {
            let b = b.subrows(k, slab.min(b.rows() - k));
            let a = a.subcols(k, b.rows());
            let number = SLABS.fetch_add(1, Ordering::Relaxed) + 1;
            let rows = if split { TASK_ROWS } else { ROWS };
            let task = |(i, out): (usize, &mut [f64])| {
                let a = a.subrows(i * rows, rows.min(a.rows() - i * rows));
                with_packed(number, b, depth, |b| simd::multiply(a, b, add || k > 0, &mut out[c..], stride));
            };
            match split {
                true => out.par_chunks_mut(rows * stride).enumerate().for_each(task),
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
        for (n, m, j) in [(500, 101, 100), (101, 1500, 100), (60, 101, 1000), (1, 1, 1)] {
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
    fn products_begun_while_another_waits_have_memory_of_their_own() {
        let (a, b) = (Factor::new(300, 101, 0, false, 1), Factor::new(101, 90, 0, true, 2));
        let product = || {
            let mut out = vec![0.0; 300 * 90];
            par_mul_into(&mut out, a.view(), b.view(), false);
            out
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let outs: Vec<_> = pool.install(|| (0..64).into_par_iter().map(|_| product()).collect());
        assert!(outs.iter().all(|out| *out == product()));
    }
}
