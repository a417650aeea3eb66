//! Binomial counts of known trials, logit link: y ~ Bin(b, logistic(f)); Bernoulli for one trial.
//! Weights by Pólya-gamma augmentation with a = y, b = trials.

use super::{BlockView, Column, Family, Row, Seen, Shift, Unit, not_a_count, weights_given_omega};
use crate::dist::{ln_gamma, logistic, polya_gamma, softplus};
use crate::error::{DataError, NumericalError};
use crate::linalg::Mat;
use crate::rng::{Stream, StreamRng};
use crate::simd;
use rand::RngExt;

/// Numbers of trials.
#[derive(Debug, Clone, PartialEq)]
pub enum Trials {
    /// The same for all cells.
    Same(u32),
    /// One a cell, in the shape of the block.
    Each(Mat),
}

/// y ~ Bin(trials, logistic(f)).
#[derive(Debug, Clone, PartialEq)]
pub struct Binomial {
    trials: Trials,
}

impl Binomial {
    /// One trial a cell.
    pub fn bernoulli() -> Self {
        Binomial::new(Trials::Same(1))
    }

    /// With the given trials.
    pub fn new(trials: Trials) -> Self {
        Binomial { trials }
    }

    fn of(&self, n: usize, j: usize) -> f64 {
        match &self.trials {
            Trials::Same(b) => f64::from(*b),
            Trials::Each(b) if n < b.rows() => b[(n, j)],
            // A row that the table does not have.
            Trials::Each(_) => 1.0,
        }
    }
}

impl Family for Binomial {
    fn name(&self) -> &'static str {
        if self.trials == Trials::Same(1) { "bernoulli" } else { "binomial" }
    }

    fn problem(&self, n: usize, j: usize, y: f64) -> Option<String> {
        let trials = self.of(n, j);
        if !(trials >= 1.0 && trials.fract() == 0.0 && trials.is_finite()) {
            return Some(format!("has {trials} trials, but trials are whole numbers of at least 1"));
        }
        let above = || format!("is above its number of trials, {trials}; give the right trials or correct the cell");
        not_a_count(y).or_else(|| (y > trials).then(above))
    }

    fn check_shape(&self, rows: usize, columns: usize) -> Result<(), DataError> {
        match &self.trials {
            Trials::Each(b) if (b.rows(), b.cols()) != (rows, columns) => Err(DataError::Shape {
                what: "the matrix of trials",
                found: format!("{}×{}", b.rows(), b.cols()),
                expected: format!("{rows}×{columns}"),
            }),
            _ => Ok(()),
        }
    }

    fn unit(&self, j: usize, seen: &[Seen]) -> Unit {
        let successes: f64 = seen.iter().map(|s| s.1).sum();
        let trials: f64 = seen.iter().map(|s| self.of(s.0, j)).sum();
        let share = (successes + 0.5) / (trials + 1.0);
        let offset = seen.iter().map(|s| s.2).sum::<f64>() / seen.len() as f64;
        Unit { centre: (share / (1.0 - share)).ln() - offset, scale: 1.0 }
    }

    fn link(&self, n: usize, j: usize, y: f64) -> f64 {
        ((y + 0.5) / (self.of(n, j) - y + 0.5)).ln()
    }

    fn ln_density(&self, row: Row<'_>, f: &[f64]) -> f64 {
        let cells = row.y.iter().zip(f).enumerate().filter(|(_, (y, _))| !y.is_nan());
        cells
            .map(|(j, (y, f))| {
                let b = self.of(row.n, j);
                ln_gamma(b + 1.0) - ln_gamma(y + 1.0) - ln_gamma(b - y + 1.0) + y * f - b * softplus(*f)
            })
            .sum()
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        match &self.trials {
            Trials::Same(b) => simd::logistic_ln_lik_same(row.y, f64::from(*b), f),
            Trials::Each(b) => simd::logistic_ln_lik(row.y, b.row(row.n), f),
        }
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        let trials: Vec<f64> = (0..f.len()).map(|n| self.of(n, column.j)).collect();
        Some(simd::logistic_ln_lik(&column.y, &trials, f))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        match &self.trials {
            Trials::Same(b) => simd::logistic_ln_lik_same_moved(row.y, f64::from(*b), f, s.a, s.u, s.b, s.v),
            Trials::Each(b) => simd::logistic_ln_lik_moved(row.y, b.row(row.n), f, s.a, s.u, s.b, s.v),
        }
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        match &self.trials {
            Trials::Same(b) => simd::logistic_grad_same(row.y, f64::from(*b), f, g),
            Trials::Each(b) => simd::logistic_grad(row.y, b.row(row.n), f, g),
        }
    }

    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(f).enumerate().for_each(|(j, (m, f))| *m = self.of(row.n, j) * logistic(*f));
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for (j, (y, f)) in out.iter_mut().zip(f).enumerate() {
            let law = rand_distr::Binomial::new(self.of(row.n, j) as u64, logistic(*f));
            *y = law.map_or(f64::NAN, |law| rng.sample(law) as f64);
        }
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = block.gram_work() + 100 * block.h.rows();
        block.each_due_column(stream, work, |column, rng| {
            let rows = column.y.len();
            let (mut omega, mut kappa) = (vec![0.0; rows], vec![0.0; rows]);
            for n in (0..rows).filter(|&n| !column.y[n].is_nan()) {
                let trials = self.of(n, column.j);
                omega[n] = polya_gamma::draw(trials, column.f[n], rng);
                kappa[n] = column.y[n] - 0.5 * trials;
            }
            column.beta = weights_given_omega(column, &omega, &kappa, column.offset)?.draw(rng);
            Ok(())
        })
    }
}
