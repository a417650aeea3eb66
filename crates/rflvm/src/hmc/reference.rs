//! A Gaussian approximation of the likelihood of F: responses Z, minus the centres of their columns, with precisions a_n b_j. It
//! defines the coordinates of the joint gradient move. It only affects how fast the move mixes, never the distribution it samples.

use crate::linalg::{Mat, leading, par_mul};
use crate::model::family::Theta;
use crate::model::{Known, Model};
use crate::par;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

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
const RANK: usize = 24;
/// Rounds of subspace iteration for them.
const ROUNDS: usize = 4;

impl Reference {
    /// From F near its posterior mean: there the likelihood of f_nj is roughly Gaussian about it, with the precision given by
    /// the family's information. Consumes F; `known` is its part besides Hβ. Everything is in units of the columns, so that a table in other units has the same reference.
    pub fn new(model: &Model, theta: &[Theta], known: Known<'_>, f: &mut Mat) -> Self {
        let units = model.units();
        let (row, mut column) = product_form(f.rows(), f.cols(), |n, information| {
            for (block, theta) in model.blocks().iter().zip(theta) {
                let range = block.columns.clone();
                block.family.information(model.row(block, n, theta), &f.row(n)[range.clone()], &mut information[range]);
            }
            information.iter_mut().zip(units).for_each(|(i, unit)| *i *= unit.scale.powi(2));
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
        let mut right = leading(f, RANK, ROUNDS, &mut Stream::new(0).rng());
        let mut left = Mat::zeros(f.rows(), right.rows());
        par_mul(&mut left, f.view(), right.view().transpose(), false);
        for r in 0..right.rows() {
            right.row_mut(r).iter_mut().zip(units).for_each(|(right, unit)| *right *= unit.scale);
        }
        Reference { root, column, left, right }
    }
}

/// a and b such that a_n b_j approximates the row and column means of the matrix whose row n is written by `fill(n, …)`;
/// both stay positive. Rows are requested repeatedly, so that the matrix need not be stored.
fn product_form(n: usize, j: usize, fill: impl Fn(usize, &mut [f64]) + Sync) -> (Vec<f64>, Vec<f64>) {
    const PASSES: usize = 4;
    // Work of a cell, and rows that are summed together.
    const COST: usize = 8;
    const PIECE: usize = 64;
    let (mut row, mut column) = (vec![1.0; n], vec![0.0; j]);
    for pass in 0..=PASSES {
        let of_piece = |piece: usize| {
            let (mut a, mut next, mut known) = (Vec::with_capacity(PIECE), vec![0.0; j], vec![0.0; j]);
            for i in piece * PIECE..((piece + 1) * PIECE).min(n) {
                fill(i, &mut known);
                let mean = known.iter().zip(&column).map(|(i, b)| i / b).sum::<f64>() / j as f64;
                // A completely missing row still has an entry in HᵀaH.
                a.push(if pass > 0 { mean.clamp(1e-3, 1e3) } else { 1.0 });
                next.iter_mut().zip(&known).for_each(|(b, i)| *b += i / (a[a.len() - 1] * n as f64));
            }
            (a, next)
        };
        let pieces = par::map(n.div_ceil(PIECE), COST * n * j, of_piece);
        let mut next = vec![0.0; j];
        row.clear();
        for (a, of_piece) in pieces {
            row.extend(a);
            next.iter_mut().zip(of_piece).for_each(|(next, own)| *next += own);
        }
        if pass < PASSES {
            column.iter_mut().zip(next).for_each(|(b, next)| *b = next.clamp(1e-6, 1e12));
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
        let (row, column) = product_form(6, 4, |n, known| known.copy_from_slice(information.row(n)));
        for n in 0..6 {
            for j in 0..4 {
                assert!((row[n] * column[j] / information[(n, j)] - 1.0).abs() < 1e-12);
            }
        }
        let (row, column) = product_form(3, 2, |_, known| known.fill(0.0));
        assert!(row.iter().chain(&column).all(|&v| v > 0.0));
    }
}
