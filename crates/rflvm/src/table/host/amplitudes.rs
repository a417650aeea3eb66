//! τ_j², where each column has its own: the slices of [`crate::steps::amplitudes`], one column after the other while it is near.

use crate::error::NumericalError;
use crate::model::family::{Column, Family};
use crate::model::strength::{WIDTH, growth, ln_centred, square};
use crate::model::{HalfT, Model, State};
use crate::rng::Stream;
use crate::slice;
use rand::Rng;

/// One per column of block b.
pub(super) fn each(
    model: &Model,
    state: &mut State,
    b: usize,
    prior: HalfT,
    stream: Stream,
) -> Result<(), NumericalError> {
    let block = &model.blocks()[b];
    let columns = block.columns.clone();
    let squares: Vec<f64> = columns.clone().map(|j| square(model, state, j)).collect();
    let (free, count) = (|j: usize| model.is_free(columns.start + j), state.beta.rows() as f64);
    let work = 30 * model.rows();
    model.block_view(b, state, 1.0).each_column(stream, work, |column, rng| {
        if free(column.j) {
            let square = squares[column.j] * whitened(block.family.as_ref(), column, prior, rng);
            let ln = |u: f64| ln_centred(prior, count, square, u);
            let u = column.tau2.ln();
            column.tau2 = slice::univariate(rng, u, ln(u), WIDTH, ln).0.exp();
        }
        Ok(())
    })
}

/// f of a column whose weights, less their prior means, are `factor` times what they were.
fn grown(column: &Column<'_>, factor: f64) -> Vec<f64> {
    let cells = column.f.iter().zip(&column.offset);
    cells.map(|(f, o)| (o + column.unit.centre) + factor * (f - o - column.unit.centre)).collect()
}

/// ln p(y_j | f) + ln p(v) up to a constant, at ln τ_j² = v with (β_j − b_0)/τ_j held. `None` where the cells of a row depend on each other.
pub fn ln_whitened(family: &dyn Family, column: &Column<'_>, prior: HalfT, v: f64) -> Option<f64> {
    let f = grown(column, growth(column.tau2.ln(), v));
    family.ln_lik_column(column, &f).map(|ln| ln + prior.ln_density(v))
}

/// With (β_j − b_0)/τ_j held. Returns the factor by which the squares of the weights have grown.
fn whitened<R: Rng + ?Sized>(family: &dyn Family, column: &mut Column<'_>, prior: HalfT, rng: &mut R) -> f64 {
    let ln = |v: f64| ln_whitened(family, column, prior, v);
    let u = column.tau2.ln();
    let Some(current) = ln(u) else { return 1.0 };
    let (v, _) = slice::univariate(rng, u, current, WIDTH, |v| ln(v).unwrap_or(f64::NEG_INFINITY));
    let (factor, last) = (growth(u, v), column.beta.len() - 1);
    column.f = grown(column, factor);
    for (m, beta) in column.beta.iter_mut().enumerate() {
        let centre = if m == last { column.unit.centre } else { 0.0 };
        *beta = centre + factor * (*beta - centre);
    }
    column.tau2 = v.exp();
    factor * factor
}
