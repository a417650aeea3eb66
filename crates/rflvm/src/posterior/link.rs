//! The linear predictor on the scale of the link, and the expected cells that belong to it.
//!
//! The last category of a multinomial has no weights, so that the predictors of the others are relative to it. For questions about columns, all
//! are taken relative to their mean: f_nj − (1/J) Σ_k f_nk, the logarithm of a share over the geometric mean of all shares of the row
//! (Aitchison 1982), in which no category is special.

use crate::linalg::Mat;
use crate::model::Model;
use crate::model::family::{Row, Theta};

/// Changes rows of F, or of the weights, to the scale of the link.
pub(super) fn to_link_scale(model: &Model, rows: &mut Mat) {
    for block in model.blocks() {
        if block.columns.clone().all(|j| model.is_free(j)) {
            continue;
        }
        for n in 0..rows.rows() {
            let row = &mut rows.row_mut(n)[block.columns.clone()];
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            row.iter_mut().for_each(|f| *f -= mean);
        }
    }
}

/// E[y | f] of rows that are not in the table: a multinomial row has one trial, and so has a binomial cell unless all have the same number.
pub(super) fn expected(model: &Model, theta: &[Theta], f: &Mat) -> Mat {
    let mut cells = Mat::zeros(f.rows(), f.cols());
    let unseen = vec![f64::NAN; f.cols()];
    for i in 0..f.rows() {
        for (block, theta) in model.blocks().iter().zip(theta) {
            let columns = block.columns.clone();
            let row = Row { n: model.rows(), first: 0, y: &unseen[columns.clone()], theta };
            block.family.mean(row, &f.row(i)[columns.clone()], &mut cells.row_mut(i)[columns]);
        }
    }
    cells
}
