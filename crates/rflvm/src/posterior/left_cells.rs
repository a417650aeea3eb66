//! Leave-one-out of cells: ln p(y_nj | all other cells), from a fit of all cells.
//!
//! A cell is left out while its row keeps the other cells, as a missing cell would be: draws are weighted by 1/p(y_nj | f_nj, θ_j), smoothed
//! ([`psis`](super::psis)). A multinomial row is one point.

use super::fitted::{DRAWS, Fitted, HELD};
use super::leave_out::left_out_of;
use super::psis::TRUSTED;
use crate::error::RunError;
use crate::model::Model;
use crate::par;

/// Most cells that are scored: a mean over cells is then known well enough to weigh modes.
const CELLS: usize = 20_000;

/// Scores of cells under the draws of one mode.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeftCells {
    /// ln p(y | all other cells).
    pub ln_density: Vec<f64>,
    /// Cells whose k̂ is above 0.7: their score is unreliable.
    pub doubtful: usize,
}

impl Fitted<'_> {
    /// Scores the observed cells from the chains in use; those of rows evenly spaced over a large table.
    pub fn left_cells(&self) -> Result<LeftCells, RunError> {
        let (model, visited) = (self.model, self.visited_in_map(DRAWS)?);
        let mut scores = LeftCells::default();
        for rows in rows(model).chunks((HELD / (model.columns() * visited.len()).max(1)).max(1)) {
            let mut points: Vec<usize> = Vec::new();
            let mut each: Vec<Vec<f64>> = Vec::new();
            self.ln_cells_of(rows, &visited, |i, pieces| {
                let pieces = pieces.as_slice();
                if i == 0 {
                    points.extend((0..pieces.len()).filter(|&at| !pieces[at].is_nan()));
                    each.extend(points.iter().map(|_| Vec::with_capacity(visited.len())));
                }
                points.iter().zip(&mut each).for_each(|(&at, draws)| draws.push(pieces[at]));
            })?;
            let score = |i: usize| {
                let chains = visited.chunk_by(|a, b| a.0 == b.0).scan(0, |start, chain| {
                    *start += chain.len();
                    Some(&each[i][*start - chain.len()..*start])
                });
                left_out_of(&chains.collect::<Vec<&[f64]>>())
            };
            for (ln_density, k) in par::map(each.len(), usize::MAX, score) {
                scores.ln_density.push(ln_density);
                scores.doubtful += usize::from(k > TRUSTED);
            }
        }
        Ok(scores)
    }
}

/// Rows with an observed cell, evenly spaced where all of them are too many.
fn rows(model: &Model) -> Vec<usize> {
    let seen: Vec<usize> = (0..model.rows()).filter(|&n| model.observed(n) > 0).collect();
    let count = seen.len().min((CELLS / model.columns().max(1)).max(1));
    (0..count).map(|i| seen[(2 * i + 1) * seen.len() / (2 * count)]).collect()
}

#[cfg(test)]
mod tests;
