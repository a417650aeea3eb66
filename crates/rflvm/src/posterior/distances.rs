//! Distances between rows over all modes: they need no alignment, and chains in different modes can be pooled.

use super::array::array;
use super::diagnostics::quantile;
use super::fitted::Fitted;
use crate::error::RunError;
use crate::linalg::Mat;
use crate::par;

/// The distance of two rows over the draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    /// The two rows.
    pub rows: [usize; 2],
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Quantiles at 5%, 25%, 50%, 75% and 95%.
    pub quantiles: [f64; 5],
}

/// The levels of [`Distance::quantiles`].
pub const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// A neighbour of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The row whose neighbour it is.
    pub row: usize,
    /// The neighbour.
    pub neighbour: usize,
    /// The share of draws in which it is among the k nearest.
    pub probability: f64,
    /// Posterior mean of the distance.
    pub mean: f64,
}

impl Fitted<'_> {
    /// The distances of pairs of rows, from at most `most` draws.
    pub fn distances(&self, pairs: &[[usize; 2]], most: usize) -> Result<Vec<Distance>, RunError> {
        let mut all = vec![Vec::new(); pairs.len()];
        self.each_positions(most, |x| {
            all.iter_mut().zip(pairs).for_each(|(to, &[a, b])| to.push(distance(x.row(a), x.row(b))));
        })?;
        let one = |(mut draws, &rows): (Vec<f64>, &[usize; 2])| {
            draws.sort_unstable_by(f64::total_cmp);
            let count = draws.len() as f64;
            let mean = draws.iter().sum::<f64>() / count;
            let square = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
            Distance { rows, mean, sd: square.sqrt(), quantiles: LEVELS.map(|level| quantile(&draws, level)) }
        };
        Ok(all.into_iter().zip(pairs).map(one).collect())
    }

    /// Posterior means of the distances of all pairs of rows, N×N.
    pub fn mean_distances(&self, most: usize) -> Result<Mat, RunError> {
        let (n, mut count) = (self.model.rows(), 0.0);
        let mut sum = Mat::zeros(n, n);
        self.each_positions(most, |x| {
            count += 1.0;
            par::rows([(sum.as_mut_slice(), n)], n * x.cols(), |first, [sum]| {
                for (a, to) in (first..).zip(sum.chunks_exact_mut(n)) {
                    to.iter_mut().zip(x.iter_rows()).for_each(|(to, row)| *to += distance(x.row(a), row));
                }
                0.0
            });
        })?;
        sum.as_mut_slice().iter_mut().for_each(|sum| *sum /= count);
        Ok(sum)
    }

    /// The rows that are among the `k` nearest of a row in some draws, for each row the most probable first; at most 2k of each, with a probability of
    /// at least one in twenty.
    pub fn neighbours(&self, k: usize, most: usize) -> Result<Vec<Neighbour>, RunError> {
        const LEAST: f64 = 0.05;
        let (n, mut count) = (self.model.rows(), 0.0);
        let k = k.min(n.saturating_sub(1));
        // How often b is among the nearest of a, and the sums of their distances.
        let (mut often, mut sum) = (vec![0u32; n * n], Mat::zeros(n, n));
        self.each_positions(most, |x| {
            count += 1.0;
            let found = par::map(n, n * x.cols(), |a| {
                let away = away(x, a);
                let nearest = nearest(&away, (0..n).filter(|&b| b != a).collect(), k);
                (away, nearest)
            });
            for (a, (away, order)) in found.into_iter().enumerate() {
                sum.row_mut(a).iter_mut().zip(away).for_each(|(sum, d)| *sum += d);
                order.into_iter().for_each(|b| often[a * n + b] += 1);
            }
        })?;
        let mut found = Vec::new();
        for row in 0..n {
            let own = (0..n).filter(|&b| f64::from(often[row * n + b]) >= LEAST * count && b != row);
            let mut own: Vec<Neighbour> = own
                .map(|b| Neighbour {
                    row,
                    neighbour: b,
                    probability: f64::from(often[row * n + b]) / count,
                    mean: sum[(row, b)] / count,
                })
                .collect();
            own.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.mean.total_cmp(&b.mean)));
            own.truncate(2 * k);
            found.extend(own);
        }
        Ok(found)
    }

    /// X of at most `most` draws, evenly spaced, of all modes by their weights; in units of the map where axes can be pruned.
    pub(super) fn each_positions(&self, most: usize, mut take: impl FnMut(&Mat)) -> Result<(), RunError> {
        let (rows, dim) = (self.model.rows(), self.model.latent_dim());
        let visited = self.visited(most)?;
        if self.model.has_relevance() {
            return self.visit_some(&visited, &mut take);
        }
        let mut x = array(self.store, "x", "x", &[rows, dim])?;
        for (chain, draw) in visited {
            take(&Mat::from_vec(rows, dim, x.at(chain, draw)?.to_vec()));
        }
        Ok(())
    }
}

/// The distances of all rows from one of them.
pub(super) fn away(x: &Mat, from: usize) -> Vec<f64> {
    x.iter_rows().map(|row| distance(x.row(from), row)).collect()
}

/// The `k` nearest of some rows, in no order.
pub(super) fn nearest(away: &[f64], mut among: Vec<usize>, k: usize) -> Vec<usize> {
    if k < among.len() {
        among.select_nth_unstable_by(k, |&b, &c| away[b].total_cmp(&away[c]).then(b.cmp(&c)));
        among.truncate(k);
    }
    among
}

pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
