//! Any family: provide ln p(y | f) with its derivative, and priors of its parameters if it has any. Weights are then updated
//! by elliptical slices per column and parameters by univariate slices; X, W, missing cells and prediction work unchanged.

use super::{About, BlockView, Column, Family, Row, Seen, Shift, Theta, Unit};
use crate::dist::{ln_normal, normal};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::rng::{Stream, StreamRng};
use crate::slice;
use rand::Rng;
use std::any::Any;
use std::fmt::Debug;

/// A parameter of a column, on an unconstrained scale, with a normal prior on that scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Prior mean.
    pub mean: f64,
    /// Prior standard deviation.
    pub sd: f64,
}

/// Defines a family by the density of one cell.
pub trait Density: Send + Sync + Debug {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it says about itself, if it is in the registry.
    fn about(&self) -> Option<&'static About> {
        None
    }

    /// Its parameters, for a column with the given centre and scale; none by default.
    fn parameters(&self, _unit: &Unit) -> Vec<Parameter> {
        Vec::new()
    }

    /// What is wrong with y, and what to do; `None` if it is valid.
    fn problem(&self, y: f64) -> Option<String>;

    /// A value that any cell may have.
    fn any_cell(&self) -> f64 {
        0.0
    }

    /// The number of levels 1, 2, … of which a cell is one; 0 if cells are no levels.
    fn levels(&self) -> usize {
        0
    }

    /// ln p(y | f, θ).
    fn ln_density(&self, y: f64, f: f64, theta: &[f64]) -> f64;

    /// d ln p(y | f, θ) / df.
    fn derivative(&self, y: f64, f: f64, theta: &[f64]) -> f64;

    /// E[y | f, θ].
    fn mean(&self, f: f64, theta: &[f64]) -> f64;

    /// A draw of y.
    fn simulate(&self, f: f64, theta: &[f64], rng: &mut StreamRng) -> f64;

    /// Approximate f for an observed value: ln(1 + y) for a log link, y itself for the identity.
    fn link(&self, y: f64) -> f64;

    /// Itself, if other processors know it too ([`super::Law`]).
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Scale of a column in units of f, to which priors of scale parameters can refer.
    fn scale(&self, _values: &[f64]) -> f64 {
        1.0
    }
}

/// Turns a [`Density`] into a [`Family`].
#[derive(Debug, Clone, Default)]
pub struct Generic<D>(pub D);

impl<D: Density> Generic<D> {
    /// Σ over the observed cells of a column.
    fn column_ln_lik(&self, y: &[f64], f: &[f64], theta: &[f64]) -> f64 {
        let cells = y.iter().zip(f).filter(|(y, _)| !y.is_nan());
        cells.map(|(&y, &f)| self.0.ln_density(y, f, theta)).sum()
    }

    fn row_sum(&self, row: Row<'_>, mut cell: impl FnMut(usize, f64, &[f64]) -> f64) -> f64 {
        let count = row.theta.values.rows();
        let mut theta = vec![0.0; count];
        let mut total = 0.0;
        for (j, &y) in row.y.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
            (0..count).for_each(|p| theta[p] = row.theta.values[(p, row.first + j)]);
            total += cell(j, y, &theta);
        }
        total
    }

    fn slice_parameters(&self, column: &mut Column<'_>, rng: &mut StreamRng) {
        for (p, prior) in self.0.parameters(&column.unit).iter().enumerate() {
            let mut theta = column.theta.clone();
            let mut ln_posterior = |value: f64| {
                theta[p] = value;
                self.column_ln_lik(&column.y, &column.f, &theta) + ln_normal(value, prior.mean, prior.sd.powi(2))
            };
            let current = ln_posterior(column.theta[p]);
            column.theta[p] = slice::univariate(rng, column.theta[p], current, prior.sd, ln_posterior).0;
        }
    }
}

impl<D: Density> Family for Generic<D> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn about(&self) -> Option<&'static About> {
        self.0.about()
    }

    fn parameters(&self) -> Vec<&'static str> {
        self.0.parameters(&Unit::new(0.0, 1.0)).iter().map(|p| p.name).collect()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        self.0.as_any()
    }

    fn problem(&self, _n: usize, _j: usize, y: f64) -> Option<String> {
        self.0.problem(y)
    }

    fn any_cell(&self) -> f64 {
        self.0.any_cell()
    }

    fn levels(&self) -> usize {
        self.0.levels()
    }

    fn unit(&self, _j: usize, seen: &[Seen]) -> Unit {
        let mean = seen.iter().map(|s| self.0.link(s.1) - s.2).sum::<f64>() / seen.len() as f64;
        let values: Vec<f64> = seen.iter().map(|s| s.1).collect();
        Unit::new(mean, self.0.scale(&values))
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        self.0.link(y)
    }

    fn start(&self, _seen: &[Seen], unit: &Unit) -> Vec<f64> {
        self.0.parameters(unit).iter().map(|p| p.mean).collect()
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        let mut theta = Theta { values: Mat::zeros(self.parameters().len(), units.len()), hyper: Vec::new() };
        for (j, unit) in units.iter().enumerate() {
            for (p, prior) in self.0.parameters(unit).iter().enumerate() {
                theta.values[(p, j)] = prior.mean + prior.sd * normal(rng);
            }
        }
        theta
    }

    fn standardised(&self, p: usize, value: f64, unit: &Unit) -> f64 {
        let [own, plain] = [unit, &Unit::new(0.0, 1.0)].map(|unit| self.0.parameters(unit)[p]);
        plain.mean + plain.sd * (value - own.mean) / own.sd
    }

    fn ln_prior_column(&self, theta: &Theta, j: usize, unit: &Unit) -> f64 {
        let parameters = self.0.parameters(unit);
        let ln = |(p, prior): (usize, &Parameter)| ln_normal(theta.values[(p, j)], prior.mean, prior.sd.powi(2));
        parameters.iter().enumerate().map(ln).sum()
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        self.0.ln_density(row.y[j], f[j], &row.theta.values.col(row.first + j))
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        self.row_sum(row, |j, y, theta| self.0.ln_density(y, f[j], theta))
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        Some(self.column_ln_lik(&column.y, f, &column.theta))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        self.row_sum(row, |j, y, theta| self.0.ln_density(y, f[j] + s.a * s.u[j] + s.b * s.v[j], theta))
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        g.fill(0.0);
        self.row_sum(row, |j, y, theta| {
            g[j] = self.0.derivative(y, f[j], theta);
            self.0.ln_density(y, f[j], theta)
        })
    }

    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        for (j, (mean, &f)) in out.iter_mut().zip(f).enumerate() {
            *mean = self.0.mean(f, &row.theta.values.col(row.first + j));
        }
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for (j, (y, &f)) in out.iter_mut().zip(f).enumerate() {
            *y = self.0.simulate(f, &row.theta.values.col(row.first + j), rng);
        }
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = 20 * block.h.rows();
        block.each_column(stream, work, |column, rng| {
            self.slice_parameters(column, rng);
            Ok(())
        })
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        // An elliptical slice is cheap but makes small moves: several per sweep.
        const TURNS: usize = 4;
        let work = 100 * block.h.rows();
        block.each_column(stream, work, |column, rng| {
            self.slice_parameters(column, rng);
            let theta = column.theta.clone();
            for _ in 0..TURNS {
                column.f = prior_ellipse(column, |y, f| self.column_ln_lik(y, f, &theta), rng);
            }
            Ok(())
        })
    }
}

/// One elliptical slice of β_j under its prior; `ln_lik(y, f)` of the whole column. Returns the new f.
/// F rotates with β, so a candidate costs O(N).
pub(super) fn prior_ellipse<R: Rng + ?Sized>(
    column: &mut Column<'_>,
    ln_lik: impl Fn(&[f64], &[f64]) -> f64,
    rng: &mut R,
) -> Vec<f64> {
    let last = column.beta.len() - 1;
    let auxiliary: Vec<f64> = column.precision.iter().map(|p| normal(rng) / p.sqrt()).collect();
    let f_auxiliary: Vec<f64> = column.h.iter_rows().map(|h| crate::simd::dot(h, &auxiliary)).collect();
    let centre: Vec<f64> = column.offset.iter().map(|o| o + column.unit.centre).collect();
    let turn = |cos: f64, sin: f64| -> Vec<f64> {
        let cells = column.f.iter().zip(&centre).zip(&f_auxiliary);
        cells.map(|((f, c), a)| c + cos * (f - c) + sin * a).collect()
    };
    let current = ln_lik(&column.y, &column.f);
    let landing = slice::elliptical(rng, current, |cos, sin| ln_lik(&column.y, &turn(cos, sin)));
    let f = turn(landing.cos, landing.sin);
    for (m, (beta, auxiliary)) in column.beta.iter_mut().zip(&auxiliary).enumerate() {
        let centre = if m == last { column.unit.centre } else { 0.0 };
        *beta = centre + landing.cos * (*beta - centre) + landing.sin * auxiliary;
    }
    f
}
