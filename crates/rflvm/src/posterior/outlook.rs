//! How well a predictive distribution foretells a cell: the continuous ranked probability score, intervals, and the log density.
//!
//! CRPS = E|Y − y| − ½E|Y − Y'| for independent draws Y, Y' of the distribution (Gneiting & Raftery 2007). It is in the units of the
//! cell, smaller is better, and for a point forecast it is the absolute error; it applies to counts and to real numbers alike.

use super::diagnostics::quantile;
use super::fitted::{Fitted, HELD};
use super::forecast::{NewTime, no_times};
use super::heldout::{LnSum, TestPoints};
use super::parameters::{Parameters, Stored};
use super::predicted::Replica;
use crate::error::RunError;
use crate::model::Model;
use crate::par;
use crate::rng::Stream;

/// The levels of [`Outlook::quantiles`].
pub const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// A predictive distribution of a cell, and its score at the value that was observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Its mean; its median where it has no mean.
    pub mean: f64,
    /// Its quantiles at [`LEVELS`].
    pub quantiles: [f64; 5],
    /// Its continuous ranked probability score.
    pub crps: f64,
    /// Its log density, where it is known; a multinomial row has one for all its cells, kept with the first of them.
    pub ln_density: Option<f64>,
}

impl Outlook {
    /// From draws, which it sorts, and the observed value.
    pub fn of(mean: f64, drawn: &mut [f64], truth: f64) -> Self {
        drawn.sort_unstable_by(f64::total_cmp);
        let quantiles = LEVELS.map(|p| quantile(drawn, p));
        Outlook { mean, quantiles, crps: crps(drawn, truth), ln_density: None }
    }

    /// With the median in place of a mean that does not exist.
    pub(super) fn about_median(self) -> Self {
        Outlook { mean: self.quantiles[2], ..self }
    }

    /// Whether the middle half, and the middle 90%, hold a value.
    pub fn holds(&self, truth: f64) -> [bool; 2] {
        let [q05, q25, _, q75, q95] = self.quantiles;
        [(q25..=q75).contains(&truth), (q05..=q95).contains(&truth)]
    }
}

/// Means of the scores over some cells.
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

impl Scores {
    /// Of predictive distributions, each with the value that was observed and the unit of its column.
    pub fn of(cells: &[(Outlook, f64, f64)]) -> Self {
        let mean =
            |value: &dyn Fn(&(Outlook, f64, f64)) -> f64| cells.iter().map(value).sum::<f64>() / cells.len() as f64;
        let densities: Vec<f64> = cells.iter().filter_map(|cell| cell.0.ln_density).collect();
        let ln_density = densities.iter().sum::<f64>() / densities.len() as f64;
        Scores {
            cells: cells.len(),
            crps: mean(&|(outlook, _, unit)| outlook.crps / unit),
            mse: mean(&|(outlook, truth, unit)| ((outlook.mean - truth) / unit).powi(2)),
            mae: mean(&|(outlook, truth, unit)| (outlook.quantiles[2] - truth).abs() / unit),
            ln_density: (!densities.is_empty()).then_some(ln_density),
            coverage: [0, 1].map(|i| mean(&|(outlook, truth, _)| f64::from(outlook.holds(*truth)[i]))),
        }
    }
}

/// Standard deviation of the observed cells of each column, the unit of its scores; 1 for a constant column.
pub fn units(model: &Model) -> Vec<f64> {
    let of = |j: usize| {
        let seen: Vec<f64> = (0..model.rows()).map(|n| model.y()[(n, j)]).filter(|v| !v.is_nan()).collect();
        let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
        let sd = (seen.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / seen.len().max(1) as f64).sqrt();
        if sd > 0.0 { sd } else { 1.0 }
    };
    (0..model.columns()).map(of).collect()
}

/// The score of the empirical distribution of sorted draws: Σ|x − y|/S − Σ_i (2i − S + 1) x_i/S², i from 0.
pub fn crps(sorted: &[f64], truth: f64) -> f64 {
    let count = sorted.len() as f64;
    let each = sorted.iter().enumerate().map(|(i, x)| {
        // Relative to the truth, so that a large mean cancels before it is squared.
        let x = x - truth;
        x.abs() - (2.0 * i as f64 - count + 1.0) * x / count
    });
    each.sum::<f64>() / count
}

/// What one draw of the parameters says about new rows: their cells, and the log density of each point.
struct Told {
    replica: Replica,
    ln_densities: Vec<f64>,
}

impl Fitted<'_> {
    /// Forecasts of rows that were observed after the fit, cell by cell (`None` for missing ones), from at most `most` draws. `rows` is
    /// their model, with one row per moment, and has their trials.
    pub fn outlooks(
        &self,
        moments: &[NewTime],
        rows: &Model,
        most: usize,
    ) -> Result<Vec<Vec<Option<Outlook>>>, RunError> {
        let (height, width) = (moments.len(), rows.columns());
        let visited = self.visited(most.min(HELD / (height * width).max(1)).max(1))?;
        let points = TestPoints::of_rows(rows);
        let places = points.places(rows);
        let mut stored = Stored::open(self.store, self.model)?;
        let mut means = vec![0.0; height * width];
        let mut drawn = vec![Vec::with_capacity(visited.len()); height * width];
        let mut sums = vec![LnSum::NONE; places.len()];
        for some in visited.chunks(rayon::current_num_threads()) {
            let read = |&(chain, draw): &(usize, usize)| stored.at(chain, draw);
            let parameters = some.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let tell =
                |(&at, parameters): (&(usize, usize), &Parameters)| self.told(at, parameters, moments, rows, &points);
            for of_draw in par::collect(some.iter().zip(&parameters), 1, tell) {
                let Told { replica, ln_densities } = of_draw?;
                let cells = replica.expected.as_slice().iter().zip(replica.drawn.as_slice());
                for ((mean, drawn), (expected, y)) in means.iter_mut().zip(&mut drawn).zip(cells) {
                    *mean += expected / visited.len() as f64;
                    drawn.push(*y);
                }
                sums.iter_mut().zip(ln_densities).for_each(|(sum, v)| sum.add(v));
            }
        }
        let mut outlooks: Vec<Vec<Option<Outlook>>> = vec![vec![None; width]; height];
        for (n, row) in outlooks.iter_mut().enumerate() {
            for (j, outlook) in row.iter_mut().enumerate() {
                let (place, truth) = (n * width + j, rows.y()[(n, j)]);
                *outlook = (!truth.is_nan()).then(|| {
                    let found = Outlook::of(means[place], &mut drawn[place], truth);
                    if self.has_moments(j) { found } else { found.about_median() }
                });
            }
        }
        for ((n, j), sum) in places.into_iter().zip(sums) {
            if let Some(outlook) = &mut outlooks[n][j] {
                outlook.ln_density = Some(sum.ln() - (visited.len() as f64).ln());
            }
        }
        Ok(outlooks)
    }

    fn told(
        &self,
        (chain, draw): (usize, usize),
        parameters: &Parameters,
        moments: &[NewTime],
        rows: &Model,
        points: &TestPoints,
    ) -> Result<Told, RunError> {
        let dynamics = self.model.dynamics().ok_or_else(no_times)?;
        let stream: Stream = self.stream.at(chain as u64).at(draw as u64);
        let fail = |source| RunError::Numerical { chain: chain + 1, sweep: draw as u64 + 1, source };
        let all = 0..moments.len();
        let f = self.predictors(dynamics, parameters, moments, all.clone(), stream).map_err(fail)?;
        let mut replica = Replica::empty(f.rows(), f.cols());
        for n in all {
            let stream = stream.named("cells").at(n as u64);
            replica.fill(n, rows, &parameters.theta, (n, rows.y().row(n)), f.row(n), stream);
        }
        Ok(Told { replica, ln_densities: points.ln_densities_at(rows, &parameters.theta, &f) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use std::f64::consts::PI;

    /// The definition, term by term.
    fn plain(drawn: &[f64], y: f64) -> f64 {
        let count = drawn.len() as f64;
        let apart: f64 = drawn.iter().flat_map(|a| drawn.iter().map(move |b| (a - b).abs())).sum();
        drawn.iter().map(|x| (x - y).abs()).sum::<f64>() / count - 0.5 * apart / (count * count)
    }

    #[test]
    fn the_score_is_its_definition_for_reals_and_counts() {
        let reals = normals(57, &mut Stream::new(1).rng());
        let counts: Vec<f64> = reals.iter().map(|x| (3.0 + 2.0 * x).round().max(0.0)).collect();
        for mut drawn in [reals, counts, vec![2.5]] {
            for truth in [-7.0, 0.0, 0.3, 1.0, 2.5, 40.0] {
                let expected = plain(&drawn, truth);
                let outlook = Outlook::of(0.0, &mut drawn, truth);
                assert!((outlook.crps - expected).abs() < 1e-12, "{truth}: {} for {expected}", outlook.crps);
            }
        }
        // A point forecast has its absolute error, and a perfect one nothing to pay, also far from zero.
        assert_eq!((crps(&[4.0], 6.5), crps(&[1e15; 9], 1e15)), (2.5, 0.0));
    }

    #[test]
    fn the_score_of_normal_draws_is_the_closed_form() {
        // σ(z(2Φ(z) − 1) + 2φ(z) − 1/√π), z = (y − μ)/σ (Gneiting & Raftery 2007), with Φ by its series.
        let (mu, sigma, count) = (1.5, 0.7, 200_000);
        let mut drawn: Vec<f64> =
            normals(count, &mut Stream::new(2).rng()).into_iter().map(|u| mu + sigma * u).collect();
        for z in [-1.3_f64, 0.0, 0.4, 2.0] {
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            let (mut term, mut sum) = (z, z);
            for k in 1..60 {
                term *= z * z / (2 * k + 1) as f64;
                sum += term;
            }
            // 2Φ(z) − 1 = 2φ(z) Σ z^(2k+1)/(1·3·…·(2k+1)).
            let truth = sigma * (z * 2.0 * density * sum + 2.0 * density - PI.sqrt().recip());
            let found = Outlook::of(mu, &mut drawn, mu + z * sigma).crps;
            // The score of a draw has a standard deviation below σ(|z| + 1): four standard errors.
            assert!(
                (found - truth).abs() < 4.0 * sigma * (z.abs() + 1.0) / (count as f64).sqrt(),
                "{z}: {found} for {truth}"
            );
        }
    }
}
