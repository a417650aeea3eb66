//! Missing cells whose values are known after all: how well they were predicted.
//!
//! The log density of a cell averages p(y | f, θ) over the draws of the posterior. Column processes of Gaussian columns are integrated out first,
//! p(y | the rest) = ∫ p(y | f + g) p(g | the rest) dg, which is normal: where the noise is small compared with what is unknown of g, an
//! average over draws of g would need very many of them.

use super::column_process::smoothed;
use super::fitted::{Fitted, HELD};
use super::heldout::{LnSum, TestPoints};
use super::outlook::Outlook;
use super::parameters::Stored;
use super::predicted::Replica;
use crate::dist::ln_normal;
use crate::error::RunError;
use crate::linalg::Mat;
use crate::model::Model;
use crate::par;

/// A cell that was missing when the model was fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Revealed {
    /// Its row.
    pub row: usize,
    /// Its column in the model.
    pub column: usize,
    /// Its value.
    pub truth: f64,
    /// Its predictive distribution.
    pub outlook: Outlook,
}

impl Fitted<'_> {
    /// The missing cells that are known in `truth`, a model of the same rows with their trials, from at most `most` draws.
    pub fn revealed(&self, truth: &Model, most: usize) -> Result<Vec<Revealed>, RunError> {
        let (n, j) = (self.model.rows(), self.model.columns());
        let is_revealed = |n: usize, j: usize| self.model.y()[(n, j)].is_nan() && !truth.y()[(n, j)].is_nan();
        let cells: Vec<(usize, usize)> =
            (0..n).flat_map(|n| (0..j).map(move |j| (n, j))).filter(|&(n, j)| is_revealed(n, j)).collect();
        let mut rows: Vec<usize> = cells.iter().map(|cell| cell.0).collect();
        rows.dedup();
        let mut place = vec![usize::MAX; n];
        rows.iter().enumerate().for_each(|(i, &n)| place[n] = i);
        let points = TestPoints::of(
            truth,
            Mat::from_fn(n, j, |n, j| if is_revealed(n, j) { truth.y()[(n, j)] } else { f64::NAN }),
        );
        let places = points.places(truth);
        let visited = self.visited(most.min(HELD / cells.len().max(1)).max(1))?;
        let mut stored = Stored::open(self.store, self.model)?;
        let mut means = vec![0.0; cells.len()];
        let mut drawn = vec![Vec::with_capacity(visited.len()); cells.len()];
        let mut sums = vec![LnSum::NONE; places.len()];
        for &(chain, draw) in &visited {
            let parameters = stored.at(chain, draw)?;
            let f = parameters.f_of_rows(self.model, &rows);
            let stream = self.stream.at(chain as u64).at(draw as u64);
            let replicas = par::map(rows.len(), 32 * rows.len() * j, |i| {
                let mut replica = Replica::empty(1, j);
                let (n, y) = (rows[i], truth.y().row(rows[i]));
                replica.fill(0, truth, &parameters.theta, (n, y), f.row(i), stream.at(n as u64));
                replica
            });
            for (((n, j), mean), drawn) in cells.iter().zip(&mut means).zip(&mut drawn) {
                let replica = &replicas[place[*n]];
                *mean += replica.expected[(0, *j)] / visited.len() as f64;
                drawn.push(replica.drawn[(0, *j)]);
            }
            let all = Mat::from_fn(n, j, |n, j| if place[n] == usize::MAX { 0.0 } else { f[(place[n], j)] });
            let mut ln_densities = points.ln_densities_at(truth, &parameters.theta, &all);
            let p = &parameters;
            let fitted = || p.f(p.x.clone(), self.model.offset(), self.model.covariates().clone());
            if let Some((expected, variance)) = smoothed(self.model, fitted, &p.theta, &p.column_process.scales) {
                for (ln, &(n, j)) in ln_densities.iter_mut().zip(&places) {
                    let noise = self.model.weight_scale(&parameters.theta, j).recip();
                    *ln = ln_normal(truth.y()[(n, j)], expected[(n, j)], variance[(n, j)] + noise);
                }
            }
            sums.iter_mut().zip(ln_densities).for_each(|(sum, ln)| sum.add(ln));
        }
        let mut densities = vec![None; cells.len()];
        for (at, sum) in places.iter().zip(sums) {
            if let Ok(i) = cells.binary_search(at) {
                densities[i] = Some(sum.ln() - (visited.len() as f64).ln());
            }
        }
        let cell = |(((&(row, column), mean), mut drawn), ln_density): (((_, f64), Vec<f64>), _)| {
            let truth = truth.y()[(row, column)];
            let outlook = Outlook::of(mean, &mut drawn, truth);
            let outlook = if self.has_moments(column) { outlook } else { outlook.about_median() };
            Revealed { row, column, truth, outlook: Outlook { ln_density, ..outlook } }
        };
        Ok(cells.iter().zip(means).zip(drawn).zip(densities).map(cell).collect())
    }
}

#[cfg(test)]
mod tests;
