//! The density of a row with unknown position: p(y_n | W, β, θ) = ∫ p(y_n | x, W, β, θ) N(x; 0, I) dx, by the importance
//! sampling that places new rows ([`transform`](super::transform)): an unbiased estimate.

use super::parameters::Parameters;
use super::transform::density::ln_row_density;
use super::transform::target::{Prior, Target};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::position::Positions;
use crate::model::{Known, Model, State};
use crate::rng::Stream;

/// Rows of one state.
pub struct RowDensity<'a> {
    positions: Positions<'a>,
    x: &'a Mat,
    /// Mean and standard deviation of the prior.
    prior: [Vec<f64>; 2],
}

impl<'a> RowDensity<'a> {
    /// At W, β and θ of a state.
    pub fn of_state(model: &'a Model, state: &'a State) -> Self {
        let features = (state.features.w(), state.features.plain().s());
        Self::at(
            state.features.x(),
            Positions::new(model, &state.theta, &state.beta, features).beside(model.known(state)),
        )
    }

    /// At those of a stored draw.
    pub fn new(model: &'a Model, draw: &'a Parameters) -> Self {
        let positions = Positions::new(model, &draw.theta, &draw.beta, (&draw.w, draw.s));
        Self::at(&draw.x, positions.beside(Known::new(model.offset(), &draw.column_process.g)))
    }

    fn at(x: &'a Mat, positions: Positions<'a>) -> Self {
        RowDensity { positions, x, prior: [vec![0.0; x.cols()], vec![1.0; x.cols()]] }
    }

    /// ln p(y_n | W, β, θ), from random points.
    pub fn ln(&self, n: usize, stream: Stream) -> Result<f64, NumericalError> {
        let [mean, sd] = &self.prior;
        let target = Target { positions: &self.positions, row: n, prior: Prior { mean, sd } };
        ln_row_density(&target, self.x.row(n), stream)
    }
}

#[cfg(test)]
mod tests;
