//! Differences between groups of rows, column by column, free of covariates and offsets.
//!
//! δ_j is the difference of the means over both groups of e_nj = f_nj + a_gj − bᵀ_j c_n: what the model makes of a row at average covariates and with
//! a common offset, plus the effect of its group, which the map leaves out in part (`group_effects.rs`), minus what goes together with covariates c within
//! the groups, so that δ_j is the coefficient of the group in a regression on the group and c. In each draw the effects are drawn too, and the rows of
//! each group are resampled (the Bayesian bootstrap, Rubin 1981), since they are a sample. It needs no alignment, so that all modes are combined.
//!
//! That |δ_j| is at most a size is tested as by McCarthy & Smyth (2009): p = P(T > (|m| − size)/s) + P(T > (|m| + size)/s) with mean m and standard
//! deviation s of δ_j. Rates of false discoveries are those of Benjamini & Hochberg (1995).

use super::fitted::{Fitted, HELD};
use super::group_effects::GroupEffects;
use super::link::{expected, to_link_scale};
use super::parameters::Parameters;
use super::summary::Summary;
use crate::dist::gamma;
use crate::error::RunError;
use crate::linalg::{Cholesky, Mat};
use crate::model::Model;
use crate::rng::StreamRng;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest rows of a group of which a difference is tested.
pub const FEWEST: usize = 3;
/// By how much the variance of a difference may grow because covariates go together with the groups.
const INFLATION: f64 = 1e4;

/// The group of each row.
#[derive(Debug, Clone, Copy)]
pub struct Groups<'a> {
    /// Of each row; `None` for a row that is left out.
    pub of: &'a [Option<usize>],
    /// How many there are.
    pub count: usize,
}

/// Two groups of rows, by the numbers of the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contrast {
    /// The group.
    pub of: usize,
    /// The group with which it is compared; all others if there is none.
    pub against: Option<usize>,
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
    /// The p-value of a difference up to the size, on the scale of the link; NaN where a group has fewer than [`FEWEST`] rows.
    pub p_value: f64,
}

impl Groups<'_> {
    fn rows(&self, is_in: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.of.len()).filter(|&n| self.of[n].is_some_and(&is_in)).collect()
    }

    /// The rows of both sides.
    fn sides(&self, contrast: &Contrast) -> [Vec<usize>; 2] {
        let against = |g| contrast.against.map_or(g != contrast.of, |against| g == against);
        [self.rows(|g| g == contrast.of), self.rows(against)]
    }

    /// Whether covariates leave a difference between two groups: they do not if they tell which row is in which.
    pub fn are_apart_from_covariates(&self, model: &Model, contrast: &Contrast) -> bool {
        let covariates = model.covariates();
        if covariates.cols() == 0 {
            return true;
        }
        let sides = self.sides(contrast);
        let weights = vec![1.0; self.of.len()];
        let means = sides.each_ref().map(|rows| mean(covariates, rows, &weights));
        let apart: Vec<f64> = means[0].iter().zip(&means[1]).map(|(a, b)| a - b).collect();
        let mut solved = apart.clone();
        let Some(within) = Within::of(self, covariates, &weights) else { return false };
        within.factor.solve(&mut solved);
        let inflation: f64 = apart.iter().zip(&solved).map(|(a, b)| a * b).sum();
        let least: f64 = sides.iter().map(|rows| 1.0 / rows.len() as f64).sum();
        inflation <= INFLATION * least
    }

    /// Weights of the rows, with a mean of one in each group. Their shape makes the variance of a mean that of a sample of independent rows; with
    /// Rubin's, of 1, it is smaller by (n − 1)/(n + 1).
    fn resampled(&self, rng: &mut StreamRng) -> Vec<f64> {
        let mut weights = vec![1.0; self.of.len()];
        for group in 0..self.count {
            let rows = self.rows(|g| g == group);
            let count = rows.len() as f64;
            if rows.len() >= FEWEST {
                rows.iter().for_each(|&n| weights[n] = gamma(1.0 - 2.0 / count, 1.0, rng));
                let sum: f64 = rows.iter().map(|&n| weights[n]).sum();
                rows.iter().for_each(|&n| weights[n] *= count / sum);
            }
        }
        weights
    }
}

/// Covariates within the groups: minus the weighted mean of the group of each row.
struct Within {
    covariates: Mat,
    /// Of their weighted products. What is added to the diagonal keeps those that do not vary out.
    factor: Cholesky,
}

impl Within {
    /// `None` without covariates.
    fn of(groups: &Groups<'_>, covariates: &Mat, weights: &[f64]) -> Option<Self> {
        let columns = covariates.cols();
        if columns == 0 {
            return None;
        }
        let mut own = Mat::zeros(covariates.rows(), columns);
        let mut products =
            Mat::from_fn(columns, columns, |i, k| if i == k { 1e-9 * weights.len() as f64 } else { 0.0 });
        for group in 0..groups.count {
            let rows = groups.rows(|g| g == group);
            let centre = mean(covariates, &rows, weights);
            for n in rows {
                own.row_mut(n)
                    .iter_mut()
                    .zip(covariates.row(n))
                    .zip(&centre)
                    .for_each(|((own, c), mean)| *own = c - mean);
                for i in 0..columns {
                    (0..columns).for_each(|k| products[(i, k)] += weights[n] * own[(n, i)] * own[(n, k)]);
                }
            }
        }
        Some(Within { covariates: own, factor: Cholesky::new(&products, "covariates of groups").ok()? })
    }

    /// Takes what goes together with covariates out of some values of the rows.
    fn take_out(&self, covariates: &Mat, weights: &[f64], values: &mut Mat) {
        let columns = covariates.cols();
        for j in 0..values.cols() {
            let mut slope = vec![0.0; columns];
            for n in 0..values.rows() {
                let scaled = weights[n] * values[(n, j)];
                slope.iter_mut().zip(self.covariates.row(n)).for_each(|(slope, c)| *slope += scaled * c);
            }
            self.factor.solve(&mut slope);
            for n in 0..values.rows() {
                values[(n, j)] -= covariates.row(n).iter().zip(&slope).map(|(c, slope)| c * slope).sum::<f64>();
            }
        }
    }
}

impl Fitted<'_> {
    /// The difference of each column (inner) in each contrast (outer), for rows with an offset; sizes are those of the columns. From `most` draws:
    /// where the fit has fewer, each is used several times, with other rows.
    pub fn differences(
        &self,
        groups: Groups<'_>,
        contrasts: &[Contrast],
        sizes: &[f64],
        offset: f64,
        most: usize,
    ) -> Result<Vec<Vec<Difference>>, RunError> {
        let (model, rows, columns, pairs) = (self.model, self.model.rows(), self.model.columns(), contrasts.len());
        // More draws than fit in memory are thinned.
        let most = most.min(HELD / (2 * pairs * columns).max(1)).max(1);
        let visited = self.visited(most)?;
        let times = most.div_ceil(visited.len().max(1));
        let sides: Vec<[Vec<usize>; 2]> = contrasts.iter().map(|contrast| groups.sides(contrast)).collect();
        let all: Vec<usize> = (0..rows).collect();
        let mut draws: [Vec<Vec<f64>>; 2] = Default::default();
        let mut means = vec![[0.0; 2]; pairs * columns];
        let compute = |parameters: &Parameters, (chain, draw): (usize, usize)| {
            let rng = &mut self.stream.at(chain as u64).at(draw as u64).rng();
            let known = Mat::zeros(rows, model.covariates().cols());
            let f = parameters.f_with(parameters.x.clone(), (&vec![offset; rows], known), &parameters.column_process.g);
            let whole = parameters.f_of_rows(model, &all);
            let effects = GroupEffects::of(model, &parameters.theta, &whole, groups.of, groups.count);
            let mut one = || {
                let weights = groups.resampled(rng);
                let own = effects.draw(rng);
                let mut e = f.clone();
                for (n, g) in groups.of.iter().enumerate().filter_map(|(n, g)| Some((n, (*g)?))) {
                    e.row_mut(n).iter_mut().zip(own.row(g)).for_each(|(e, a)| *e += a);
                }
                if let Some(within) = Within::of(&groups, model.covariates(), &weights) {
                    within.take_out(model.covariates(), &weights, &mut e);
                }
                let cells = expected(model, &parameters.theta, &e);
                to_link_scale(model, &mut e);
                [e, cells].map(|values| {
                    let of = |rows: &Vec<usize>| mean(&values, rows, &weights);
                    sides.iter().flatten().map(of).collect::<Vec<_>>()
                })
            };
            (0..times).map(|_| one()).collect::<Vec<_>>()
        };
        let share = 1.0 / (visited.len() * times) as f64;
        self.each_draw(&visited, compute, |found| {
            for found in found {
                for (draws, means) in draws.iter_mut().zip(&found) {
                    let apart =
                        |pair: &[Vec<f64>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| a - b).collect::<Vec<_>>();
                    draws.push(means.chunks_exact(2).flat_map(apart).collect());
                }
                for (i, group) in found[1].iter().enumerate() {
                    let own = &mut means[i / 2 * columns..][..columns];
                    own.iter_mut().zip(group).for_each(|(to, mean)| to[i % 2] += share * mean);
                }
            }
        })?;
        let [link, cells] = draws;
        let of = |draws: &[Vec<f64>], place: usize| Summary::of(draws.iter().map(|draw| draw[place]).collect());
        let one = |place: usize| {
            let (link, counts) = (of(&link, place), sides[place / columns].each_ref().map(Vec::len));
            let p_value = p_value(&link, sizes[place % columns], degrees(counts, model.covariates().cols()));
            Difference { link, cells: of(&cells, place), means: means[place], p_value }
        };
        Ok((0..pairs).map(|c| (0..columns).map(|j| one(c * columns + j)).collect()).collect())
    }
}

/// The weighted mean of some rows.
fn mean(values: &Mat, rows: &[usize], weights: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; values.cols()];
    let sum: f64 = rows.iter().map(|&n| weights[n]).sum();
    for &n in rows {
        mean.iter_mut().zip(values.row(n)).for_each(|(mean, value)| *mean += weights[n] / sum * value);
    }
    mean
}

/// Degrees of freedom of a difference of means of two groups with the same variance but separate estimates of it (Welch 1947), less those of covariates;
/// `None` if a group is too small.
fn degrees(counts: [usize; 2], covariates: usize) -> Option<f64> {
    if counts.iter().any(|&count| count < FEWEST) {
        return None;
    }
    let [a, b] = counts.map(|count| 1.0 / count as f64);
    let square = |share: f64| share.powi(2) / (1.0 / share - 1.0);
    Some(((a + b).powi(2) / (square(a) + square(b)) - covariates as f64).max(1.0))
}

/// The p-value of a difference up to a size.
fn p_value(of: &Summary, size: f64, degrees: Option<f64>) -> f64 {
    let Some(law) = degrees.and_then(|degrees| StudentsT::new(0.0, 1.0, degrees).ok()) else { return f64::NAN };
    if of.sd.is_nan() || of.sd <= 0.0 {
        return f64::NAN;
    }
    let tail = |beyond: f64| law.cdf(-beyond / of.sd);
    (tail(of.mean.abs() - size) + tail(of.mean.abs() + size)).min(1.0)
}

/// The order of differences, first the one that is at least the largest: its 5% quantile in its direction, in units of its column.
pub fn ranked(found: &[Difference], units: &[f64]) -> Vec<usize> {
    let least = |i: usize| {
        let [low, high] = found[i].link.quantiles;
        low.max(-high) / units[i]
    };
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&a, &b| least(b).total_cmp(&least(a)));
    order
}

/// The least rate of false discoveries at which each difference is listed: p-values adjusted by Benjamini and Hochberg; NaN where there is none.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|&i| !p_values[i].is_nan()).collect();
    order.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let (mut rates, mut least) = (vec![f64::NAN; p_values.len()], 1.0_f64);
    for (k, &i) in order.iter().enumerate() {
        least = least.min(p_values[i] * order.len() as f64 / (order.len() - k) as f64);
        rates[i] = least;
    }
    rates
}

#[cfg(test)]
mod tests;
