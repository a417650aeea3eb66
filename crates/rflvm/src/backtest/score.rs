//! Means of the scores over cells, each in units of its column's standard deviation.

use super::{Backtest, Held};
use crate::model::Model;

/// The scores of one method over some cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// Number of cells.
    pub cells: usize,
    /// Mean continuous ranked probability score.
    pub crps: f64,
    /// Mean squared error of the mean.
    pub mse: f64,
    /// Mean absolute error of the median.
    pub mae: f64,
    /// Mean log predictive density of a cell (of a row, for multinomial ones), where the method has one.
    pub ln_density: Option<f64>,
    /// Fraction of cells in the central intervals of 50% and 90%.
    pub coverage: [f64; 2],
}

impl Backtest {
    /// The scores of each method over the cells that `keep` chooses.
    pub fn scores(&self, keep: impl Fn(&Held) -> bool) -> Vec<Scores> {
        let chosen: Vec<&Held> = self.cells.iter().filter(|cell| keep(cell)).collect();
        (0..self.methods.len()).map(|method| self.score(method, &chosen)).collect()
    }

    fn score(&self, method: usize, chosen: &[&Held]) -> Scores {
        let count = chosen.len() as f64;
        let mean = |value: &dyn Fn(&Held) -> f64| chosen.iter().map(|cell| value(cell)).sum::<f64>() / count;
        let of = |cell: &Held| cell.outlooks[method];
        let unit = |cell: &Held| self.units[cell.column];
        let densities: Vec<f64> = chosen.iter().filter_map(|cell| of(cell).ln_density).collect();
        let ln_density = densities.iter().sum::<f64>() / densities.len() as f64;
        Scores {
            cells: chosen.len(),
            crps: mean(&|cell| of(cell).crps / unit(cell)),
            mse: mean(&|cell| ((of(cell).mean - cell.truth) / unit(cell)).powi(2)),
            mae: mean(&|cell| (of(cell).quantiles[2] - cell.truth).abs() / unit(cell)),
            ln_density: (!densities.is_empty()).then_some(ln_density),
            coverage: [0, 1].map(|i| mean(&|cell| f64::from(of(cell).holds(cell.truth)[i]))),
        }
    }
}

/// Standard deviation of the observed cells of each column; 1 for a constant column.
pub(super) fn units(model: &Model) -> Vec<f64> {
    let of = |j: usize| {
        let seen: Vec<f64> = (0..model.rows()).map(|n| model.y()[(n, j)]).filter(|v| !v.is_nan()).collect();
        let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
        let sd = (seen.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / seen.len().max(1) as f64).sqrt();
        if sd > 0.0 { sd } else { 1.0 }
    };
    (0..model.columns()).map(of).collect()
}
