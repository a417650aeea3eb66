//! The gradient of each column's predictor in the latent space, on the scale of its link.
//!
//! A position and a direction of the frame are mapped back into each draw, where the derivative of sin w·x along v is (w·v) cos w·x: like f, it
//! is linear in the weights.

use super::fitted::{Fitted, HELD};
use super::frame::Frame;
use super::link::to_link_scale;
use super::parameters::Parameters;
use super::summary::Summary;
use crate::error::RunError;
use crate::linalg::{Mat, mul};
use crate::model::Model;
use crate::placement::Placement;

impl Fitted<'_> {
    /// The derivative of each column along a direction of the frame, per unit of its length: at a position of the frame, or averaged over
    /// the rows, each at its own position. From at most `most` draws of the mode to which the frame belongs.
    pub fn gradient(
        &self,
        frame: &Frame,
        direction: &[f64],
        at: Option<&[f64]>,
        most: usize,
    ) -> Result<Vec<Summary>, RunError> {
        let most = most.min(HELD / self.model.columns()).max(1);
        let mut draws: Vec<Vec<f64>> = Vec::new();
        let compute = |parameters: &Parameters, _| {
            let placement = frame.of(&parameters.x, &parameters.w);
            let mut slopes = along(self.model, parameters, &placement, (direction, at));
            to_link_scale(self.model, &mut slopes);
            slopes.into_vec()
        };
        self.each_draw(&self.visited_in_map(most)?, compute, |slopes| draws.push(slopes))?;
        Ok(of_columns(&draws, self.model.columns()))
    }
}

/// The summary of each column, from one number per column in each draw.
pub(super) fn of_columns(draws: &[Vec<f64>], columns: usize) -> Vec<Summary> {
    (0..columns).map(|j| Summary::of(draws.iter().map(|draw| draw[j]).collect())).collect()
}

/// The derivatives of all columns under a draw, 1×J.
fn along(
    model: &Model,
    parameters: &Parameters,
    placement: &Placement,
    (direction, at): (&[f64], Option<&[f64]>),
) -> Mat {
    let Parameters { w, s, beta, .. } = parameters;
    let x = at.map_or_else(|| parameters.x.clone(), |at| placement.back(&Mat::from_vec(1, at.len(), at.to_vec())));
    let step = placement.step_back(direction);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (count, scale) = (w.rows(), (w.rows() as f64).sqrt().recip());
    let mut slope = Mat::zeros(1, beta.rows());
    let row = slope.row_mut(0);
    for (l, w) in w.iter_rows().enumerate() {
        let phases = x.iter_rows().map(|x| product(w, x).sin_cos());
        let (sin, cos) = phases.fold((0.0, 0.0), |sum, (sin, cos)| (sum.0 + sin, sum.1 + cos));
        let along = scale * product(w, &step) / x.rows() as f64;
        (row[l], row[count + l]) = (along * cos, -along * sin);
    }
    row[model.linear()].iter_mut().zip(&step).for_each(|(to, step)| *to = s * step);
    let mut slopes = Mat::zeros(1, beta.cols());
    mul(slopes.as_mut_slice(), slope.view(), beta.view(), false);
    slopes
}

#[cfg(test)]
mod tests;
