//! Imputation of missing cells.
//!
//! Given a draw of the parameters, a missing cell is a draw from its family given f. Over the draws of the posterior these are
//! draws of the posterior predictive distribution p(y_nj | Y). The trials of a missing multinomial row are unknown: its
//! cells are those of a single trial, so that their means are probabilities.

use super::fitted::{Fitted, HELD};
use super::parameters::{Parameters, Stored};
use super::predicted::Predicted;
use crate::error::RunError;
use crate::linalg::Mat;
use crate::model::Model;
use crate::par;
use crate::rng::Stream;

/// A missing cell; NaN if the trials of a binomial cell are missing too. A cell that has no mean has quantiles only.
#[derive(Debug, Clone, PartialEq)]
pub struct Imputed {
    /// Its row.
    pub row: usize,
    /// Its column, in the model's order.
    pub column: usize,
    /// Summary of its posterior predictive distribution.
    pub predicted: Predicted,
    /// Probabilities of its levels 1, 2, …; empty where cells are no levels.
    pub levels: Vec<f64>,
}

impl Fitted<'_> {
    /// Passes every missing cell to `take`, row by row in the order of the table's columns, from at most `most` draws.
    pub fn missing_cells(&self, most: usize, mut take: impl FnMut(Imputed)) -> Result<(), RunError> {
        let visited = self.visited(most)?;
        for rows in batches(self.model, visited.len()) {
            let cells: Vec<(usize, usize)> =
                rows.iter().flat_map(|&n| missing(self.model, n).into_iter().map(move |j| (n, j))).collect();
            let mut means = vec![0.0; cells.len()];
            let mut drawn = vec![Vec::with_capacity(visited.len()); cells.len()];
            self.visit_missing(&visited, &rows, |_, filled| {
                let each = filled.iter().flatten();
                for ((mean, drawn), cell) in means.iter_mut().zip(&mut drawn).zip(each) {
                    *mean += cell.0 / visited.len() as f64;
                    drawn.push(cell.1);
                }
            })?;
            for (((row, column), mean), mut drawn) in cells.into_iter().zip(means).zip(drawn) {
                let predicted = Predicted::of(mean, &mut drawn);
                let predicted = if self.has_moments(column) { predicted } else { predicted.without_moments() };
                take(Imputed { row, column, predicted, levels: self.shares(column, &drawn) });
            }
        }
        Ok(())
    }

    /// The share of each level among the draws of a cell of a column of levels.
    fn shares(&self, column: usize, drawn: &[f64]) -> Vec<f64> {
        let block = self.model.blocks().iter().find(|block| block.columns.contains(&column));
        let levels = block.map_or(0, |block| block.family.levels());
        let share = |level: usize| drawn.iter().filter(|y| **y == level as f64).count() as f64 / drawn.len() as f64;
        (1..=levels).map(share).collect()
    }

    /// Passes `count` completed tables to `take`, N×J in the model's order of columns: observed cells unchanged, missing
    /// cells drawn, each table from a different draw of the parameters.
    pub fn completed_tables<E: From<RunError>>(
        &self,
        count: usize,
        mut take: impl FnMut(usize, &Mat) -> Result<(), E>,
    ) -> Result<(), E> {
        let visited = self.visited(count).map_err(RunError::from)?;
        let rows: Vec<usize> = batches(self.model, 1).concat();
        let mut table = self.model.y().clone();
        // Keep the first error; a closure cannot return it.
        let mut outcome = Ok(());
        self.visit_missing(&visited, &rows, |i, filled| {
            for (&n, row) in rows.iter().zip(filled) {
                missing(self.model, n).into_iter().zip(row).for_each(|(j, cell)| table[(n, j)] = cell.1);
            }
            if outcome.is_ok() {
                outcome = take(i, &table);
            }
        })?;
        outcome
    }

    /// Passes the missing cells of these rows to `take`, draw after draw.
    fn visit_missing(
        &self,
        visited: &[(usize, usize)],
        rows: &[usize],
        mut take: impl FnMut(usize, &[Filled]),
    ) -> Result<(), RunError> {
        let mut stored = Stored::open(self.store, self.model)?;
        for (i, &(chain, draw)) in visited.iter().enumerate() {
            let parameters = stored.at(chain, draw)?;
            let f = parameters.f_of_rows(self.model, rows);
            let stream = self.stream.at(chain as u64).at(draw as u64);
            let fill = |i: usize| fill(self.model, &parameters, rows[i], f.row(i), stream.at(rows[i] as u64));
            take(i, &par::map(rows.len(), 32 * rows.len() * self.model.columns(), fill));
        }
        Ok(())
    }
}

/// E[y | f] and a draw of y for each missing cell of a row.
type Filled = Vec<(f64, f64)>;

fn fill(model: &Model, parameters: &Parameters, n: usize, f: &[f64], stream: Stream) -> Filled {
    let (mut expected, mut drawn) = (vec![0.0; f.len()], vec![0.0; f.len()]);
    let rng = &mut stream.rng();
    for (block, theta) in model.blocks().iter().zip(&parameters.theta) {
        let (columns, row) = (block.columns.clone(), model.row(block, n, theta));
        block.family.mean(row, &f[columns.clone()], &mut expected[columns.clone()]);
        block.family.simulate(row, &f[columns.clone()], &mut drawn[columns], rng);
    }
    // Without trials there is no count.
    let cell = |j: usize| (expected[j], if expected[j].is_nan() { f64::NAN } else { drawn[j] });
    missing(model, n).into_iter().map(cell).collect()
}

/// The missing cells of a row: columns of the model, in the order of the table.
fn missing(model: &Model, n: usize) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..model.columns()).filter(|&j| model.y()[(n, j)].is_nan()).collect();
    columns.sort_unstable_by_key(|&j| model.order()[j]);
    columns
}

/// Rows with missing cells, in batches small enough to hold all draws.
fn batches(model: &Model, draws: usize) -> Vec<Vec<usize>> {
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for (n, row) in model.y().iter_rows().enumerate() {
        let numbers = row.iter().filter(|y| y.is_nan()).count() * draws;
        if numbers == 0 {
            continue;
        }
        match batches.last_mut() {
            Some(batch) if numbers <= room => batch.push(n),
            _ => {
                batches.push(vec![n]);
                room = HELD;
            }
        }
        room = room.saturating_sub(numbers);
    }
    batches
}

#[cfg(test)]
mod tests;
