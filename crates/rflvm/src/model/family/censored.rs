//! Gaussian or log-normal cells, some of them known only to lie beyond a limit (Tobin 1958): z ~ N(f, σ_j²), where z is y or ln y.
//!
//! With the lower limit a of a cell and φ, Φ the standard normal's density and distribution function, P(z ≤ a) = Φ((a − f)/σ_j), and so
//! for upper limits. Weights and noise are drawn as those of the Gaussian after z of each such cell is drawn given f and σ_j.

use super::limits::Limits;
use super::log_normal::{amount, logarithms_of, not_positive};
use super::{About, BlockView, Column, Family, Gaussian, Row, Theta, Unit, Working, gaussian, log_normal};
use crate::dist::truncated::{density, draw_above, hazard, ln_probability, probability};
use crate::dist::{LN_SQRT_2PI, normal};
use crate::error::{DataError, NumericalError};
use crate::linalg::Mat;
use crate::model::Amplitude;
use crate::rng::{Stream, StreamRng};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Gaussian or log-normal columns with limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Censored {
    /// The distribution of z.
    pub gaussian: Gaussian,
    /// Whether z is ln y rather than y.
    pub is_logarithmic: bool,
    /// The limits, on the scale of y.
    pub limits: Limits,
}

impl Censored {
    /// A family with limits, if it is for cells of which only a limit may be known.
    pub fn of(family: &dyn Family, limits: Limits) -> Option<Arc<dyn Family>> {
        if let Some(own) = family.as_any().and_then(|any| any.downcast_ref::<Censored>()) {
            return Some(Arc::new(Censored { limits, ..own.clone() }));
        }
        let gaussian = family.as_gaussian()?.clone();
        Some(Arc::new(Censored { gaussian, is_logarithmic: family.is_logarithmic(), limits }))
    }
}

/// What is known of z of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seen {
    /// Its value.
    Value(f64),
    /// That it is at most this.
    Below(f64),
    /// That it is at least this.
    Above(f64),
}

impl Seen {
    /// A draw of z given f and 1/σ.
    pub fn draw(self, f: f64, root: f64, rng: &mut StreamRng) -> f64 {
        match self {
            Seen::Value(z) => z,
            Seen::Below(limit) => f - draw_above((f - limit) * root, rng) / root,
            Seen::Above(limit) => f + draw_above((limit - f) * root, rng) / root,
        }
    }

    /// The part of ln p of this that depends on f.
    fn ln(self, f: f64, root: f64) -> f64 {
        match self {
            Seen::Value(z) => -0.5 * ((z - f) * root).powi(2),
            Seen::Below(limit) => ln_probability((limit - f) * root),
            Seen::Above(limit) => ln_probability((f - limit) * root),
        }
    }

    /// Its derivative with respect to f.
    fn slope(self, f: f64, root: f64) -> f64 {
        match self {
            Seen::Value(z) => (z - f) * root * root,
            Seen::Below(limit) => -root * hazard((limit - f) * root),
            Seen::Above(limit) => root * hazard((f - limit) * root),
        }
    }
}

impl Censored {
    /// z of a value, or of a limit.
    fn z(&self, y: f64) -> f64 {
        match self.is_logarithmic {
            true if y <= 0.0 => f64::NEG_INFINITY,
            true => y.ln(),
            false => y,
        }
    }

    /// What a cell y says of z.
    fn seen(&self, n: usize, j: usize, y: f64) -> Seen {
        match self.limits.of(n, j) {
            [lower, _] if y <= lower => Seen::Below(self.z(lower)),
            [_, upper] if y >= upper => Seen::Above(self.z(upper)),
            _ => Seen::Value(self.z(y)),
        }
    }

    /// The sum over the observed cells of a row of what `cell` says, given what is known of z and 1/σ.
    fn sum(&self, row: Row<'_>, mut cell: impl FnMut(usize, Seen, f64) -> f64) -> f64 {
        let precision = row.parameters(0);
        let observed = row.y.iter().enumerate().filter(|(_, y)| !y.is_nan());
        observed.map(|(j, &y)| cell(j, self.seen(row.n, row.first + j, y), precision[j].sqrt())).sum()
    }

    /// z of the cells of a column, those beyond a limit drawn; NaN where missing.
    fn draw(&self, j: usize, y: &[f64], f: &[f64], precision: f64, rng: &mut StreamRng) -> Vec<f64> {
        let cells = y.iter().zip(f).enumerate();
        cells.map(|(n, (&y, &f))| self.seen(n, j, y).draw(f, precision.sqrt(), rng)).collect()
    }
}

impl Family for Censored {
    fn name(&self) -> &'static str {
        if self.is_logarithmic { "censored log-normal" } else { "censored gaussian" }
    }

    fn about(&self) -> Option<&'static About> {
        Some(if self.is_logarithmic { &log_normal::ABOUT } else { &gaussian::ABOUT })
    }

    fn parameters(&self) -> Vec<&'static str> {
        self.gaussian.parameters()
    }

    fn problem(&self, n: usize, j: usize, y: f64) -> Option<String> {
        if self.is_logarithmic { not_positive(y) } else { self.gaussian.problem(n, j, y) }
    }

    fn any_cell(&self) -> f64 {
        if self.is_logarithmic { 1.0 } else { 0.0 }
    }

    fn limits(&self) -> Option<&Limits> {
        Some(&self.limits)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    fn check_shape(&self, rows: usize, columns: usize) -> Result<(), DataError> {
        let own = (self.limits.lower.rows(), self.limits.lower.cols());
        if own == (rows, columns) {
            return Ok(());
        }
        let (found, expected) = (format!("{}×{}", own.0, own.1), format!("{rows}×{columns}"));
        Err(DataError::Shape { what: "the matrix of limits", found, expected })
    }

    fn of_rows(&self, rows: &[usize]) -> Option<Arc<dyn Family>> {
        Some(Arc::new(Censored { limits: self.limits.of_rows(rows), ..self.clone() }))
    }

    fn of_columns(&self, columns: Range<usize>) -> Option<Arc<dyn Family>> {
        Some(Arc::new(Censored { limits: self.limits.of_columns(columns), ..self.clone() }))
    }

    fn unit(&self, j: usize, seen: &[super::Seen]) -> Unit {
        // Cells at a limit are no sign that a column is rounded.
        let unit = match self.is_logarithmic {
            true => self.gaussian.unit(j, &logarithms_of(seen)),
            false => self.gaussian.unit(j, seen),
        };
        Unit { rounding: 0.0, ..unit }
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        self.z(y)
    }

    fn start(&self, seen: &[super::Seen], unit: &Unit) -> Vec<f64> {
        self.gaussian.start(seen, unit)
    }

    fn example(&self, j: usize) -> Vec<f64> {
        self.gaussian.example(j)
    }

    fn start_hyper(&self, columns: usize, sums: &[f64]) -> Vec<f64> {
        self.gaussian.start_hyper(columns, sums)
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        self.gaussian.draw_prior(units, rng)
    }

    fn standardised(&self, p: usize, value: f64, unit: &Unit) -> f64 {
        self.gaussian.standardised(p, value, unit)
    }

    fn ln_prior_column(&self, theta: &Theta, j: usize, unit: &Unit) -> f64 {
        self.gaussian.ln_prior_column(theta, j, unit)
    }

    fn ln_hyper(&self, theta: &Theta) -> f64 {
        self.gaussian.ln_hyper(theta)
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        let root = row.parameters(0)[j].sqrt();
        let seen = self.seen(row.n, row.first + j, row.y[j]);
        let jacobian = if self.is_logarithmic { row.y[j].ln() } else { 0.0 };
        let constant = if let Seen::Value(_) = seen { root.ln() - LN_SQRT_2PI - jacobian } else { 0.0 };
        seen.ln(f[j], root) + constant
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        self.sum(row, |j, seen, root| seen.ln(f[j], root))
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        let root = column.theta[0].sqrt();
        let observed = column.y.iter().zip(f).enumerate().filter(|(_, (y, _))| !y.is_nan());
        Some(observed.map(|(n, (&y, &f))| self.seen(n, column.j, y).ln(f, root)).sum())
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        g.fill(0.0);
        self.sum(row, |j, seen, root| {
            g[j] = seen.slope(f[j], root);
            seen.ln(f[j], root)
        })
    }

    fn working(&self, _block: &BlockView<'_>, column: &Column<'_>, rng: &mut StreamRng) -> Option<Working> {
        let mut working = Working::blank(column.y.len());
        let z = self.draw(column.j, &column.y, &column.f, column.theta[0], rng);
        z.iter().enumerate().for_each(|(n, &z)| working.set(n, z, 1.0 / column.theta[0]));
        Some(working)
    }

    fn noise_prior(&self, hyper: &[f64], unit: &Unit) -> Option<crate::model::priors::Gamma> {
        self.gaussian.noise_prior(hyper, unit)
    }

    /// Of the cell as it would be recorded.
    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        for (j, (out, &f)) in out.iter_mut().zip(f).enumerate() {
            let sd = row.parameters(0)[j].sqrt().recip();
            let [lower, upper] = self.limits.of(row.n, row.first + j);
            let [a, b] = [lower, upper].map(|limit| (self.z(limit) - f) / sd);
            let at = |limit: f64, share: f64| if share > 0.0 { limit * share } else { 0.0 };
            let between = match self.is_logarithmic {
                true => (f + 0.5 * sd * sd).exp() * (probability(b - sd) - probability(a - sd)),
                false => f * (probability(b) - probability(a)) - sd * (density(b) - density(a)),
            };
            *out = at(lower, probability(a)) + at(upper, probability(-b)) + between;
        }
    }

    /// As they would be recorded.
    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for (j, (y, &f)) in out.iter_mut().zip(f).enumerate() {
            let z = f + normal(rng) / row.parameters(0)[j].sqrt();
            *y = self.limits.recorded(row.n, row.first + j, if self.is_logarithmic { amount(z) } else { z });
        }
    }

    fn amplitude(&self) -> Amplitude {
        self.gaussian.amplitude()
    }

    fn weight_precision(&self, theta: &Theta, j: usize) -> f64 {
        self.gaussian.weight_precision(theta, j)
    }

    fn update_hyper(&self, block: &mut BlockView<'_>, stream: Stream) {
        self.gaussian.update_hyper(block, stream);
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        self.update(block, stream)
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let mut z = Mat::zeros(block.h.rows(), block.width());
        for j in 0..block.width() {
            let column = block.column(j, stream);
            let rng = &mut block.stream(stream.named("censored"), j).rng();
            z.set_col(j, &self.draw(j, &column.y, &column.f, column.theta[0], rng));
        }
        block.seeing(z, |block| self.gaussian.update(block, stream))
    }
}
