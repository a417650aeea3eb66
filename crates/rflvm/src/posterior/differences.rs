//! Differences between groups of rows, column by column, free of covariates and offsets.
//!
//! δ_j is the difference of the means over the rows of both groups of what the model makes of a row, at average covariates and with a common
//! offset: on the scale of the link, and of `E[y]`. It needs no alignment, so that all modes are combined. Differences are listed by the
//! probability that they exceed a size in the direction in which they most probably do; the expected share of false discoveries among the first
//! k of them is the mean of 1 − that probability (Müller, Parmigiani, Robert & Rousseau 2004).

use super::fitted::{Fitted, HELD};
use super::link::{expected, to_link_scale};
use super::parameters::Parameters;
use super::summary::{Summary, share};
use crate::error::RunError;
use crate::linalg::Mat;

/// Two groups of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contrast {
    /// The rows of the group.
    pub of: Vec<usize>,
    /// The rows with which they are compared.
    pub against: Vec<usize>,
}

/// The difference of a column between two groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// On the scale of the link.
    pub link: Summary,
    /// Of `E[y]`.
    pub cells: Summary,
    /// Posterior mean of `E[y]` in each group.
    pub means: [f64; 2],
    /// The probability that the difference on the scale of the link exceeds the size, in the direction in which that is more probable.
    pub probability: f64,
}

impl Fitted<'_> {
    /// The difference of each column (inner) in each contrast (outer), for rows with an offset; sizes are those of the columns. From at most
    /// `most` draws.
    pub fn differences(
        &self,
        contrasts: &[Contrast],
        sizes: &[f64],
        offset: f64,
        most: usize,
    ) -> Result<Vec<Vec<Difference>>, RunError> {
        let (rows, columns, pairs) = (self.model.rows(), self.model.columns(), contrasts.len());
        // More draws than fit in memory are thinned.
        let most = most.min(HELD / (2 * pairs * columns).max(1)).max(1);
        let visited = self.visited(most)?;
        let mut draws: [Vec<Vec<f64>>; 2] = Default::default();
        let mut means = vec![[0.0; 2]; pairs * columns];
        let compute = |parameters: &Parameters, _| {
            let known = Mat::zeros(rows, self.model.covariates().cols());
            let mut f =
                parameters.f_with(parameters.x.clone(), (&vec![offset; rows], known), &parameters.column_process.g);
            let cells = expected(self.model, &parameters.theta, &f);
            to_link_scale(self.model, &mut f);
            [f, cells].map(|values| {
                contrasts.iter().flat_map(|c| [mean(&values, &c.of), mean(&values, &c.against)]).collect::<Vec<_>>()
            })
        };
        self.each_draw(&visited, compute, |found| {
            for (draws, means) in draws.iter_mut().zip(&found) {
                let apart = |pair: &[Vec<f64>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| a - b).collect::<Vec<_>>();
                draws.push(means.chunks_exact(2).flat_map(apart).collect());
            }
            for (i, group) in found[1].iter().enumerate() {
                let own = &mut means[i / 2 * columns..][..columns];
                own.iter_mut().zip(group).for_each(|(to, mean)| to[i % 2] += mean / visited.len() as f64);
            }
        })?;
        let [link, cells] = draws;
        let of = |draws: &[Vec<f64>], place: usize| draws.iter().map(|draw| draw[place]).collect::<Vec<f64>>();
        let one = |place: usize| {
            let (link, size) = (of(&link, place), sizes[place % columns]);
            let exceeds = share(&link, |d| d - size).max(share(&link, |d| -d - size));
            Difference {
                probability: exceeds,
                link: Summary::of(link),
                cells: Summary::of(of(&cells, place)),
                means: means[place],
            }
        };
        Ok((0..pairs).map(|c| (0..columns).map(|j| one(c * columns + j)).collect()).collect())
    }
}

/// The mean of some rows.
fn mean(values: &Mat, rows: &[usize]) -> Vec<f64> {
    let mut mean = vec![0.0; values.cols()];
    for &n in rows {
        mean.iter_mut().zip(values.row(n)).for_each(|(mean, value)| *mean += value / rows.len() as f64);
    }
    mean
}

/// The order of differences, the most probable first, and of equally probable ones the one that is at least the largest (its 5% quantile in its
/// direction, in units of its column); and for each place in it the expected share of false discoveries among the list up to there.
pub fn ranked(found: &[Difference], units: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let strength = |i: usize| {
        let [low, high] = found[i].link.quantiles;
        low.max(-high) / units[i]
    };
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| {
        let by_probability = found[b].probability.total_cmp(&found[a].probability);
        by_probability.then(strength(b).total_cmp(&strength(a)))
    });
    let sums = order.iter().scan(0.0, |sum, &i| {
        *sum += 1.0 - found[i].probability;
        Some(*sum)
    });
    let expected = sums.zip(1..).map(|(sum, count)| sum / f64::from(count)).collect();
    (order, expected)
}

#[cfg(test)]
mod tests;
