//! Parallel loops whose results do not depend on the number of threads: fixed pieces, sums in a fixed order.

use rayon::prelude::*;
use std::ops::Range;

/// Amount of work (in cells, roughly a nanosecond each) of one task. Waking a thread takes some 10 µs, so smaller tasks
/// would cost more than they gain.
const WORTH_SPLITTING: usize = 65_536;

/// Rows per task: depends only on the shape, so that sums are always taken in the same pieces.
pub fn chunk_rows(rows: usize, cells_per_row: usize) -> usize {
    (WORTH_SPLITTING / cells_per_row.max(1)).clamp(1, rows.max(1))
}

/// Σ over chunks of `0..rows` of `f(chunk)`.
pub fn sum(rows: usize, cells_per_row: usize, f: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    if rows == 0 { 0.0 } else { halves(0..rows, chunk_rows(rows, cells_per_row), &f) }
}

/// The sum of the two halves, each in its own task, of whole chunks.
fn halves(rows: Range<usize>, chunk: usize, f: &(impl Fn(Range<usize>) -> f64 + Sync)) -> f64 {
    if rows.len() <= chunk {
        return f(rows);
    }
    let middle = rows.start + middle(rows.len(), chunk);
    let (a, b) = rayon::join(|| halves(rows.start..middle, chunk, f), || halves(middle..rows.end, chunk, f));
    a + b
}

/// Where to split rows into two halves of whole chunks.
pub(crate) fn middle(rows: usize, chunk: usize) -> usize {
    rows.div_ceil(chunk) / 2 * chunk
}

/// `f(i)` for each `i`, in order; in parallel if `work` (total cells) is large enough.
pub fn map<T: Send>(n: usize, work: usize, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    if work < WORTH_SPLITTING { (0..n).map(f).collect() } else { (0..n).into_par_iter().map(f).collect() }
}

/// Some tables with the same number of rows, to be changed in place: values, and width of a row, of each.
pub type Tables<'a, T, const K: usize> = [(&'a mut [T], usize); K];

/// Changes tables in place: `f(first, pieces)` for pieces of whole rows, of which the first has the number `first`. Returns the sum of
/// what `f` returns.
pub fn rows<T: Send, const K: usize>(
    tables: Tables<'_, T, K>,
    cells_per_row: usize,
    f: impl Fn(usize, [&mut [T]; K]) -> f64 + Sync,
) -> f64 {
    let rows = tables.first().map_or(0, |(values, width)| values.len() / (*width).max(1));
    pieces(0, rows, tables, chunk_rows(rows, cells_per_row), &f)
}

fn pieces<T: Send, const K: usize>(
    first: usize,
    rows: usize,
    tables: Tables<'_, T, K>,
    chunk: usize,
    f: &(impl Fn(usize, [&mut [T]; K]) -> f64 + Sync),
) -> f64 {
    if rows <= chunk {
        return if rows == 0 { 0.0 } else { f(first, tables.map(|(values, _)| values)) };
    }
    let middle = middle(rows, chunk);
    let mut below = tables.map(|(values, width)| (values.split_at_mut(middle * width), width));
    let above = below.each_mut().map(|((above, _), width)| (std::mem::take(above), *width));
    let below = below.map(|((_, below), width)| (below, width));
    let (a, b) = rayon::join(
        || pieces(first, middle, above, chunk, f),
        || pieces(first + middle, rows - middle, below, chunk, f),
    );
    a + b
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
