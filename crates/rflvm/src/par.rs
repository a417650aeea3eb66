//! Parallel loops whose results do not depend on the number of threads: fixed chunks, sums in a fixed order.

use rayon::prelude::*;
use std::ops::Range;

/// Amount of work (in cells, roughly a nanosecond each) below which handing out tasks costs more than it gains.
const WORTH_SPLITTING: usize = 16_384;

/// Rows per task: depends only on the shape, so that sums are always taken in the same pieces.
pub fn chunk_rows(rows: usize, cells_per_row: usize) -> usize {
    (WORTH_SPLITTING / cells_per_row.max(1)).clamp(1, rows.max(1))
}

/// Σ over chunks of `0..rows` of `f(chunk)`.
pub fn sum(rows: usize, cells_per_row: usize, f: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    let chunk = chunk_rows(rows, cells_per_row);
    let piece = |c: usize| f(c * chunk..((c + 1) * chunk).min(rows));
    let chunks = rows.div_ceil(chunk);
    if chunks <= 1 {
        return if rows == 0 { 0.0 } else { f(0..rows) };
    }
    (0..chunks).into_par_iter().map(piece).collect::<Vec<_>>().into_iter().sum()
}

/// `f(i)` for each `i`, in order; in parallel if `work` (total cells) is large enough.
pub fn map<T: Send>(n: usize, work: usize, f: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    if work < WORTH_SPLITTING { (0..n).map(f).collect() } else { (0..n).into_par_iter().map(f).collect() }
}
