//! Summaries of the draws of a cell.

use super::diagnostics::quantile;
use super::spread::mean_and_sd;
use crate::linalg::Mat;
use crate::model::Model;
use crate::model::family::{Row, Theta};
use crate::rng::Stream;
use std::ops::Range;

/// Summary of the posterior predictive distribution of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// Posterior mean of E[y | f]; NaN if it does not exist.
    pub mean: f64,
    /// Standard deviation; NaN if it does not exist.
    pub sd: f64,
    /// Quantiles at 5%, 50% and 95%.
    pub quantiles: [f64; 3],
}

/// Replicates of some rows under one draw of the parameters: E[y | f] and a draw of y, rows × columns of the model.
pub(super) struct Replica {
    pub expected: Mat,
    pub drawn: Mat,
}

impl Replica {
    /// Empty, to be filled.
    pub fn empty(rows: usize, columns: usize) -> Self {
        Replica { expected: Mat::zeros(rows, columns), drawn: Mat::zeros(rows, columns) }
    }

    /// Fills row `place` from the families of a model given f; `n` and `y` provide trials.
    pub fn fill(
        &mut self,
        place: usize,
        model: &Model,
        theta: &[Theta],
        (n, y): (usize, &[f64]),
        f: &[f64],
        stream: Stream,
    ) {
        let rng = &mut stream.rng();
        for (block, theta) in model.blocks().iter().zip(theta) {
            let columns = block.columns.clone();
            let row = Row { n, first: 0, y: &y[columns.clone()], theta };
            let f = &f[columns.clone()];
            block.family.mean(row, f, &mut self.expected.row_mut(place)[columns.clone()]);
            block.family.simulate(row, f, &mut self.drawn.row_mut(place)[columns], rng);
        }
        // Without trials there is no count.
        let cells = self.drawn.row_mut(place).iter_mut().zip(self.expected.row(place));
        cells.filter(|(_, expected)| expected.is_nan()).for_each(|(y, _)| *y = f64::NAN);
    }
}

/// Summaries of the cells of `rows` rows (outer) and `columns` columns (inner) over `draws` draws. `visit` passes the replicates of
/// some rows, draw after draw; no more than `held` values are held at once.
pub(super) fn gather<E>(
    (rows, columns): (usize, usize),
    draws: usize,
    held: usize,
    mut visit: impl FnMut(Range<usize>, &mut dyn FnMut(&Replica)) -> Result<(), E>,
) -> Result<Vec<Vec<Predicted>>, E> {
    let height = (held / (columns * draws).max(1)).max(1);
    let mut cells = Vec::with_capacity(rows);
    for start in (0..rows).step_by(height) {
        let some = start..(start + height).min(rows);
        let mut means = vec![0.0; some.len() * columns];
        let mut drawn = vec![Vec::with_capacity(draws); some.len() * columns];
        visit(some, &mut |replica| {
            let each = replica.expected.as_slice().iter().zip(replica.drawn.as_slice());
            for ((mean, drawn), (expected, y)) in means.iter_mut().zip(&mut drawn).zip(each) {
                *mean += expected / draws as f64;
                drawn.push(*y);
            }
        })?;
        let cell = |(mean, drawn): (&f64, &mut Vec<f64>)| Predicted::of(*mean, drawn);
        let rows = means.chunks(columns).zip(drawn.chunks_mut(columns));
        cells.extend(rows.map(|(means, drawn)| means.iter().zip(drawn).map(cell).collect()));
    }
    Ok(cells)
}

impl Predicted {
    /// The mean; the median if there is no mean.
    pub fn centre(&self) -> f64 {
        if self.mean.is_nan() { self.quantiles[1] } else { self.mean }
    }

    /// Of a cell that is 1 with this probability, and otherwise 0.
    pub fn of_share(share: f64) -> Self {
        let quantiles = [0.05, 0.5, 0.95].map(|p| f64::from(u8::from(1.0 - share < p)));
        Predicted { mean: share, sd: (share * (1.0 - share)).sqrt(), quantiles }
    }

    /// The quantiles alone.
    pub(super) fn without_moments(self) -> Self {
        Predicted { mean: f64::NAN, sd: f64::NAN, ..self }
    }

    /// From the mean of E[y | f] and draws of y, which it sorts.
    pub fn of(mean: f64, drawn: &mut [f64]) -> Self {
        drawn.sort_unstable_by(f64::total_cmp);
        Predicted { mean, sd: mean_and_sd(drawn).1, quantiles: [0.05, 0.5, 0.95].map(|p| quantile(drawn, p)) }
    }
}
