//! A Gaussian approximation of the likelihood of F: responses Z, minus the centres of their columns, with precisions a_n b_j. It
//! defines the coordinates of the joint gradient move. It only affects how fast the move mixes, never the distribution it samples.

use crate::chunks::{Chunk, Chunks};
use crate::linalg::{Mat, leading_of, products};
use crate::model::family::Theta;
use crate::model::{Known, Model};
use crate::par;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Z = centres + left · right with precisions a_n b_j.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// √a_n, one per row.
    pub root: Vec<f64>,
    /// b_j, one per column.
    pub column: Vec<f64>,
    /// √a_n times the left factor of Z − centres, N×R.
    pub left: Mat,
    /// The right factor, R×J.
    pub right: Mat,
}

/// Rank of Z: F is a smooth function of few coordinates, so that few directions capture nearly all of it.
pub const RANK: usize = 24;
/// Rounds of subspace iteration for them.
pub const ROUNDS: usize = 4;

/// Passes over rows and columns for a_n b_j.
pub const PASSES: usize = 4;

/// a_n from the mean of a row over b: a completely missing row still has an entry in HᵀaH.
pub fn row_share(mean: f64) -> f64 {
    mean.clamp(1e-3, 1e3)
}

/// b_j from the mean of a column over a.
pub fn column_share(mean: f64) -> f64 {
    mean.clamp(1e-6, 1e12)
}

impl Reference {
    /// From F near its posterior mean: there the likelihood of f_nj is roughly Gaussian about it, with the precision given by
    /// the family's information. Consumes F; `known` is its part besides Hβ. Everything is in units of the columns, so that a table in other units has the same reference.
    pub fn new(model: &Model, theta: &[Theta], known: Known<'_>, f: &mut Mat) -> Self {
        let information =
            |n: usize, some: &Range<usize>, f: &[f64], out: &mut [f64]| model.information_cells(theta, n, some, f, out);
        Self::with(model, model.chunks(), known, f, information)
    }

    /// The same with another information, over the chunks of all processes: `of(n, some, f, out)` writes that of some columns of row n at their f.
    pub(crate) fn with(
        model: &Model,
        chunks: &Chunks,
        known: Known<'_>,
        f: &mut Mat,
        of: impl Fn(usize, &Range<usize>, &[f64], &mut [f64]) + Sync,
    ) -> Self {
        let units = model.units();
        let (row, mut column) = product_form(chunks, f.rows(), |n, some, information| {
            of(n, some, &f.row(n)[some.clone()], information);
            information.iter_mut().zip(&units[some.clone()]).for_each(|(i, unit)| *i *= unit.scale.powi(2));
        });
        column.iter_mut().zip(units).for_each(|(b, unit)| *b /= unit.scale.powi(2));
        let root: Vec<f64> = row.iter().map(|a| a.sqrt()).collect();
        let columns = f.cols();
        par::rows([(f.as_mut_slice(), columns)], 2 * columns, |first, [f]| {
            for (n, f) in (first..).zip(f.chunks_exact_mut(columns)) {
                let cells = f.iter_mut().zip(units).enumerate();
                cells.for_each(|(j, (f, unit))| *f = root[n] * (*f - known.at(n, j) - unit.centre) / unit.scale);
            }
            0.0
        });
        // The basis need not be exact, and is the same for any seed.
        let mut right = leading_of(chunks, f, RANK, ROUNDS, &mut Stream::new(0).rng());
        let left = products(chunks, f, &right);
        for r in 0..right.rows() {
            right.row_mut(r).iter_mut().zip(units).for_each(|(right, unit)| *right *= unit.scale);
        }
        Reference { root, column, left, right }
    }

    /// The reference of all columns on the first process; nothing on the others.
    pub(crate) fn collect(&self, model: &Model) -> Option<Self> {
        let column = model.collect(&Mat::from_vec(1, self.column.len(), self.column.clone()));
        let right = model.collect(&self.right)?;
        Some(Reference { root: self.root.clone(), column: column?.into_vec(), left: self.left.clone(), right })
    }

    /// That of the columns of this process.
    pub(crate) fn own_of(self, model: &Model) -> Self {
        let column = self.column[model.chunks().own_columns()].to_vec();
        Reference { column, right: model.own_of(&self.right), ..self }
    }
}

/// a and b such that a_n b_j approximates the row and column means of the matrix of which `fill(n, some, …)` writes some columns of row n;
/// both stay positive. Rows are requested repeatedly, so that the matrix need not be stored. b is that of the columns of this process.
fn product_form(
    chunks: &Chunks,
    n: usize,
    fill: impl Fn(usize, &Range<usize>, &mut [f64]) + Sync,
) -> (Vec<f64>, Vec<f64>) {
    // Work of a cell, and rows that are summed together.
    const COST: usize = 8;
    const PIECE: usize = 64;
    let (mut row, mut column) = (vec![1.0; n], vec![0.0; chunks.own_columns().len()]);
    for pass in 0..=PASSES {
        if pass > 0 {
            let sums = chunks.add(&mut chunks.own(), n, |Chunk { columns, .. }, to| {
                par::rows([(to, 1)], COST * columns.len(), |first, [to]| {
                    let mut known = vec![0.0; columns.len()];
                    for (i, to) in to.iter_mut().enumerate() {
                        fill(first + i, columns, &mut known);
                        *to = known.iter().zip(&column[columns.clone()]).map(|(i, b)| i / b).sum();
                    }
                    0.0
                });
            });
            row = sums.into_iter().map(|sum| row_share(sum / chunks.columns() as f64)).collect();
        }
        if pass == PASSES {
            break;
        }
        for Chunk { columns, .. } in chunks.own() {
            let k = columns.len();
            let of_piece = |piece: usize| {
                let (mut next, mut known) = (vec![0.0; k], vec![0.0; k]);
                for (i, a) in row.iter().enumerate().skip(piece * PIECE).take(PIECE) {
                    fill(i, &columns, &mut known);
                    next.iter_mut().zip(&known).for_each(|(b, known)| *b += known / (a * n as f64));
                }
                next
            };
            let mut next = vec![0.0; k];
            for own in par::map(n.div_ceil(PIECE), COST * n * k, of_piece) {
                next.iter_mut().zip(own).for_each(|(next, own)| *next += own);
            }
            column[columns].iter_mut().zip(next).for_each(|(b, next)| *b = column_share(next));
        }
    }
    (row, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_found_and_missing_rows_stay_positive() {
        let information = Mat::from_fn(6, 4, |n, j| (1.0 + n as f64) * (0.5 + j as f64));
        let (row, column) =
            product_form(&Chunks::new(4, &[]), 6, |n, _, known| known.copy_from_slice(information.row(n)));
        for n in 0..6 {
            for j in 0..4 {
                assert!((row[n] * column[j] / information[(n, j)] - 1.0).abs() < 1e-12);
            }
        }
        let (row, column) = product_form(&Chunks::new(2, &[]), 3, |_, _, known| known.fill(0.0));
        assert!(row.iter().chain(&column).all(|&v| v > 0.0));
    }
}
