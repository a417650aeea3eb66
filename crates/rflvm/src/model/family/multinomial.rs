//! Multinomial rows: y_i ~ Mult(n_i, softmax(f_i)), last category as reference (β_J = 0). A row is observed or missing as a whole.
//!
//! Category by category: ξ_ij = ln Σ_{j'≠j} e^{f_ij'}, ψ_ij = f_ij − ξ_ij, ω_ij ~ PG(n_i, ψ_ij) drawn right before
//! β_j ~ N(V(Hᵀ(κ_j + Ω_j ξ_j − Ω_j o) + B0⁻¹b_0), V), κ_ij = y_ij − n_i/2. Moves of X and W use the multinomial itself.

use super::{
    About, BlockView, Cells, Column, Family, Row, Seen, Statistic, Unit, Working, not_a_count, weights_given_omega,
};
use crate::dist::{ln_gamma, polya_gamma};
use crate::error::{DataError, NumericalError};
use crate::linalg::Mat;
use crate::rng::{Stream, StreamRng};
use crate::simd;
use rand::RngExt;
use std::any::Any;
use std::sync::Arc;

/// What the family says about itself.
pub(super) const ABOUT: About = About {
    name: "multinomial",
    aliases: &["categorical", "category"],
    cells: Cells::Categories,
    statistics: Statistic::CATEGORIES,
    suggestions: &[],
    new: |_, _| Ok(Arc::new(Multinomial)),
};

/// y_i ~ Mult(n_i, softmax(f_i)); n_i is the total of the row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Multinomial;

impl Family for Multinomial {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn about(&self) -> Option<&'static About> {
        Some(&ABOUT)
    }

    fn problem(&self, _n: usize, _j: usize, y: f64) -> Option<String> {
        not_a_count(y)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn check_row(&self, n: usize, y: &[f64]) -> Result<(), DataError> {
        let missing = y.iter().filter(|v| v.is_nan()).count();
        if missing == y.len() {
            Ok(())
        } else if missing > 0 {
            Err(DataError::PartialRow { row: n + 1 })
        } else if y.iter().sum::<f64>() == 0.0 {
            Err(DataError::ZeroRow { row: n + 1 })
        } else {
            Ok(())
        }
    }

    fn check_shape(&self, _rows: usize, columns: usize) -> Result<(), DataError> {
        if columns < 2 {
            let (found, expected) = ("1 column".into(), "at least 2 categories".into());
            return Err(DataError::Shape { what: "a multinomial block", found, expected });
        }
        Ok(())
    }

    fn unit(&self, _j: usize, seen: &[Seen]) -> Unit {
        Unit::new(seen.iter().map(|s| s.1).sum::<f64>().max(0.5).ln(), 1.0)
    }

    fn relate(&self, units: &mut [Unit]) {
        let reference = units[units.len() - 1].centre;
        units.iter_mut().for_each(|unit| unit.centre -= reference);
    }

    fn link(&self, _n: usize, _j: usize, y: f64) -> f64 {
        y.ln_1p()
    }

    fn ln_piece(&self, row: Row<'_>, _j: usize, f: &[f64]) -> f64 {
        let top = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let normaliser = top + f.iter().map(|f| (f - top).exp()).sum::<f64>().ln();
        let total: f64 = row.y.iter().sum();
        let cells = row.y.iter().zip(f);
        ln_gamma(total + 1.0) + cells.map(|(y, f)| y * (f - normaliser) - ln_gamma(y + 1.0)).sum::<f64>()
    }

    fn ln_lik(&self, row: Row<'_>, f: &[f64]) -> f64 {
        simd::multinomial_ln_lik(row.y, f)
    }

    fn gradient(&self, row: Row<'_>, f: &[f64], g: &mut [f64]) -> f64 {
        simd::multinomial_grad(row.y, f, g)
    }

    fn information(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        let total = if row.y[0].is_nan() { 0.0 } else { row.y.iter().sum::<f64>() };
        probabilities(f, out);
        out.iter_mut().for_each(|p| *p *= total * (1.0 - *p));
    }

    /// Expected counts; probabilities for a missing row, whose total is unknown.
    fn mean(&self, row: Row<'_>, f: &[f64], out: &mut [f64]) {
        let total = if row.y[0].is_nan() { 1.0 } else { row.y.iter().sum::<f64>() };
        probabilities(f, out);
        out.iter_mut().for_each(|p| *p *= total);
    }

    /// Counts with the row's own total; a missing row gets one trial.
    fn simulate(&self, row: Row<'_>, f: &[f64], out: &mut [f64], rng: &mut StreamRng) {
        let mut left = if row.y[0].is_nan() { 1 } else { row.y.iter().sum::<f64>() as u64 };
        probabilities(f, out);
        let mut mass = 1.0;
        let last = out.len() - 1;
        for (j, y) in out.iter_mut().enumerate() {
            let p = *y;
            let share = if j == last { 1.0 } else { (p / mass).clamp(0.0, 1.0) };
            let count = rand_distr::Binomial::new(left, share).map_or(0, |law| rng.sample(law));
            *y = count as f64;
            left -= count;
            mass = (mass - p).max(f64::MIN_POSITIVE);
        }
    }

    fn working(&self, block: &BlockView<'_>, column: &Column<'_>, rng: &mut StreamRng) -> Option<Working> {
        let (rows, j) = (block.h.rows(), column.j);
        let (mut omega, mut kappa, mut others) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; rows]);
        for n in 0..rows {
            let total: f64 = block.y.row(n)[block.columns.clone()].iter().sum();
            if !total.is_nan() {
                let f = &block.f.row(n)[block.columns.clone()];
                others[n] = ln_sum_without(f, j);
                omega[n] = polya_gamma::draw(total, f[j] - others[n], rng);
                kappa[n] = column.y[n] - 0.5 * total;
            }
        }
        let mut working = Working::augmented(&omega, &kappa);
        // ψ = f − ξ.
        working.response.iter_mut().zip(&others).for_each(|(z, xi)| *z += xi);
        Some(working)
    }

    fn is_free(&self, j: usize, columns: usize) -> bool {
        j + 1 < columns
    }

    fn update(&self, block: &mut BlockView<'_>, stream: Stream) -> Result<(), NumericalError> {
        let rows = block.h.rows();
        let range = block.columns.clone();
        let totals: Vec<f64> = (0..rows).map(|n| block.y.row(n)[range.clone()].iter().sum()).collect();
        let mut normaliser = Normaliser::new(block);
        // Another process may have the whole block.
        for j in 0..block.width().saturating_sub(1) {
            let stream = stream.at(j as u64);
            let column = block.column(j, stream);
            if !column.is_due {
                continue;
            }
            let rng = &mut stream.rng();
            let (mut omega, mut kappa, mut known) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; rows]);
            for n in (0..rows).filter(|&n| !totals[n].is_nan()) {
                let xi = normaliser.without(n, j);
                omega[n] = polya_gamma::draw(totals[n], column.f[n] - xi, rng);
                kappa[n] = column.y[n] - 0.5 * totals[n];
                known[n] = column.offset[n] - xi;
            }
            let beta = weights_given_omega(&column, &omega, &kappa, &known)?.draw(rng);
            let f = column.predictor(&beta);
            block.beta.set_col(range.start + j, &beta);
            for (n, &f) in f.iter().enumerate() {
                normaliser.set(n, j, f);
            }
        }
        Ok(())
    }
}

/// ξ_j = ln Σ_{k≠j} e^{f_k}.
fn ln_sum_without(f: &[f64], j: usize) -> f64 {
    let others = || f.iter().enumerate().filter(|&(k, _)| k != j).map(|(_, f)| *f);
    let top = others().fold(f64::NEG_INFINITY, f64::max);
    top + others().map(|f| (f - top).exp()).sum::<f64>().ln()
}

fn probabilities(f: &[f64], out: &mut [f64]) {
    let top = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    out.iter_mut().zip(f).for_each(|(p, f)| *p = (f - top).exp());
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p /= sum);
}

/// Σ_j e^{f_ij} of each row, with single terms replaced in O(1) rather than O(J).
struct Normaliser {
    top: Vec<f64>,
    terms: Mat,
    sums: Vec<f64>,
}

impl Normaliser {
    fn new(block: &BlockView<'_>) -> Self {
        let rows = block.h.rows();
        let f = |n: usize| &block.f.row(n)[block.columns.clone()];
        let top: Vec<f64> = (0..rows).map(|n| f(n).iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect();
        let terms = Mat::from_fn(rows, block.width(), |n, j| (f(n)[j] - top[n]).exp());
        let sums = terms.iter_rows().map(|t| t.iter().sum()).collect();
        Normaliser { top, terms, sums }
    }

    /// ξ_ij.
    fn without(&self, n: usize, j: usize) -> f64 {
        let rest = self.sums[n] - self.terms[(n, j)];
        // If category j has nearly all the mass, the difference cancels: sum the others.
        let rest = if rest > 1e-3 * self.sums[n] {
            rest
        } else {
            self.terms.row(n).iter().enumerate().filter(|&(k, _)| k != j).map(|(_, t)| t).sum()
        };
        self.top[n] + rest.max(f64::MIN_POSITIVE).ln()
    }

    fn set(&mut self, n: usize, j: usize, f: f64) {
        // A draw far above the old maximum would overflow: rescale the row first.
        if f - self.top[n] > 600.0 {
            let factor = (self.top[n] - f).exp();
            self.terms.row_mut(n).iter_mut().for_each(|t| *t *= factor);
            self.top[n] = f;
        }
        let old = self.terms[(n, j)];
        let new = (f - self.top[n]).exp();
        self.terms[(n, j)] = new;
        if old < 0.5 * self.sums[n] {
            self.sums[n] += new - old;
        } else {
            self.sums[n] = self.terms.row(n).iter().sum();
        }
    }
}
