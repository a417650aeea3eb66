//! How unusual a new row is compared with the fit's own: ln p(y_n | all other rows), for some of these.
//!
//! A row of the fit has influenced the draws, so its p(y_n | Y) would be too high. It is left out by reweighting: draws
//! given all rows get weight 1/p(y_n | W, β, θ) as draws given all but row n, and
//! p(y_n | others) = Σ_s v_s p_s / Σ_s v_s with v_s = 1/p_s (Gelfand 1996), large weights smoothed ([`psis`](crate::posterior::psis));
//! otherwise one draw may dominate. With smoothing, an influential row looks slightly less unusual than it is.

use super::density::ln_row_density;
use super::target::{Prior, Target};
use crate::dist::ln_sum_exp;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::latent::Paths;
use crate::model::position::Positions;
use crate::model::{Known, Model};
use crate::par;
use crate::posterior::column_process::elsewhere;
use crate::posterior::parameters::Parameters;
use crate::posterior::psis::smooth;
use crate::rng::Stream;

/// Number of the fit's rows used for comparison: a fraction is then known to a twentieth.
const ROWS: usize = 100;

/// Some of the training rows.
pub struct OwnRows {
    rows: Vec<usize>,
    cells: Vec<usize>,
    /// ln p(y_n | W, β, θ) of each row, one value per draw.
    ln_evidence: Vec<Vec<f64>>,
}

impl OwnRows {
    /// Rows evenly spaced over those with any observed cell.
    pub fn new(model: &Model) -> Self {
        let all: Vec<usize> = (0..model.rows()).filter(|&n| model.observed(n) > 0).collect();
        let count = ROWS.min(all.len());
        let rows: Vec<usize> = (0..count).map(|i| all[(2 * i + 1) * all.len() / (2 * count)]).collect();
        let cells = rows.iter().map(|&n| model.observed(n)).collect();
        OwnRows { ln_evidence: vec![Vec::new(); rows.len()], rows, cells }
    }

    /// For one draw. The position of a row in it starts the mode search.
    pub fn ln_evidence(
        &self,
        model: &Model,
        parameters: &Parameters,
        stream: Stream,
    ) -> Result<Vec<f64>, NumericalError> {
        let own = elsewhere(model, &parameters.column_process, &self.rows, stream.named("own paths"));
        let positions = Positions::new(model, &parameters.theta, &parameters.beta, (&parameters.w, parameters.s));
        let positions = positions.beside(Known::new(model.offset(), &own));
        let (mean, sd) = match model.dynamics() {
            Some(dynamics) => Paths::new(dynamics, &parameters.axes)?.given_others(&parameters.x, &self.rows),
            None => {
                let shape = (self.rows.len(), parameters.x.cols());
                (Mat::zeros(shape.0, shape.1), Mat::from_fn(shape.0, shape.1, |_, _| 1.0))
            }
        };
        let each = par::map(self.rows.len(), 1000 * self.rows.len() * model.columns(), |i| {
            let n = self.rows[i];
            let target = Target { positions: &positions, row: n, prior: Prior { mean: mean.row(i), sd: sd.row(i) } };
            ln_row_density(&target, parameters.x.row(n), stream.at(n as u64))
        });
        each.into_iter().collect()
    }

    /// Adds the results of a draw.
    pub fn take(&mut self, ln_evidence: Vec<f64>) {
        self.ln_evidence.iter_mut().zip(ln_evidence).for_each(|(all, one)| all.push(one));
    }

    /// Fraction of these rows with a higher density than each new one.
    pub fn outlier_score(&self, ln_density: &[f64], cells: &[usize]) -> Vec<f64> {
        let known: Vec<f64> =
            self.ln_evidence.iter().zip(&self.cells).map(|(draws, &c)| ln_left_out(draws) / c as f64).collect();
        let share = |(&value, &cells): (&f64, &usize)| {
            if cells == 0 || known.is_empty() {
                return f64::NAN;
            }
            let above = known.iter().filter(|k| **k > value / cells as f64).count();
            above as f64 / known.len() as f64
        };
        ln_density.iter().zip(cells).map(share).collect()
    }
}

/// ln p(y_n | others), from ln p(y_n | W, β, θ) of draws given all rows.
fn ln_left_out(ln_evidence: &[f64]) -> f64 {
    let weights = smooth(&ln_evidence.iter().map(|p| -p).collect::<Vec<_>>(), 1.0).ln_weights;
    ln_sum_exp(&weights.iter().zip(ln_evidence).map(|(w, p)| w + p).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_left_out_is_a_harmonic_mean_whose_heaviest_draws_are_smoothed() {
        // Too few draws for a tail: 3/(1 + 2 + 4).
        let draws = [0.0, -(2.0_f64.ln()), -(4.0_f64.ln())];
        assert!((ln_left_out(&draws) - (3.0_f64 / 7.0).ln()).abs() < 1e-12);
        // A hundred draws of which one would dominate the rest without smoothing.
        let mut draws: Vec<f64> = (0..100).map(|i| 0.01 * f64::from(i)).collect();
        draws[7] = -20.0;
        let harmonic = (100.0_f64).ln() - ln_sum_exp(&draws.iter().map(|p| -p).collect::<Vec<_>>());
        assert!(harmonic < -15.0 && ln_left_out(&draws) > harmonic + 1.0, "{}", ln_left_out(&draws));
    }
}
