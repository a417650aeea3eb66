//! Leave-one-out: ln p(y_n | Y without row n), from a fit of all rows.
//!
//! A row is left out with its position, so draws are weighted by 1/p(y_n | W, β, θ) with x_n integrated out
//! (`row_density`), smoothed ([`psis`](super::psis)): Σ_s w_s p_s / Σ_s w_s. A k̂ above 0.7 means that the
//! posterior without the row is too different for the weights to be reliable.

use super::diagnostics::diagnose;
use super::mixing::{Mixing, Trace};
use super::psis::{Smoothed, TRUSTED, smooth};
use super::ranking::RowScores;
use super::row_density::RowDensity;
use crate::dist::ln_sum_exp;
use crate::draws::{Draw, Draws};
use crate::error::{NumericalError, StoreError};
use crate::model::Model;
use crate::par;
use crate::rng::Stream;

/// ln p(y_n | W, β, θ) of each row and draw of one chain.
#[derive(Debug)]
pub struct LeaveOut {
    stream: Stream,
    /// One vector per row; empty for a row without observed cells.
    ln_density: Vec<Vec<f64>>,
    trace: Trace,
    problem: Option<NumericalError>,
}

impl LeaveOut {
    /// For one chain, with its own random stream.
    pub fn new(model: &Model, stream: Stream) -> Self {
        LeaveOut { stream, ln_density: vec![Vec::new(); model.rows()], trace: Trace::new(model), problem: None }
    }
}

impl Draws for LeaveOut {
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
        let (model, state) = (draw.model, draw.state);
        let seen: Vec<usize> = (0..model.rows()).filter(|&n| model.y().row(n).iter().any(|v| !v.is_nan())).collect();
        let stream = self.stream.at(self.trace.draws() as u64);
        let density = RowDensity::of_state(model, state);
        let work = seen.len() * model.columns() * model.spec().features;
        let each = par::map(seen.len(), work, |i| density.ln(seen[i], stream.at(seen[i] as u64)));
        for (n, ln_density) in seen.into_iter().zip(each) {
            match ln_density {
                Ok(v) => self.ln_density[n].push(v),
                Err(problem) => self.problem = Some(problem),
            }
        }
        self.trace.push(draw);
        Ok(())
    }
}

/// Leave-one-out results, from all chains.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// ln p(y_n | Y without row n); one point per row.
    pub rows: RowScores,
    /// k̂ of each row that has observed cells.
    pub k: Vec<f64>,
    /// How well the chains have mixed.
    pub mixing: Mixing,
}

impl LeftOut {
    /// Rows whose k̂ is above 0.7.
    pub fn doubtful(&self) -> usize {
        self.k.iter().filter(|k| **k > TRUSTED).count()
    }
}

/// From the chains that are used.
pub fn left_out(chains: &[LeaveOut]) -> Result<LeftOut, NumericalError> {
    if let Some(problem) = chains.iter().find_map(|c| c.problem.clone()) {
        return Err(problem);
    }
    let mixing = Mixing::of(&chains.iter().map(|c| &c.trace).collect::<Vec<_>>());
    let used: Vec<&LeaveOut> = chains.iter().zip(&mixing.verdicts).filter(|(_, v)| v.used).map(|(c, _)| c).collect();
    let count = used.first().map_or(0, |c| c.ln_density.len());
    let of_row = |n: usize| -> Option<(f64, f64)> {
        let each: Vec<&[f64]> = used.iter().map(|c| c.ln_density[n].as_slice()).collect();
        (!each[0].is_empty()).then(|| left_out_of(&each))
    };
    let all = par::map(count, usize::MAX, of_row);
    let rows = RowScores {
        ln_density: all.iter().map(|r| r.map_or(0.0, |r| r.0)).collect(),
        points: all.iter().map(|r| usize::from(r.is_some())).collect(),
    };
    Ok(LeftOut { rows, k: all.into_iter().flatten().map(|r| r.1).collect(), mixing })
}

/// ln Σ_s w_s p_s and k̂ of a point, from its log densities in each chain.
pub(super) fn left_out_of(chains: &[&[f64]]) -> (f64, f64) {
    let all: Vec<f64> = chains.iter().flat_map(|c| c.iter().copied()).collect();
    let top = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let densities: Vec<Vec<f64>> = chains.iter().map(|c| c.iter().map(|v| (v - top).exp()).collect()).collect();
    let diagnosis = diagnose(&densities);
    // Effective draws of the mean density, as a fraction of all draws.
    let share = (diagnosis.sd / diagnosis.mcse_mean).powi(2) / all.len() as f64;
    let efficiency = if share.is_finite() { share.clamp(1e-3, 1.0) } else { 1.0 };
    let Smoothed { ln_weights, k } = smooth(&all.iter().map(|v| -v).collect::<Vec<_>>(), efficiency);
    let terms: Vec<f64> = ln_weights.iter().zip(&all).map(|(w, v)| w + v).collect();
    (ln_sum_exp(&terms), k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{ln_normal, normal, normals};

    /// y_n ~ N(μ, 1), μ ~ N(0, 100): the leave-one-out densities and the draws are known.
    #[test]
    fn rows_of_a_conjugate_model_are_left_out_exactly() {
        const ROWS: usize = 12;
        const DRAWS: usize = 2000;
        let mut rng = Stream::new(1).rng();
        let y = normals(ROWS, &mut rng);
        let precision = |rows: usize| 0.01 + rows as f64;
        let total: f64 = y.iter().sum();
        let means: Vec<f64> =
            (0..2 * DRAWS).map(|_| total / precision(ROWS) + normal(&mut rng) / precision(ROWS).sqrt()).collect();
        for &y in &y {
            let of = |means: &[f64]| -> Vec<f64> { means.iter().map(|&m| ln_normal(y, m, 1.0)).collect() };
            let (first, second) = (of(&means[..DRAWS]), of(&means[DRAWS..]));
            let (ln_density, k) = left_out_of(&[&first, &second]);
            let left = precision(ROWS - 1);
            let exact = ln_normal(y, (total - y) / left, 1.0 + 1.0 / left);
            // Weights 1/p have a variance of about 1/ROWS, so the log density an error of about √(1/ROWS/4000) = 0.005.
            assert!((ln_density - exact).abs() < 0.02, "{ln_density}, exactly {exact}");
            assert!(k < TRUSTED, "{k}");
        }
    }
}
