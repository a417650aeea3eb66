//! Draws in memory: X, W, z, θ and the scalars of each draw; running moments of E[y | f] in place of F, which would not fit.

use super::{Draw, Draws};
use crate::error::StoreError;
use crate::linalg::Mat;
use crate::model::family::Theta;

/// The draws of one chain.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// X of each draw.
    pub x: Vec<Mat>,
    /// W of each draw.
    pub w: Vec<Mat>,
    /// z of each draw.
    pub z: Vec<Vec<usize>>,
    /// θ of each draw, one a block.
    pub theta: Vec<Vec<Theta>>,
    /// K of each draw.
    pub clusters: Vec<usize>,
    /// α of each draw.
    pub alpha: Vec<f64>,
    /// ln p(Y | F, θ) of each draw.
    pub ln_likelihood: Vec<f64>,
    /// Joint log density of each draw.
    pub ln_joint: Vec<f64>,
    /// Mean of E[y | f] over the draws, N×J in the model's order of columns.
    pub mean: Mat,
}

impl Draws for Memory {
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
        let (model, state) = (draw.model, draw.state);
        self.x.push(state.features.x().clone());
        self.w.push(state.features.w().clone());
        self.z.push(state.spectral.z.clone());
        self.theta.push(state.theta.clone());
        self.clusters.push(state.spectral.count());
        self.alpha.push(state.spectral.alpha);
        self.ln_likelihood.push(draw.ln_likelihood);
        self.ln_joint.push(draw.ln_joint);
        if self.mean.rows() == 0 {
            self.mean = Mat::zeros(model.rows(), model.columns());
        }
        let weight = 1.0 / self.x.len() as f64;
        let mut cells = vec![0.0; model.columns()];
        for n in 0..model.rows() {
            model.expected_row(state, n, &mut cells);
            for (mean, cell) in self.mean.row_mut(n).iter_mut().zip(&cells) {
                *mean += weight * (cell - *mean);
            }
        }
        Ok(())
    }
}
