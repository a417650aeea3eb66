//! Student-t columns, for real values with outliers: y = f + σ_j t_ν, β_j | σ_j², τ_j ~ N(b_0, σ_j²τ_j² diag(1, …, 1, s_c²)),
//! σ_j² ~ IG(a0, b0_j), ν_j known or gamma.
//!
//! A scale mixture of normals: y | q ~ N(f, σ_j²/q), q ~ Ga(ν/2, ν/2). Given f the cells' weights are q ~ Ga(½(ν+1), ½(ν + (y−f)²/σ²)), and
//! given q the column is a weighted Gaussian one ([`GaussianConditional`]). Weights are drawn when needed and not stored:
//! everything else uses the t density itself. θ holds 1/σ_j² and ν_j; all scales are in units of the column's spread.

use super::gaussian::{draw_prior_of, ln_hyper_of, ln_prior_of, prior_of, rounding, sums};
use super::{
    About, BlockView, Cells, Column, Family, GaussianConditional, Observed, Row, Seen, Shift, Statistic, Theta, Unit,
    Working,
};
use crate::dist::{gamma, ln_gamma, ln_gamma_density};
use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat, gram};
use crate::model::priors::{Dof, Gamma, Student};
use crate::model::{Amplitude, HalfT};
use crate::rng::{Stream, StreamRng};
use crate::slice;
use rand::RngExt;
use std::any::Any;
use std::f64::consts::PI;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "student-t",
    aliases: &["t", "student", "studentt"],
    cells: Cells::Real,
    statistics: Statistic::REAL,
    suggestions: &[
        (Statistic::LargestResidual, Observed::Less, "try gaussian"),
        (Statistic::Kurtosis, Observed::Less, "try gaussian"),
    ],
    new: |_, priors| Ok(Arc::new(StudentT::new(priors.student_t))),
};

/// y = f + σ_j t_ν.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StudentT {
    /// Priors of σ_j² and ν_j.
    pub prior: Student,
}

/// Initial ν where it is learned.
const START_DOF: f64 = 4.0;

/// What a column's precision and degrees of freedom depend on besides its cells.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Number of observed cells.
    pub seen: f64,
    /// Number of weights; zero where they are integrated out.
    pub weights: f64,
    /// Sum of squares of the weights, by their prior precisions.
    pub square: f64,
}

impl StudentT {
    /// Widths of slices of ln(1/σ²) and ln ν.
    pub(crate) const WIDTH: f64 = 0.5;

    /// With these priors.
    pub fn new(prior: Student) -> Self {
        StudentT { prior }
    }

    /// a0 and b0_j given the hyperparameters, rounding included.
    pub fn column_prior(&self, hyper: &[f64], unit: &Unit) -> Gamma {
        prior_of(&self.prior.noise, hyper, unit)
    }

    /// The hyperparameters given the precisions.
    fn draw_hyper(&self, block: &mut BlockView<'_>, stream: Stream) {
        if let Some(pool) = self.prior.noise.pool() {
            let sums = sums(block.theta, block.units, block.all, |f| block.sum(f));
            pool.slice(&mut block.theta.hyper, &mut stream.named("pool").rng(), |law| sums.ln(law));
        }
    }

    /// ln p(1/σ_j², β_j | τ_j) + ln p(ν_j) as a function of u = ln(s²/σ_j²) and ln ν_j, s the column's spread, plus the cells' density at f, up
    /// to a constant; `square` is (β_j − b_0)ᵀS0⁻¹(β_j − b_0).
    pub fn ln_parameters(&self, column: &Column<'_>, square: f64, [u, v]: [f64; 2]) -> f64 {
        let cell = Cell::new(u.exp() / column.unit.scale.powi(2), v.exp());
        let cells = column.y.iter().zip(&column.f).filter(|(y, _)| !y.is_nan());
        let seen = cells.clone().count() as f64;
        self.ln_beside((column.hyper, &column.unit), &Terms { seen, weights: column.beta.len() as f64, square }, [u, v])
            + cells.map(|(y, f)| cell.ln_lik(y - f)).sum::<f64>()
    }

    /// The same without the cells but for the constant of their density.
    pub fn ln_beside(
        &self,
        (hyper, unit): (&[f64], &Unit),
        &Terms { seen, weights, square }: &Terms,
        [u, v]: [f64; 2],
    ) -> f64 {
        let (precision, dof) = (u.exp() / unit.scale.powi(2), v.exp());
        let of_beta = 0.5 * weights * u - 0.5 * precision * square;
        let plain = Unit { centre: 0.0, scale: 1.0, rounding: unit.rounding / unit.scale.powi(2) };
        let of_noise = ln_prior_of(&self.prior.noise, hyper, &plain, u.exp()) + u;
        let of_dof = match self.prior.dof {
            Dof::Known(_) => 0.0,
            Dof::Learned(Gamma { shape, rate }) => ln_gamma_density(dof, shape, rate) + v,
        };
        // The constant of the density in units of the spread.
        let ln_normaliser = Cell::new(u.exp(), dof).ln_normaliser();
        of_beta + of_noise + of_dof + seen * ln_normaliser
    }

    /// 1/σ_j² and ν_j given β_j, by slices.
    fn slice_parameters(&self, column: &mut Column<'_>, rng: &mut StreamRng) {
        let square = column.weighted_square();
        let ln = |at: [f64; 2]| self.ln_parameters(column, square, at);
        let spread2 = column.unit.scale.powi(2);
        let mut at = [(column.theta[0] * spread2).ln(), column.theta[1].ln()];
        let u = slice::univariate(rng, at[0], ln(at), Self::WIDTH, |u| ln([u, at[1]])).0;
        at[0] = u;
        if let Dof::Learned(_) = self.prior.dof {
            let v = slice::univariate(rng, at[1], ln(at), Self::WIDTH, |v| ln([at[0], v])).0;
            at[1] = v;
        }
        column.theta[0] = at[0].exp() / spread2;
        if let Dof::Learned(_) = self.prior.dof {
            column.theta[1] = at[1].exp();
        }
    }

    fn initial_dof(&self) -> f64 {
        match self.prior.dof {
            Dof::Known(dof) => dof,
            Dof::Learned(_) => START_DOF,
        }
    }

    /// The conditional of (1/σ_j², β_j) given the cells' weights, zero where missing; `cholesky` is the factor of HᵀQH + S0⁻¹.
    pub fn given_weights<'a>(
        &self,
        column: &Column<'_>,
        weights: &[f64],
        cholesky: &'a Cholesky,
    ) -> GaussianConditional<'a> {
        let Gamma { shape, rate } = self.column_prior(column.hyper, &column.unit);
        GaussianConditional::weighted((shape, rate), column, weights, cholesky)
    }

    /// Draws the weights q of the cells, zero where missing.
    fn cell_weights(column: &Column<'_>, rng: &mut StreamRng) -> Vec<f64> {
        let [precision, dof] = [column.theta[0], column.theta[1]];
        let mut q = vec![0.0; column.y.len()];
        for ((q, y), f) in q.iter_mut().zip(&column.y).zip(&column.f).filter(|((_, y), _)| !y.is_nan()) {
            *q = gamma(0.5 * (dof + 1.0), 0.5 * (dof + precision * (y - f).powi(2)), rng);
        }
        q
    }

    /// Draws the cells' weights, then 1/σ_j² and β_j given them.
    fn draw_weights(&self, column: &mut Column<'_>, rng: &mut StreamRng) -> Result<(), NumericalError> {
        let q = Self::cell_weights(column, rng);
        let cholesky = Cholesky::new(gram(column.h, Some(&q), &column.precision), "weights")?;
        let (precision, mut beta) = self.given_weights(column, &q, &cholesky).draw(rng);
        if let Some(intercept) = beta.last_mut() {
            *intercept += column.unit.centre;
        }
        column.theta[0] = precision;
        column.beta = beta;
        Ok(())
    }
}

/// The density of one cell.
#[derive(Clone, Copy)]
struct Cell {
    precision: f64,
    dof: f64,
}

impl Cell {
    fn new(precision: f64, dof: f64) -> Self {
        Cell { precision, dof }
    }

    fn of(theta: &Theta, j: usize) -> Self {
        Cell::new(theta.values[(0, j)], theta.values[(1, j)])
    }

    fn ln_normaliser(self) -> f64 {
        ln_gamma(0.5 * (self.dof + 1.0)) - ln_gamma(0.5 * self.dof) + 0.5 * (self.precision / (self.dof * PI)).ln()
    }

    /// Up to its constant, for a residual r.
    fn ln_lik(self, r: f64) -> f64 {
        -0.5 * (self.dof + 1.0) * (self.precision * r * r / self.dof).ln_1p()
    }

    /// Its derivative with respect to f.
    fn slope(self, r: f64) -> f64 {
        (self.dof + 1.0) * self.precision * r / (self.dof + self.precision * r * r)
    }
}

/// Σ over the observed cells of a row.
fn sum(row: Row<'_>, mut cell: impl FnMut(usize, f64, Cell) -> f64) -> f64 {
    let seen = row.y.iter().enumerate().filter(|(_, y)| !y.is_nan());
    seen.map(|(j, &y)| cell(j, y, Cell::of(row.theta, row.first + j))).sum()
}

/// The value below which a share q of the sorted values lies, about.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = (sorted.len() - 1) as f64 * q;
    let (low, part) = (at.floor() as usize, at.fract());
    sorted[low] + part * (sorted[(low + 1).min(sorted.len() - 1)] - sorted[low])
}

impl Family for StudentT {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn parameters(&self) -> Vec<&'static str> {
        vec!["precision", "dof"]
    }

    fn problem(&self, _n: usize, _j: usize, y: f64) -> Option<String> {
        (y.abs() > 1e100).then(|| "is too large to compute with; rescale the column".into())
    }

    /// Median and interquartile range: one outlier would own a mean and a standard deviation.
    fn unit(&self, _j: usize, seen: &[Seen]) -> Unit {
        let mut sorted: Vec<f64> = seen.iter().map(|s| s.1 - s.2).collect();
        sorted.sort_by(f64::total_cmp);
        let centre = quantile(&sorted, 0.5);
        let spread = (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / 1.349;
        let deviation = (sorted.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / sorted.len() as f64).sqrt();
        // Half of the cells may hold the same number; a constant column has no spread, so its unit is 1.
        let scale = [spread, deviation, 1.0].into_iter().find(|s| *s > 0.0).unwrap_or(1.0);
        Unit { centre, scale, rounding: rounding(seen) }
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        y
    }

    fn start(&self, _seen: &[Seen], unit: &Unit) -> Vec<f64> {
        // Until the data say more, half of the column's variance counts as noise.
        vec![2.0 / unit.scale.powi(2), self.initial_dof()]
    }

    fn example(&self, _j: usize) -> Vec<f64> {
        vec![4.0, self.initial_dof()]
    }

    fn start_hyper(&self, _columns: usize, _sums: &[f64]) -> Vec<f64> {
        self.prior.noise.start()
    }

    fn draw_prior(&self, units: &[Unit], rng: &mut StreamRng) -> Theta {
        let mut values = Mat::zeros(2, units.len());
        let (hyper, precisions) = draw_prior_of(&self.prior.noise, units, rng);
        for (j, precision) in precisions.into_iter().enumerate() {
            values[(0, j)] = precision;
            values[(1, j)] = match self.prior.dof {
                Dof::Known(dof) => dof,
                Dof::Learned(Gamma { shape, rate }) => gamma(shape, rate, rng),
            };
        }
        Theta { values, hyper }
    }

    fn standardised(&self, p: usize, value: f64, unit: &Unit) -> f64 {
        if p == 0 { value * unit.scale.powi(2) } else { value }
    }

    fn ln_prior_column(&self, theta: &Theta, j: usize, unit: &Unit) -> f64 {
        ln_prior_of(&self.prior.noise, &theta.hyper, unit, theta.values[(0, j)])
            + match self.prior.dof {
                Dof::Known(_) => 0.0,
                Dof::Learned(Gamma { shape, rate }) => ln_gamma_density(theta.values[(1, j)], shape, rate),
            }
    }

    fn ln_hyper(&self, theta: &Theta) -> f64 {
        ln_hyper_of(&self.prior.noise, &theta.hyper)
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        let cell = Cell::of(row.theta, row.first + j);
        cell.ln_normaliser() + cell.ln_lik(row.y[j] - f[j])
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        sum(row, |j, y, cell| cell.ln_lik(y - f[j]))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        sum(row, |j, y, cell| cell.ln_lik(y - f[j] - s.a * s.u[j] - s.b * s.v[j]))
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        let cell = Cell::new(column.theta[0], column.theta[1]);
        let cells = column.y.iter().zip(f).filter(|(y, _)| !y.is_nan());
        Some(cells.map(|(y, f)| cell.ln_lik(y - f)).sum())
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        g.fill(0.0);
        sum(row, |j, y, cell| {
            g[j] = cell.slope(y - f[j]);
            cell.ln_lik(y - f[j])
        })
    }

    /// Fisher's information: the density is not log-concave, and its second derivative may have either sign.
    fn information(&self, row: Row<'_>, _f: &[f64], out: &mut [f64]) {
        for (j, (known, y)) in out.iter_mut().zip(row.y).enumerate() {
            let Cell { precision, dof } = Cell::of(row.theta, row.first + j);
            *known = if y.is_nan() { 0.0 } else { precision * (dof + 1.0) / (dof + 3.0) };
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn working(&self, _block: &BlockView<'_>, column: &Column<'_>, rng: &mut StreamRng) -> Option<Working> {
        let (q, mut working) = (Self::cell_weights(column, rng), Working::blank(column.y.len()));
        let cells = column.y.iter().zip(q).enumerate();
        cells.for_each(|(n, (&y, q))| working.set(n, y, (column.theta[0] * q).recip()));
        Some(working)
    }

    fn noise_prior(&self, hyper: &[f64], unit: &Unit) -> Option<Gamma> {
        Some(self.column_prior(hyper, unit))
    }

    fn mean(&self, _row: Row<'_>, f: &[f64], out: &mut [f64]) {
        out.copy_from_slice(f);
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for (j, (y, f)) in out.iter_mut().zip(f).enumerate() {
            let Cell { precision, dof } = Cell::of(row.theta, row.first + j);
            let t: f64 = rand_distr::StudentT::new(dof).map_or(f64::NAN, |law| rng.sample(law));
            *y = f + t / precision.sqrt();
        }
    }

    fn amplitude(&self) -> Amplitude {
        Amplitude::Shared(HalfT::default())
    }

    fn precision(&self) -> Option<usize> {
        Some(0)
    }

    fn weight_precision(&self, theta: &Theta, j: usize) -> f64 {
        theta.values[(0, j)]
    }

    /// 1/σ_j² as for a Gaussian column, with the expected weight of each cell; ν_j stays.
    fn maximise_parameters(&self, block: &mut BlockView<'_>) {
        let work = block.h.rows() + block.h.cols();
        block.set_columns(work, |column| {
            let (precision, dof) = (column.theta[0], column.theta[1]);
            let cells = column.y.iter().zip(&column.f).filter(|(y, _)| !y.is_nan());
            let weigh = |r2: f64| (dof + 1.0) / (dof + precision * r2) * r2;
            let square = cells.clone().map(|(y, f)| weigh((y - f).powi(2))).sum::<f64>() + column.weighted_square();
            let prior = self.column_prior(column.hyper, &column.unit);
            let shape = prior.shape + 0.5 * cells.count() as f64 - 1.0;
            column.theta[0] = shape.max(f64::MIN_POSITIVE) / (prior.rate + 0.5 * square);
        });
        if let Some(pool) = self.prior.noise.pool() {
            let sums = sums(block.theta, block.units, block.all, |f| block.sum(f));
            pool.settle(&mut block.theta.hyper, |law| sums.ln(law));
        }
    }

    fn update_parameters(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = 40 * block.h.rows();
        block.each_column(stream, work, |column, rng| {
            self.slice_parameters(column, rng);
            Ok(())
        })?;
        self.draw_hyper(block, stream);
        Ok(())
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = block.gram_work() + 200 * block.h.rows();
        block.each_column(stream, work, |column, rng| {
            self.slice_parameters(column, rng);
            if column.is_due { self.draw_weights(column, rng) } else { Ok(()) }
        })?;
        self.draw_hyper(block, stream);
        Ok(())
    }
}
