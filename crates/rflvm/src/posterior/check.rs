//! Posterior predictive checks (Gelman, Meng & Stern 1996): does the model generate tables like the one that was fitted?
//!
//! For each draw θ of the parameters, generate a table y_rep ~ p(y | θ) with the same missing cells. A statistic T is compared by
//! u = P(T(y_rep, θ) > T(y, θ) | Y), ties counting half, and p = 2 min(u, 1 − u). A T based on residuals depends on θ, so that T(y, θ)
//! differs between draws. The data are used twice, so p is conservative: a small value is meaningful.

mod advice;
mod prior;
mod statistic;

pub use crate::model::family::Statistic;
pub use advice::advice;
pub use prior::{Assumption, Conflict, VISITED};

use super::diagnostics::quantile;
use super::fitted::Fitted;
use super::parameters::{Parameters, Stored};
use crate::error::RunError;
use crate::linalg::Mat;
use crate::model::Model;
use crate::model::family::{Family, Observed};
use crate::par;
use crate::rng::Stream;
use statistic::Sample;

/// Default number of replicated tables: a p-value of 0.05 is then known to about one percentage point.
pub const REPLICATES: usize = 500;

/// Pairs of categories whose association is checked.
const PAIRS: usize = 10;

/// A statistic of the observed table compared with its replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Index of the block of columns.
    pub block: usize,
    /// The statistic.
    pub statistic: Statistic,
    /// Index of the other block, for the association of two.
    pub other: Option<usize>,
    /// For the observed table, draw by draw; constant unless the statistic depends on the parameters.
    pub observed: Vec<f64>,
    /// For the replicated tables, one per draw.
    pub replicated: Vec<f64>,
}

impl Check {
    /// Value for the observed table; the mean over draws if it depends on them.
    pub fn observed(&self) -> f64 {
        mean(&self.observed)
    }

    /// Mean over replicated tables.
    pub fn mean(&self) -> f64 {
        mean(&self.replicated)
    }

    /// Quantiles of replicated tables at 5% and 95%.
    pub fn interval(&self) -> [f64; 2] {
        interval(&self.replicated)
    }

    /// The interval of the observed table over the draws: zero width unless the statistic depends on them.
    pub fn observed_interval(&self) -> [f64; 2] {
        interval(&self.observed)
    }

    /// P(T(y_rep) > T(y)), ties counting half; below ½ if the observed table has the larger value.
    pub fn above(&self) -> f64 {
        let above = |(observed, replicated): (&f64, &f64)| match replicated.partial_cmp(observed) {
            Some(order) => 0.5 * (1.0 + f64::from(order as i8)),
            None => 0.5,
        };
        let share: f64 = self.observed.iter().zip(&self.replicated).map(above).sum();
        // Never exactly 0 or 1, which a finite number of draws cannot establish.
        (share + 0.5) / (self.observed.len() as f64 + 1.0)
    }

    /// What the check suggests about a block of this family, if it fails.
    pub fn advice(&self, family: &dyn Family) -> String {
        let side = if self.above() < 0.5 { Observed::More } else { Observed::Less };
        advice(self.statistic, side, family.about())
    }

    /// The two-sided p-value.
    pub fn p(&self) -> f64 {
        2.0 * self.above().min(1.0 - self.above())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn interval(values: &[f64]) -> [f64; 2] {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    [0.05, 0.95].map(|p| quantile(&sorted, p))
}

/// Checks of a model from draws that are visited one by one.
#[derive(Debug)]
pub struct Checks<'a> {
    model: &'a Model,
    checks: Vec<Check>,
}

impl<'a> Checks<'a> {
    /// Without draws yet.
    pub fn new(model: &'a Model) -> Self {
        let of_block = |(block, family): (usize, &dyn Family)| {
            family.about().map_or(Statistic::ANY, |about| about.statistics).iter().map(move |&statistic| Check {
                block,
                statistic,
                other: None,
                observed: Vec::new(),
                replicated: Vec::new(),
            })
        };
        let families = model.blocks().iter().map(|b| b.family.as_ref()).enumerate();
        let mut checks: Vec<Check> = families.flat_map(of_block).collect();
        checks.extend(related(model).into_iter().map(|(block, other)| Check {
            block,
            statistic: Statistic::Association,
            other: Some(other),
            observed: Vec::new(),
            replicated: Vec::new(),
        }));
        checks.sort_by_key(|check| check.block);
        Checks { model, checks }
    }

    /// Generates a table from these parameters, and compares.
    pub fn add(&mut self, parameters: &Parameters, stream: Stream) {
        let rows: Vec<usize> = (0..self.model.rows()).collect();
        let f = parameters.f_of_rows(self.model, &rows);
        let replicated = replicate(self.model, parameters, &f, stream);
        for check in &mut self.checks {
            let (block, theta) = (&self.model.blocks()[check.block], &parameters.theta[check.block]);
            let other = check.other.map(|other| &self.model.blocks()[other]);
            let of = |y| statistic::value(check.statistic, &Sample { y, f: &f, theta, block, other });
            let observed = match check.observed.first() {
                Some(&same) if !check.statistic.is_realised() => same,
                _ => of(self.model.y()),
            };
            let replicated = of(&replicated);
            check.observed.push(observed);
            check.replicated.push(replicated);
        }
    }

    /// The finished checks, without those of statistics that cannot vary, such as the largest cell where each row is one answer.
    pub fn finish(self) -> Vec<Check> {
        let varies = |check: &Check| {
            let first = check.observed.first();
            check.observed.iter().chain(&check.replicated).any(|value| Some(value) != first)
        };
        self.checks.into_iter().filter(varies).collect()
    }
}

/// The pairs of categories that are most closely related.
fn related(model: &Model) -> Vec<(usize, usize)> {
    let blocks = model.blocks();
    let whole: Vec<usize> = (0..blocks.len()).filter(|&b| blocks[b].family.is_whole()).collect();
    let pairs = whole.iter().flat_map(|&a| whole.iter().filter(move |&&b| b > a).map(move |&b| (a, b)));
    let scored = pairs.map(|(a, b)| (statistic::association(model.y(), &blocks[a], &blocks[b]), (a, b)));
    let mut scored: Vec<(f64, (usize, usize))> = scored.filter(|(v, _)| v.is_finite()).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(PAIRS).map(|(_, pair)| pair).collect()
}

impl Fitted<'_> {
    /// Compares the fitted table with tables generated by the fit, from at most `most` draws.
    pub fn check(&self, most: usize) -> Result<Vec<Check>, RunError> {
        let mut stored = Stored::open(self.store, self.model)?;
        let mut checks = Checks::new(self.model);
        for (chain, draw) in self.visited(most)? {
            checks.add(&stored.at(chain, draw)?, self.stream.at(chain as u64).at(draw as u64));
        }
        Ok(checks.finish())
    }
}

/// A table generated from the parameters, with the missing cells of the observed one.
fn replicate(model: &Model, parameters: &Parameters, f: &Mat, stream: Stream) -> Mat {
    let columns = model.columns();
    let row = |n: usize| {
        let (mut drawn, rng) = (vec![0.0; columns], &mut stream.at(n as u64).rng());
        for (block, theta) in model.blocks().iter().zip(&parameters.theta) {
            let columns = block.columns.clone();
            block.family.simulate(model.row(block, n, theta), &f.row(n)[columns.clone()], &mut drawn[columns], rng);
        }
        let seen = drawn.iter_mut().zip(model.y().row(n));
        seen.filter(|(_, y)| y.is_nan()).for_each(|(drawn, _)| *drawn = f64::NAN);
        drawn
    };
    let rows = par::map(model.rows(), 32 * model.rows() * columns, row);
    Mat::from_vec(model.rows(), columns, rows.concat())
}

#[cfg(test)]
mod tests;
