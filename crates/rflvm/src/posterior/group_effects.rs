//! What groups of rows explain of their cells besides the map, given one draw: an effect of each group on each column.
//!
//! Σ_n ln p(y_nj | f_nj + a_{g(n)j} + bᵀ_j c_n) is maximised over the effects a of the groups and b of the covariates c, both with normal
//! priors about zero, by Newton's method; the effects are then taken as normal about the maximum, with the curvature there as precision. Covariates
//! take part because what they explain was fitted without the groups: where both go together, effects of groups were ascribed to covariates.

use crate::dist::normal;
use crate::linalg::{Cholesky, Mat};
use crate::model::Model;
use crate::model::family::Theta;
use crate::rng::StreamRng;

/// Standard deviation of the priors, in units of the columns: it matters only where a group has hardly any cells, or all counts are zero.
const PRIOR: f64 = 3.0;
/// Largest Newton step, in units of the columns.
const STEP: f64 = 2.0;
/// A step after which the maximum is reached, in units of the columns.
const REACHED: f64 = 1e-3;
/// Most Newton steps.
const STEPS: usize = 20;

/// The effects on all columns.
#[derive(Debug)]
pub(super) struct GroupEffects {
    /// a at the maximum, groups × columns.
    groups: Mat,
    /// b at the maximum, covariates × columns.
    covariates: Mat,
    /// Of each column.
    curvatures: Vec<Curvature>,
}

impl GroupEffects {
    /// Given F of all rows as they are, with their own offsets and covariates, and the group of each row, one of `count`.
    pub(super) fn of(model: &Model, theta: &[Theta], f: &Mat, of: &[Option<usize>], count: usize) -> Self {
        let (columns, covariates) = (model.columns(), model.covariates().cols());
        let mut effects = GroupEffects {
            groups: Mat::zeros(count, columns),
            covariates: Mat::zeros(covariates, columns),
            curvatures: Vec::new(),
        };
        for _ in 0..STEPS {
            if effects.step(model, theta, f, of) < REACHED {
                break;
            }
        }
        effects
    }

    /// One Newton step of all columns; the largest change of an effect, in units of its column.
    fn step(&mut self, model: &Model, theta: &[Theta], f: &Mat, of: &[Option<usize>]) -> f64 {
        let (groups, covariates, columns) = (self.groups.rows(), self.covariates.rows(), self.groups.cols());
        let precision = |j: usize| (PRIOR * model.units()[j].scale).powi(-2);
        let mut slope_of_groups = Mat::from_fn(groups, columns, |g, j| -precision(j) * self.groups[(g, j)]);
        let mut slope_of_covariates = Mat::from_fn(covariates, columns, |c, j| -precision(j) * self.covariates[(c, j)]);
        self.curvatures = (0..columns).map(|j| Curvature::of_prior(groups, covariates, precision(j))).collect();
        let (mut at, mut slope, mut information) = (vec![0.0; columns], vec![0.0; columns], vec![0.0; columns]);
        for (n, g) in of.iter().enumerate().filter_map(|(n, g)| Some((n, (*g)?))) {
            let known = model.covariates().row(n);
            at.copy_from_slice(f.row(n));
            at.iter_mut().zip(self.groups.row(g)).for_each(|(at, a)| *at += a);
            for (c, known) in known.iter().enumerate() {
                at.iter_mut().zip(self.covariates.row(c)).for_each(|(at, b)| *at += known * b);
            }
            slope_and_information(model, theta, n, &at, (&mut slope, &mut information));
            for j in (0..columns).filter(|&j| !model.y()[(n, j)].is_nan()) {
                slope_of_groups[(g, j)] += slope[j];
                known.iter().enumerate().for_each(|(c, known)| slope_of_covariates[(c, j)] += slope[j] * known);
                self.curvatures[j].add(g, known, information[j]);
            }
        }
        let mut largest: f64 = 0.0;
        for j in 0..columns {
            let column = |slopes: &Mat| (0..slopes.rows()).map(|i| slopes[(i, j)]).collect::<Vec<_>>();
            let (mut a, mut b) = (column(&slope_of_groups), column(&slope_of_covariates));
            self.curvatures[j].solve(&mut a, &mut b);
            let size = a.iter().chain(&b).fold(0.0_f64, |size, step| size.max(step.abs())) / model.units()[j].scale;
            if size.is_finite() {
                let share = (STEP / size).min(1.0);
                a.iter().enumerate().for_each(|(g, step)| self.groups[(g, j)] += share * step);
                b.iter().enumerate().for_each(|(c, step)| self.covariates[(c, j)] += share * step);
                largest = largest.max(size);
            }
        }
        largest
    }

    /// A draw of the effects of the groups, groups × columns.
    pub(super) fn draw(&self, rng: &mut StreamRng) -> Mat {
        let mut drawn = self.groups.clone();
        for (j, curvature) in self.curvatures.iter().enumerate() {
            curvature.draw(rng).into_iter().enumerate().for_each(|(g, away)| drawn[(g, j)] += away);
        }
        drawn
    }
}

/// The derivative of the log-likelihood of each cell of a row at f, and its information about f.
fn slope_and_information(model: &Model, theta: &[Theta], n: usize, f: &[f64], to: (&mut [f64], &mut [f64])) {
    for (block, theta) in model.blocks().iter().zip(theta) {
        let columns = block.columns.clone();
        let (row, f) = (model.row(block, n, theta), &f[columns.clone()]);
        block.family.gradient(row, f, &mut to.0[columns.clone()]);
        if block.family.is_whole() {
            // Categories are fitted together as independent Poisson counts (Baker 1994): steps of all of them at once then do not go too far.
            block.family.mean(row, f, &mut to.1[columns]);
        } else {
            block.family.information(row, f, &mut to.1[columns]);
        }
    }
}

/// Minus the second derivative of the log density of a column's effects: [[diag(a), abᵀ], [ba, bb]].
#[derive(Debug)]
struct Curvature {
    groups: Vec<f64>,
    /// Groups × covariates.
    cross: Mat,
    covariates: Mat,
}

impl Curvature {
    fn of_prior(groups: usize, covariates: usize, precision: f64) -> Self {
        let of_covariates = Mat::from_fn(covariates, covariates, |i, k| if i == k { precision } else { 0.0 });
        Curvature { groups: vec![precision; groups], cross: Mat::zeros(groups, covariates), covariates: of_covariates }
    }

    /// Adds a cell of a row of a group.
    fn add(&mut self, g: usize, covariates: &[f64], information: f64) {
        self.groups[g] += information;
        for (i, a) in covariates.iter().enumerate() {
            self.cross[(g, i)] += information * a;
            covariates.iter().enumerate().for_each(|(k, b)| self.covariates[(i, k)] += information * a * b);
        }
    }

    /// The factor of the precision of b with a integrated out; `None` without covariates. It is never singular, but may not be finite.
    fn of_covariates_alone(&self) -> Option<Cholesky> {
        let mut precision = self.covariates.clone();
        for (g, own) in self.groups.iter().enumerate() {
            let row = self.cross.row(g);
            for i in 0..row.len() {
                row.iter().enumerate().for_each(|(k, b)| precision[(i, k)] -= row[i] * b / own);
            }
        }
        if precision.cols() == 0 { None } else { Cholesky::new(&precision, "effects of groups").ok() }
    }

    /// Replaces the slopes by the solution.
    fn solve(&self, a: &mut [f64], b: &mut [f64]) {
        for (g, own) in self.groups.iter().enumerate() {
            b.iter_mut().zip(self.cross.row(g)).for_each(|(b, cross)| *b -= cross * a[g] / own);
        }
        match self.of_covariates_alone() {
            Some(factor) => factor.solve(b),
            None => b.fill(f64::NAN),
        }
        a.iter_mut().enumerate().for_each(|(g, a)| *a = (*a - dot(self.cross.row(g), b)) / self.groups[g]);
    }

    /// A draw of a about the maximum.
    fn draw(&self, rng: &mut StreamRng) -> Vec<f64> {
        let none = vec![0.0; self.covariates.cols()];
        let b = self.of_covariates_alone().map_or_else(Vec::new, |factor| factor.draw_from_precision(&none, 1.0, rng));
        let of_group = |(g, own): (usize, &f64)| normal(rng) / own.sqrt() - dot(self.cross.row(g), &b) / own;
        self.groups.iter().enumerate().map(of_group).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
