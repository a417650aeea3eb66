//! Columns that share one family.

use super::family::{Family, Seen, Unit};
use crate::chunks::Chunks;
use crate::error::DataError;
use crate::linalg::Mat;
use crate::par;
use std::ops::Range;
use std::sync::Arc;

/// Columns that share one family.
#[derive(Debug, Clone)]
pub struct Block {
    /// Position of its columns in the model's order of columns.
    pub columns: Range<usize>,
    /// Its family.
    pub family: Arc<dyn Family>,
}

/// What a process has of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Where the whole block begins in the order of all columns.
    pub start: usize,
    /// Its first column within the whole block.
    pub first: usize,
    /// Number of columns of the whole block.
    pub all: usize,
    /// Whether no cell of the whole block is missing.
    pub is_complete: bool,
}

/// The chunks of a whole table, and its blocks.
pub(super) fn whole(y: &Mat, blocks: &[Block]) -> (Chunks, Vec<Part>) {
    let indivisible: Vec<Range<usize>> =
        blocks.iter().filter(|block| block.family.is_whole()).map(|block| block.columns.clone()).collect();
    let part = |block: &Block| {
        let is_complete = y.iter_rows().all(|row| row[block.columns.clone()].iter().all(|v| !v.is_nan()));
        Part { start: block.columns.start, first: 0, all: block.columns.len(), is_complete }
    };
    (Chunks::new(y.cols(), &indivisible), blocks.iter().map(part).collect())
}

/// The largest offset on the scale of a link other than the identity: e^100 exceeds any count.
const MOST_OFFSET: f64 = 100.0;

impl Block {
    /// Centre and scale of each of its columns, by itself.
    pub(super) fn units(&self, y: &Mat, offset: &[f64]) -> Vec<Unit> {
        of_columns(y, offset, self.columns.clone(), |local, seen| self.family.unit(local, seen))
    }

    /// Adjusts the units of a whole block relative to each other; `units` has those of all columns.
    pub(super) fn relate(&self, units: &mut [Unit]) {
        if !self.columns.is_empty() {
            self.family.relate(&mut units[self.columns.clone()]);
        }
    }

    /// Offsets whose exponential overflows or vanishes would end in NaN.
    pub(super) fn check_offset(&self, offset: &[f64]) -> Result<(), DataError> {
        let has_identity_link = self.family.problem(0, 0, -0.5).is_none();
        match offset.iter().position(|o| o.abs() > MOST_OFFSET) {
            Some(n) if !has_identity_link => {
                let problem = format!(
                    "the offset {} is outside ±{MOST_OFFSET}; offsets are on the link scale, such as the logarithm of an exposure",
                    offset[n]
                );
                Err(DataError::Offset { row: n + 1, problem })
            }
            _ => Ok(()),
        }
    }

    /// Whether its cells are valid for its family.
    pub(super) fn check_values(&self, y: &Mat, names: &[String]) -> Result<(), DataError> {
        self.family.check_shape(y.rows(), self.columns.len())?;
        let wrong = |n: usize| {
            let row = &y.row(n)[self.columns.clone()];
            for (j, &value) in row.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
                if let Some(problem) = self.family.problem(n, j, value) {
                    let column = names[self.columns.start + j].clone();
                    return Some(DataError::Support { row: n + 1, column, value, problem });
                }
            }
            self.family.check_row(n, row).err()
        };
        let first = par::collect(0..y.rows(), 256, wrong).into_iter().flatten().next();
        first.map_or(Ok(()), Err)
    }
}

/// What `f` says of each of some columns, given its number among them and its observed cells. Tables are stored row by row, so some neighbouring columns
/// are gathered at once: a cache line holds as many.
pub(super) fn of_columns<T: Send>(
    y: &Mat,
    offset: &[f64],
    columns: Range<usize>,
    f: impl Fn(usize, &[Seen]) -> T + Sync,
) -> Vec<T> {
    const AT_ONCE: usize = 8;
    let (start, count) = (columns.start, columns.len());
    let of_some = |first: usize| {
        let some = first..(first + AT_ONCE).min(count);
        let mut seen: Vec<Vec<Seen>> = some.clone().map(|_| Vec::with_capacity(y.rows())).collect();
        for (n, row) in y.iter_rows().enumerate() {
            let cells = seen.iter_mut().zip(&row[start + some.start..start + some.end]);
            cells.filter(|(_, y)| !y.is_nan()).for_each(|(seen, &y)| seen.push((n, y, offset[n])));
        }
        some.zip(seen).map(|(local, seen)| f(local, &seen)).collect::<Vec<T>>()
    };
    par::collect((0..count).step_by(AT_ONCE), 1, of_some).into_iter().flatten().collect()
}
