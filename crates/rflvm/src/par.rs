//! Parallel loops whose results do not depend on the number of threads: fixed pieces, sums in a fixed order.
//!
//! Every loop of the engine ends in [`each`] or [`join`], which take closures behind a reference: rayon is then compiled once, and not
//! again for each closure, which was a fifth of the engine's machine code. An indirect call costs nanoseconds, a task microseconds.

use rayon::prelude::*;
use std::ops::Range;

/// Amount of work (in cells, roughly a nanosecond each) of one task. Waking a thread takes some 10 µs, so smaller tasks
/// would cost more than they gain.
const WORTH_SPLITTING: usize = 65_536;

/// Rows per task: depends only on the shape, so that sums are always taken in the same pieces.
pub fn chunk_rows(rows: usize, cells_per_row: usize) -> usize {
    (WORTH_SPLITTING / cells_per_row.max(1)).clamp(1, rows.max(1))
}

/// `f(i)` for each i < n, at least `least` of them in a task.
pub fn each(n: usize, least: usize, f: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().with_min_len(least).for_each(f);
}

/// Both, each in its own task.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    fn of(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
        rayon::join(a, b);
    }
    let (mut of_a, mut of_b) = (None, None);
    let (mut a, mut b) = (Some(a), Some(b));
    of(&mut || of_a = a.take().map(|a| a()), &mut || of_b = b.take().map(|b| b()));
    (of_a.expect("rayon calls both"), of_b.expect("rayon calls both"))
}

/// Memory whose items are taken, changed or written by one task each.
struct Slots<T>(*mut T);

// SAFETY: tasks use different items, and each item may move to another thread.
unsafe impl<T: Send> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// Where item i is.
    fn at(&self, i: usize) -> *mut T {
        // SAFETY: every caller stays within the memory from which it made these slots.
        unsafe { self.0.add(i) }
    }
}

/// `f` of each item, in order, at least `least` of them in a task.
pub fn collect<T: Send, U: Send>(
    items: impl IntoIterator<Item = T>,
    least: usize,
    f: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let mut items: Vec<T> = items.into_iter().collect();
    let n = items.len();
    let mut results: Vec<U> = Vec::with_capacity(n);
    let (from, to) = (Slots(items.as_mut_ptr()), Slots(results.as_mut_ptr()));
    // SAFETY: each item is read once and each result written once, all n of them before `results` has any. After a panic they leak.
    unsafe {
        items.set_len(0);
        each(n, least, &|i| to.at(i).write(f(from.at(i).read())));
        results.set_len(n);
    }
    results
}

/// Passes each item to `f`, at least `least` of them in a task.
pub fn for_each<T: Send>(items: impl IntoIterator<Item = T>, least: usize, f: impl Fn(T) + Sync) {
    collect(items, least, f);
}

/// `f(i)` for each `i`, in order; in parallel if `work` (total cells) is large enough.
pub fn map<T: Send>(n: usize, work: usize, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    if work < WORTH_SPLITTING { (0..n).map(f).collect() } else { collect(0..n, 1, f) }
}

/// Σ over chunks of `0..rows` of `f(chunk)`.
pub fn sum(rows: usize, cells_per_row: usize, f: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    if rows == 0 { 0.0 } else { halves(0..rows, chunk_rows(rows, cells_per_row), &f) }
}

/// The sum of the two halves, each in its own task, of whole chunks.
fn halves(rows: Range<usize>, chunk: usize, f: &(dyn Fn(Range<usize>) -> f64 + Sync)) -> f64 {
    if rows.len() <= chunk {
        return f(rows);
    }
    let middle = rows.start + middle(rows.len(), chunk);
    let (a, b) = join(|| halves(rows.start..middle, chunk, f), || halves(middle..rows.end, chunk, f));
    a + b
}

/// Where to split rows into two halves of whole chunks.
pub(crate) fn middle(rows: usize, chunk: usize) -> usize {
    rows.div_ceil(chunk) / 2 * chunk
}

/// Some tables with the same number of rows, to be changed in place: values, and width of a row, of each.
pub type Tables<'a, T, const K: usize> = [(&'a mut [T], usize); K];

/// Changes tables in place: `f(first, pieces)` for pieces of whole rows, of which the first has the number `first`. Returns the sum of
/// what `f` returns.
pub fn rows<T: Send, const K: usize>(
    mut tables: Tables<'_, T, K>,
    cells_per_row: usize,
    f: impl Fn(usize, [&mut [T]; K]) -> f64 + Sync,
) -> f64 {
    let rows = tables.first().map_or(0, |(values, width)| values.len() / (*width).max(1));
    assert!(tables.iter().all(|(values, width)| values.len() == rows * width));
    let widths = tables.each_ref().map(|(_, width)| *width);
    let slots = tables.each_mut().map(|(values, _)| Slots(values.as_mut_ptr()));
    sum(rows, cells_per_row, |own| {
        // SAFETY: the ranges of rows are within the tables, and no two overlap.
        let piece = |k: usize| unsafe {
            std::slice::from_raw_parts_mut(slots[k].at(own.start * widths[k]), own.len() * widths[k])
        };
        f(own.start, std::array::from_fn(piece))
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_is_visited_once_and_sums_do_not_depend_on_threads() {
        let (rows, cost) = (1003, 5_000);
        let visit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (mut wide, mut narrow) = (vec![0.0; 3 * rows], vec![0.0; rows]);
            let sum = pool.install(|| {
                super::rows([(&mut wide[..], 3), (&mut narrow[..], 1)], cost, |first, [wide, narrow]| {
                    assert_eq!(wide.len(), 3 * narrow.len());
                    wide.iter_mut().enumerate().for_each(|(i, v)| *v += (3 * first + i) as f64);
                    narrow.iter_mut().enumerate().for_each(|(i, v)| *v += (first + i) as f64);
                    narrow.iter().map(|v| (1.0 + v).recip()).sum()
                })
            });
            assert!(wide.iter().enumerate().all(|(i, &v)| v == i as f64));
            assert!(narrow.iter().enumerate().all(|(i, &v)| v == i as f64));
            let alike = pool.install(|| super::sum(rows, cost, |own| own.map(|n| (1.0 + n as f64).recip()).sum()));
            assert_eq!(sum.to_bits(), alike.to_bits());
            sum.to_bits()
        };
        assert!([2, 3].into_iter().all(|threads| visit(threads) == visit(1)));
        let [mut none]: [Vec<f64>; 1] = Default::default();
        assert_eq!(super::rows([(&mut none[..], 4)], 1, |_, _| 1.0), 0.0);
    }
}
