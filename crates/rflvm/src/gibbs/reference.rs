//! A Gaussian stand-in for the likelihood of F: responses Z with precisions a_n b_j. The joint gradient move takes its
//! coordinates from it. It only decides how fast the move mixes, never what it draws from.

use crate::linalg::{Mat, leading, par_mul};
use crate::model::Model;
use crate::model::family::Theta;
use crate::rng::Stream;
use serde::{Deserialize, Serialize};

/// Z = left · right with precisions a_n b_j.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// √a_n, one a row.
    pub(super) root: Vec<f64>,
    /// b_j, one a column.
    pub(super) column: Vec<f64>,
    /// √a_n times the left factor of Z, N×R.
    pub(super) left: Mat,
    /// The right factor of Z, R×J.
    pub(super) right: Mat,
}

/// Rank of Z: F is a smooth function of few coordinates, so that few directions hold nearly all of it.
const RANK: usize = 24;
/// Rounds of subspace iteration for it.
const ROUNDS: usize = 4;

impl Reference {
    /// From F near its posterior mean: there the likelihood of f_nj is roughly Gaussian about it, and knows it as well as
    /// the family's information says.
    pub fn new(model: &Model, theta: &[Theta], f: &Mat) -> Self {
        let (n, j) = (f.rows(), f.cols());
        let mut information = Mat::zeros(n, j);
        for i in 0..n {
            for (block, theta) in model.blocks().iter().zip(theta) {
                let range = block.columns.clone();
                let row = model.row(block, i, theta);
                block.family.information(row, &f.row(i)[range.clone()], &mut information.row_mut(i)[range]);
            }
        }
        let (row, column) = product_form(&information);
        let root: Vec<f64> = row.iter().map(|a| a.sqrt()).collect();
        let weighted = Mat::from_fn(n, j, |i, c| root[i] * (f[(i, c)] - model.offset()[i]));
        // The basis need not be exact, and is the same for any seed.
        let right = leading(&weighted, RANK, ROUNDS, &mut Stream::new(0).rng());
        let mut left = Mat::zeros(n, right.rows());
        par_mul(&mut left, weighted.view(), right.view().transpose(), false);
        Reference { root, column, left, right }
    }
}

/// a and b such that a_n b_j has the row and column means of the matrix, as far as it can; both stay positive.
fn product_form(information: &Mat) -> (Vec<f64>, Vec<f64>) {
    const PASSES: usize = 4;
    let (n, j) = (information.rows(), information.cols());
    let (mut row, mut column) = (vec![1.0; n], vec![0.0; j]);
    for _ in 0..PASSES {
        column.fill(0.0);
        for (a, information) in row.iter().zip(information.iter_rows()) {
            column.iter_mut().zip(information).for_each(|(b, i)| *b += i / (a * n as f64));
        }
        column.iter_mut().for_each(|b| *b = b.clamp(1e-6, 1e12));
        for (a, information) in row.iter_mut().zip(information.iter_rows()) {
            let mean = information.iter().zip(&column).map(|(i, b)| i / b).sum::<f64>() / j as f64;
            // A row that is missing altogether still has a place in HᵀaH.
            *a = mean.clamp(1e-3, 1e3);
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
        let (row, column) = product_form(&information);
        for n in 0..6 {
            for j in 0..4 {
                assert!((row[n] * column[j] / information[(n, j)] - 1.0).abs() < 1e-12);
            }
        }
        let (row, column) = product_form(&Mat::zeros(3, 2));
        assert!(row.iter().chain(&column).all(|&v| v > 0.0));
    }
}
