//! θ given F: dispersions of negative binomial columns and precisions of Gaussian ones. Other families have none.

use super::{ColumnAt, Device, check, rounds};
use crate::dist::{gamma, ln_gamma_density};
use crate::error::NumericalError;
use crate::model::family::{Gaussian, Law, NegativeBinomial};
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::steps::amplitudes::square;

/// Redraws θ of all blocks; what hardly moves it only in a fraction of the sweeps.
pub fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    share: f64,
    stream: Stream,
) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        let stream = stream.at(b as u64);
        match block.family.law() {
            Some(Law::NegativeBinomial(family)) => dispersions(device, model, state, b, (family, share), stream),
            Some(Law::Gaussian(family)) => precisions(device, model, state, b, family, stream),
            _ => continue,
        }
        device.set_parameters(&state.theta);
        check(device)?;
    }
    Ok(())
}

/// Log-likelihoods of the columns of block b, at changes of them; the other columns stay.
fn of_block(device: &mut dyn Device, model: &Model, b: usize, at: &[ColumnAt], out: &mut [f64]) {
    let columns = model.blocks()[b].columns.clone();
    let mut all = vec![ColumnAt { factor: 1.0, shift: 0.0, theta: 1.0 }; model.columns()];
    all[columns.clone()].copy_from_slice(at);
    let mut values = vec![0.0; model.columns()];
    device.ln_lik_columns(&all, &mut values);
    out.copy_from_slice(&values[columns]);
}

/// Width of a slice of ln r, along the line of constant means and with f fixed.
const WIDTHS: [f64; 2] = [0.5, 0.5];

/// r_j of all columns: along the line of constant means, r → r e^u, intercept → intercept − u, where it is least determined; in a fraction of
/// the sweeps also given f; then h.
fn dispersions(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    b: usize,
    (family, share): (&NegativeBinomial, f64),
    stream: Stream,
) {
    let columns = model.blocks()[b].columns.clone();
    let last = state.beta.rows() - 1;
    let mut rngs: Vec<StreamRng> = columns.clone().map(|j| stream.at(j as u64).rng()).collect();
    let rate = state.theta[b].hyper[0];
    let is_due = stream.is_chosen(share);
    for (slides, width) in [true, false].into_iter().zip(WIDTHS).filter(|(slides, _)| *slides || is_due) {
        let r: Vec<f64> = state.theta[b].values.row(0).to_vec();
        let intercepts: Vec<(f64, f64)> = columns
            .clone()
            .map(|j| (state.beta[(last, j)] - model.units()[j].centre, model.weight_precision(state.tau2[j])[last]))
            .collect();
        let u = rounds::univariate(&mut rngs, &vec![0.0; r.len()], width, |u, out| {
            let at = |(u, r): (&f64, &f64)| ColumnAt {
                factor: 1.0,
                shift: if slides { *u } else { 0.0 },
                theta: r * u.exp(),
            };
            let at: Vec<ColumnAt> = u.iter().zip(&r).map(at).collect();
            of_block(device, model, b, &at, out);
            for (i, out) in out.iter_mut().enumerate() {
                let (away, precision) = intercepts[i];
                // u has Haar measure, and the Jacobian of r is e^u.
                *out += ln_gamma_density(at[i].theta, family.shape, rate) + u[i];
                *out -= if slides { 0.5 * precision * (away - u[i]).powi(2) } else { 0.0 };
            }
        });
        for (i, j) in columns.clone().enumerate() {
            state.theta[b].values[(0, i)] = (r[i] * u[i].exp()).clamp(f64::MIN_POSITIVE, f64::MAX);
            if slides {
                state.beta[(last, j)] -= u[i];
            }
        }
        if slides {
            device.set_weights(&state.beta);
        }
    }
    let (shape, rate) = family.rate_given_dispersions(state.theta[b].values.row(0));
    state.theta[b].hyper[0] = gamma(shape, rate, &mut stream.named("rate").rng());
}

/// 1/σ_j² given β_j and f_j, conjugate.
fn precisions(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, family: &Gaussian, stream: Stream) {
    let columns = model.blocks()[b].columns.clone();
    let mut values = vec![0.0; columns.len()];
    let unit = ColumnAt { factor: 1.0, shift: 0.0, theta: 1.0 };
    of_block(device, model, b, &vec![unit; columns.len()], &mut values);
    for (i, j) in columns.clone().enumerate() {
        let seen = (0..model.rows()).filter(|&n| !model.y()[(n, j)].is_nan()).count() as f64;
        // At unit precision the log-likelihood is −½Σ(y − f)².
        let of_weights = square(model, state, j) / (model.weight_scale(&state.theta, j) * state.tau2[j]);
        let shape = family.shape + 0.5 * (seen + state.beta.rows() as f64);
        let rate = family.column_rate(&model.units()[j]) - values[i] + 0.5 * of_weights;
        state.theta[b].values[(0, i)] = gamma(shape, rate, &mut stream.at(j as u64).rng());
    }
}
