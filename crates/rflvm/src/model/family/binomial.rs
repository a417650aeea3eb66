//! Binomial counts of known trials, logit link: y ~ Bin(b, logistic(f)); Bernoulli for one trial.
//! Weights by Pólya-gamma augmentation with a = y, b = trials.

use super::{
    About, BlockView, Cells, Column, Family, Observed, Row, Seen, Shift, Statistic, Suggestion, Trials, Unit, Working,
    not_a_count, weights_given_omega,
};
use crate::dist::{ln_gamma, logistic, polya_gamma, softplus};
use crate::error::{DataError, NumericalError, SpecError};
use crate::linalg::Mat;
use crate::rng::{Stream, StreamRng};
use crate::simd;
use rand::RngExt;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// The total of a row says how many trials succeeded: rows cannot be rescaled by an offset.
const SUGGESTIONS: &[Suggestion] = &[
    (Statistic::RowTotals, Observed::More, "try more latent axes or more random features"),
    (Statistic::RowTotals, Observed::Less, "check whether rows were selected or scaled to have similar totals"),
];

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "binomial",
    aliases: &[],
    cells: Cells::Trials,
    statistics: Statistic::TRIALS,
    suggestions: SUGGESTIONS,
    new: |trials, _| Ok(Arc::new(Binomial::new(trials.ok_or_else(no_trials)?))),
};

/// One trial per cell.
pub(super) const BERNOULLI: About = About {
    name: "bernoulli",
    aliases: &["logistic", "binary", "boolean"],
    cells: Cells::Binary,
    statistics: Statistic::TRIALS,
    suggestions: SUGGESTIONS,
    new: |_, _| Ok(Arc::new(Binomial::bernoulli())),
};

fn no_trials() -> SpecError {
    let rule = "binomial needs it; give the number of trials, or choose bernoulli for yes/no data".into();
    SpecError::Setting { setting: "trials", value: "not given".into(), rule }
}

/// y ~ Bin(trials, logistic(f)).
#[derive(Debug, Clone, PartialEq)]
pub struct Binomial {
    pub(super) trials: Trials,
}

impl Binomial {
    /// One trial per cell.
    pub fn bernoulli() -> Self {
        Binomial::new(Trials::Same(1))
    }

    /// With the given trials.
    pub fn new(trials: Trials) -> Self {
        Binomial { trials }
    }

    /// ω and κ of the cells of a column, zero where missing.
    fn augment(&self, column: &Column<'_>, rng: &mut StreamRng) -> [Vec<f64>; 2] {
        let rows = column.y.len();
        let (mut omega, mut kappa) = (vec![0.0; rows], vec![0.0; rows]);
        for n in (0..rows).filter(|&n| !column.y[n].is_nan()) {
            let trials = self.of(n, column.j);
            omega[n] = polya_gamma::draw(trials, column.f[n], rng);
            kappa[n] = column.y[n] - 0.5 * trials;
        }
        [omega, kappa]
    }

    fn description(&self) -> &'static About {
        if self.trials == Trials::Same(1) { &BERNOULLI } else { &ABOUT }
    }

    fn of(&self, n: usize, j: usize) -> f64 {
        self.trials.of(n, j)
    }
}

impl Family for Binomial {
    fn name(&self) -> &'static str {
        self.description().name
    }

    fn about(&self) -> Option<&'static About> {
        Some(self.description())
    }

    fn problem(&self, n: usize, j: usize, y: f64) -> Option<String> {
        let trials = self.of(n, j);
        if !(trials >= 1.0 && trials.fract() == 0.0 && trials.is_finite()) {
            return Some(format!("has {trials} trials, but the number of trials must be a whole number of at least 1"));
        }
        let above = || format!("exceeds its number of trials, {trials}; correct the trials or the cell");
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

    fn of_rows(&self, rows: &[usize]) -> Option<Arc<dyn Family>> {
        let Trials::Each(b) = &self.trials else { return None };
        Some(Arc::new(Binomial::new(Trials::Each(Mat::from_fn(rows.len(), b.cols(), |n, j| b[(rows[n], j)])))))
    }

    fn of_columns(&self, columns: Range<usize>) -> Option<Arc<dyn Family>> {
        let Trials::Each(b) = &self.trials else { return None };
        let own = Mat::from_fn(b.rows(), columns.len(), |n, j| b[(n, columns.start + j)]);
        Some(Arc::new(Binomial::new(Trials::Each(own))))
    }

    fn unit(&self, j: usize, seen: &[Seen]) -> Unit {
        let successes: f64 = seen.iter().map(|s| s.1).sum();
        let trials: f64 = seen.iter().map(|s| self.of(s.0, j)).sum();
        let share = (successes + 0.5) / (trials + 1.0);
        let offset = seen.iter().map(|s| s.2).sum::<f64>() / seen.len() as f64;
        Unit::new((share / (1.0 - share)).ln() - offset, 1.0)
    }

    fn link(&self, n: usize, j: usize, y: f64) -> f64 {
        ((y + 0.5) / (self.of(n, j) - y + 0.5)).ln()
    }

    fn ln_piece(&self, row: Row<'_>, j: usize, f: &[f64]) -> f64 {
        let (b, y) = (self.of(row.n, row.first + j), row.y[j]);
        ln_gamma(b + 1.0) - ln_gamma(y + 1.0) - ln_gamma(b - y + 1.0) + y * f[j] - b * softplus(f[j])
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        match &self.trials {
            Trials::Same(b) => simd::logistic_ln_lik_same(row.y, f64::from(*b), f),
            Trials::Each(b) => simd::logistic_ln_lik(row.y, &b.row(row.n)[row.cells()], f),
        }
    }

    fn ln_lik_column(&self, column: &Column<'_>, f: &[f64]) -> Option<f64> {
        let trials: Vec<f64> = (0..f.len()).map(|n| self.of(n, column.j)).collect();
        Some(simd::logistic_ln_lik(&column.y, &trials, f))
    }

    fn ln_lik_shifted(&self, row: Row<'_>, f: &[f64], s: Shift<'_>) -> f64 {
        match &self.trials {
            Trials::Same(b) => simd::logistic_ln_lik_same_moved(row.y, f64::from(*b), f, s.a, s.u, s.b, s.v),
            Trials::Each(b) => simd::logistic_ln_lik_moved(row.y, &b.row(row.n)[row.cells()], f, s.a, s.u, s.b, s.v),
        }
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        match &self.trials {
            Trials::Same(b) => simd::logistic_grad_same(row.y, f64::from(*b), f, g),
            Trials::Each(b) => simd::logistic_grad(row.y, &b.row(row.n)[row.cells()], f, g),
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn working(&self, _block: &BlockView<'_>, column: &Column<'_>, rng: &mut StreamRng) -> Option<Working> {
        let [omega, kappa] = self.augment(column, rng);
        Some(Working::augmented(&omega, &kappa))
    }

    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(f).enumerate().for_each(|(j, (m, f))| *m = self.of(row.n, row.first + j) * logistic(*f));
    }

    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        for (j, (y, f)) in out.iter_mut().zip(f).enumerate() {
            let law = rand_distr::Binomial::new(self.of(row.n, row.first + j) as u64, logistic(*f));
            *y = law.map_or(f64::NAN, |law| rng.sample(law) as f64);
        }
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let work = block.gram_work() + 100 * block.h.rows();
        block.each_due_column(stream, work, |column, rng| {
            let [omega, kappa] = self.augment(column, rng);
            column.beta = weights_given_omega(column, &omega, &kappa, &column.offset)?.draw(rng);
            Ok(())
        })
    }
}
