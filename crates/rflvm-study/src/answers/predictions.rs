//! Predictions of rows of the table, as if they were observed again, and of points of the latent space.

use super::cells::{Cells, Of};
use super::{Column, OF_AXIS};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::frame::Frame;

/// Rows of the table, counted from 0, with the covariates `NAME=VALUE` in place of theirs.
pub fn rows<'a>(fit: &'a Fit, drawn: &'a Drawn, rows: Vec<usize>, covariates: &[String]) -> Result<Cells<'a>, Error> {
    let lead = vec![Column::counts("row", rows.iter().map(|n| n + 1).collect())];
    let of = match covariates {
        [] => Of::Rows(rows),
        texts => Of::Adjusted { covariates: fit.covariates_of_rows(&rows, texts)?, rows },
    };
    Ok(Cells { fit, drawn, lead, of })
}

/// Points of the latent space in the frame of the positions, with their covariates. They have the mean of the rows' offsets.
pub fn places<'a>(
    fit: &'a Fit,
    drawn: &'a Drawn,
    (frame, x): (Frame, Mat),
    covariates: Mat,
) -> Result<Cells<'a>, Error> {
    if frame.axes() != x.cols() {
        let rule = format!("the positions of this fit have {}; give the same number", frame.axes());
        let setting = "the number of axes of the places";
        return Err(SpecError::Setting { setting, value: x.cols().to_string(), rule }.into());
    }
    let mut lead = vec![Column::counts("point", (1..=x.rows()).collect())];
    lead.extend((0..x.cols()).map(|d| Column::numbers(format!("x{}", d + 1), OF_AXIS, x.col(d))));
    let offset = fit.mean_offset().unwrap_or(0.0);
    Ok(Cells { fit, drawn, lead, of: Of::Places { frame, x, offset, covariates } })
}
