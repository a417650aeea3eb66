//! θ given F, all columns side by side: dispersions, precisions, degrees of freedom, shares of zeros.

use super::rounds;
use crate::device::{ColumnAt, Device, check};
use crate::dist::{gamma, ln_gamma_density, ln_normal};
use crate::error::NumericalError;
use crate::model::family::{Gaussian, Isotropic, Law, NegativeBinomial, StudentT, Terms, ZeroInflatedPoisson};
use crate::model::family::{dispersion_sums, precision_sums};
use crate::model::pool::{Sums, ln_integrated};
use crate::model::priors::{Dof, Gamma, Noise};
use crate::model::strength::square;
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use std::ops::Range;

/// Redraws θ of all blocks; what hardly moves it only in a fraction of the sweeps.
pub(super) fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    share: f64,
    stream: Stream,
) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        let stream = stream.at(b as u64);
        match Law::of(block.family.as_ref()) {
            Some(Law::NegativeBinomial(family)) => dispersions(device, model, state, b, (family, share), stream),
            Some(Law::Gaussian(family)) => precisions(device, model, state, b, family, stream),
            Some(Law::Isotropic(family)) => {
                let Gamma { shape, rate } = noise(device, model, state, b, family);
                let rho = gamma(shape, rate, &mut stream.named("noise").rng());
                Isotropic::set(&mut state.theta[b], &model.units()[block.columns.clone()], rho);
            }
            Some(Law::StudentT(family)) => spreads(device, model, state, b, family, stream),
            Some(Law::ZeroInflatedPoisson(family)) => zeros(device, model, state, b, family, stream),
            Some(Law::Poisson | Law::Multinomial | Law::Binomial(_)) | None => continue,
        }
        device.set_parameters(&state.theta);
        check(device)?;
    }
    Ok(())
}

/// θ at its mode given F, as [`crate::Family::maximise_parameters`] has it. Afterwards the device needs θ and β.
pub(super) fn maximise(device: &mut dyn Device, model: &Model, state: &mut State) -> Result<(), NumericalError> {
    for (b, block) in model.blocks().iter().enumerate() {
        match Law::of(block.family.as_ref()) {
            Some(Law::NegativeBinomial(family)) => best_dispersions(device, model, state, b, family),
            Some(Law::Gaussian(family)) => best_precisions(device, model, state, b, family),
            Some(Law::Isotropic(family)) => {
                let weights = model.all_of_block(b) * state.beta.rows();
                let rho = Isotropic::mode(noise(device, model, state, b, family), weights);
                Isotropic::set(&mut state.theta[b], &model.units()[block.columns.clone()], rho);
            }
            Some(Law::StudentT(family)) => best_spreads(device, model, state, b, family),
            Some(Law::ZeroInflatedPoisson(_) | Law::Poisson | Law::Multinomial | Law::Binomial(_)) | None => continue,
        }
        check(device)?;
    }
    Ok(())
}

/// r_j along the line of constant means, and then h.
fn best_dispersions(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, family: &NegativeBinomial) {
    let (columns, last) = (model.blocks()[b].columns.clone(), state.beta.rows() - 1);
    let r: Vec<f64> = state.theta[b].values.row(0).to_vec();
    let prior = family.law(&state.theta[b].hyper);
    let u = rounds::maximize_each(r.len(), 0.1, |u, out| {
        let at = |(u, r): (&f64, &f64)| ColumnAt { factor: 1.0, shift: *u, theta: [r * u.exp(), 1.0] };
        let at: Vec<ColumnAt> = u.iter().zip(&r).map(at).collect();
        of_block(device, model, b, &at, out);
        for (i, (out, j)) in out.iter_mut().zip(columns.clone()).enumerate() {
            let away = state.beta[(last, j)] - u[i] - model.units()[j].centre;
            *out += ln_gamma_density(at[i].theta[0], prior.shape, prior.rate);
            *out -= 0.5 * model.weight_precision(state.tau2[j])[last] * away.powi(2);
        }
    });
    for (i, j) in columns.enumerate() {
        state.theta[b].values[(0, i)] *= u[i].exp();
        state.beta[(last, j)] -= u[i];
    }
    let seen = dispersion_sums(&state.theta[b], model.all_of_block(b), |f| model.sum_block(b, f));
    family.settle_hyper(&mut state.theta[b].hyper, seen);
}

/// What the hyperparameters of the noise see of the precisions of block b.
fn sums_of_block(model: &Model, state: &State, b: usize) -> Sums {
    let units = &model.units()[model.blocks()[b].columns.clone()];
    precision_sums(&state.theta[b], units, model.all_of_block(b), |f| model.sum_block(b, f))
}

/// The level of the noise of block b at its mode, where it is pooled.
fn settle(model: &Model, state: &mut State, b: usize, noise: &Noise) {
    if let Some(pool) = noise.pool() {
        let seen = sums_of_block(model, state, b);
        pool.settle(&mut state.theta[b].hyper, |law| seen.ln(law));
    }
}

/// 1/σ_j².
fn best_precisions(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, family: &Gaussian) {
    let columns = model.blocks()[b].columns.clone();
    let mut values = vec![0.0; columns.len()];
    of_block(device, model, b, &vec![ColumnAt::HERE; columns.len()], &mut values);
    let seen = seen(model, &columns);
    for (i, j) in columns.enumerate() {
        let prior = family.prior(&state.theta[b].hyper, &model.units()[j]);
        let shape = (prior.shape + 0.5 * seen[i] - 1.0).max(f64::MIN_POSITIVE);
        state.theta[b].values[(0, i)] = shape / (prior.rate - values[i] + 0.5 * of_weights(model, state, j));
    }
    settle(model, state, b, &family.noise);
}

/// 1/σ_j² of Student-t columns, with the weights integrated out: their density has no power of it.
fn best_spreads(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, family: &StudentT) {
    let columns = model.blocks()[b].columns.clone();
    let (spread2, theta) = (|j: usize| model.units()[j].scale.powi(2), state.theta[b].values.clone());
    let hyper = state.theta[b].hyper.clone();
    let from: Vec<[f64; 2]> =
        columns.clone().enumerate().map(|(i, j)| [(theta[(0, i)] * spread2(j)).ln(), theta[(1, i)].ln()]).collect();
    let counts = seen(model, &columns).into_iter().zip(columns.clone());
    let terms = |(seen, j)| Terms { seen, weights: 0.0, square: of_weights(model, state, j) };
    let known: Vec<Terms> = counts.map(terms).collect();
    let u = rounds::maximize_each(columns.len(), 0.1, |u, out| {
        let at = |(i, u): (usize, &f64)| ColumnAt { theta: [theta[(0, i)] * u.exp(), theta[(1, i)]], ..ColumnAt::HERE };
        of_block(device, model, b, &u.iter().enumerate().map(at).collect::<Vec<_>>(), out);
        for (i, (out, j)) in out.iter_mut().zip(columns.clone()).enumerate() {
            let at = [from[i][0] + u[i], from[i][1]];
            // The density is that of 1/σ², not of its logarithm.
            *out += family.ln_beside((&hyper, &model.units()[j]), &known[i], at) - at[0];
        }
    });
    u.iter().enumerate().for_each(|(i, u)| state.theta[b].values[(0, i)] *= u.exp());
    settle(model, state, b, &family.prior.noise);
}

/// Log-likelihoods of the columns of block b, at changes of them; the other columns stay.
fn of_block(device: &mut dyn Device, model: &Model, b: usize, at: &[ColumnAt], out: &mut [f64]) {
    let columns = model.blocks()[b].columns.clone();
    let mut all = vec![ColumnAt::HERE; model.columns()];
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
    let mut rngs: Vec<StreamRng> = columns.clone().map(|j| stream.at(model.number(j) as u64).rng()).collect();
    let prior = family.law(&state.theta[b].hyper);
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
                theta: [r * u.exp(), 1.0],
            };
            let at: Vec<ColumnAt> = u.iter().zip(&r).map(at).collect();
            of_block(device, model, b, &at, out);
            for (i, out) in out.iter_mut().enumerate() {
                let (away, precision) = intercepts[i];
                // u has Haar measure, and the Jacobian of r is e^u.
                *out += ln_gamma_density(at[i].theta[0], prior.shape, prior.rate) + u[i];
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
    let seen = dispersion_sums(&state.theta[b], model.all_of_block(b), |f| model.sum_block(b, f));
    family.draw_hyper(&mut state.theta[b].hyper, seen, &mut stream.named("rate").rng());
}

/// 1/σ_j² given β_j and f_j, conjugate; before them their hyperparameters, with all 1/σ_j² integrated out.
fn precisions(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, family: &Gaussian, stream: Stream) {
    let columns = model.blocks()[b].columns.clone();
    let mut values = vec![0.0; columns.len()];
    of_block(device, model, b, &vec![ColumnAt::HERE; columns.len()], &mut values);
    let seen = seen(model, &columns);
    // At unit precision the log-likelihood is −½Σ(y − f)².
    let of_column = |i: usize, j: usize| {
        let power = 0.5 * (seen[i] + state.beta.rows() as f64);
        [power, 0.5 * of_weights(model, state, j) - values[i]]
    };
    let added: Vec<[f64; 2]> = columns.clone().enumerate().map(|(i, j)| of_column(i, j)).collect();
    let units = &model.units()[columns.clone()];
    if let Some(pool) = family.noise.pool() {
        let sum = |i: usize| (added[i][1] + units[i].rounding) / units[i].scale.powi(2);
        let ln = |law: Gamma| model.sum_block(b, |i| ln_integrated(law, added[i][0], sum(i)));
        pool.slice(&mut state.theta[b].hyper, &mut stream.named("pool").rng(), ln);
    }
    for (i, j) in columns.enumerate() {
        let prior = family.prior(&state.theta[b].hyper, &units[i]);
        let (shape, rate) = (prior.shape + added[i][0], prior.rate + added[i][1]);
        state.theta[b].values[(0, i)] = gamma(shape, rate, &mut stream.at(model.number(j) as u64).rng());
    }
}

/// The law of ρ given β and F.
fn noise(device: &mut dyn Device, model: &Model, state: &State, b: usize, family: &Isotropic) -> Gamma {
    let columns = model.blocks()[b].columns.clone();
    let mut values = vec![0.0; columns.len()];
    of_block(device, model, b, &vec![ColumnAt::HERE; columns.len()], &mut values);
    let seen = seen(model, &columns);
    let rate = |i: usize| {
        let j = columns.start + i;
        (0.5 * of_weights(model, state, j) - values[i]) / model.units()[j].scale.powi(2)
    };
    Gamma {
        shape: family.prior().shape + model.sum_block(b, |i| 0.5 * (seen[i] + state.beta.rows() as f64)),
        rate: family.prior().rate + model.sum_block(b, rate),
    }
}

/// Observed cells of each of some columns, row by row as the table is stored.
fn seen(model: &Model, columns: &Range<usize>) -> Vec<f64> {
    let mut seen = vec![model.rows() as f64; columns.len()];
    if model.has_missing() {
        for row in model.y().iter_rows() {
            seen.iter_mut().zip(&row[columns.clone()]).for_each(|(seen, y)| *seen -= f64::from(u8::from(y.is_nan())));
        }
    }
    seen
}

/// (β_j − b_0)ᵀS0⁻¹(β_j − b_0) at unit precision.
fn of_weights(model: &Model, state: &State, j: usize) -> f64 {
    square(model, state, j) / (model.weight_scale(&state.theta, j) * state.tau2[j])
}

/// 1/σ_j² of Student-t columns, then ν_j where it is learned.
fn spreads(device: &mut dyn Device, model: &Model, state: &mut State, b: usize, family: &StudentT, stream: Stream) {
    let columns = model.blocks()[b].columns.clone();
    let mut rngs: Vec<StreamRng> = columns.clone().map(|j| stream.at(model.number(j) as u64).rng()).collect();
    let spread2: Vec<f64> = columns.clone().map(|j| model.units()[j].scale.powi(2)).collect();
    let theta = &state.theta[b].values;
    let mut at: Vec<[f64; 2]> =
        spread2.iter().enumerate().map(|(i, s2)| [(theta[(0, i)] * s2).ln(), theta[(1, i)].ln()]).collect();
    let counts = seen(model, &columns).into_iter().zip(columns.clone());
    let terms = |(seen, j)| Terms { seen, weights: state.beta.rows() as f64, square: of_weights(model, state, j) };
    let known: Vec<Terms> = counts.map(terms).collect();
    let learned = matches!(family.prior.dof, Dof::Learned(_));
    let hyper = state.theta[b].hyper.clone();
    for p in (0..2).filter(|&p| p == 0 || learned) {
        let from: Vec<f64> = at.iter().map(|at| at[p]).collect();
        let to = rounds::univariate(&mut rngs, &from, StudentT::WIDTH, |values, out| {
            let mut moved = at.clone();
            moved.iter_mut().zip(values).for_each(|(at, value)| at[p] = *value);
            let there =
                |(at, s2): (&[f64; 2], &f64)| ColumnAt { theta: [at[0].exp() / s2, at[1].exp()], ..ColumnAt::HERE };
            let there: Vec<ColumnAt> = moved.iter().zip(&spread2).map(there).collect();
            of_block(device, model, b, &there, out);
            for (i, (out, j)) in out.iter_mut().zip(columns.clone()).enumerate() {
                *out += family.ln_beside((&hyper, &model.units()[j]), &known[i], moved[i]);
            }
        });
        at.iter_mut().zip(to).for_each(|(at, to)| at[p] = to);
    }
    for (i, [u, v]) in at.into_iter().enumerate() {
        state.theta[b].values[(0, i)] = u.exp() / spread2[i];
        if learned {
            state.theta[b].values[(1, i)] = v.exp();
        }
    }
    if let Some(pool) = family.prior.noise.pool() {
        let seen = sums_of_block(model, state, b);
        pool.slice(&mut state.theta[b].hyper, &mut stream.named("pool").rng(), |law| seen.ln(law));
    }
}

/// logit π_j of zero-inflated columns.
fn zeros(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    b: usize,
    family: &ZeroInflatedPoisson,
    stream: Stream,
) {
    let columns = model.blocks()[b].columns.clone();
    let mut rngs: Vec<StreamRng> = columns.map(|j| stream.at(model.number(j) as u64).rng()).collect();
    let from = state.theta[b].values.row(0).to_vec();
    let to = rounds::univariate(&mut rngs, &from, family.prior.sd, |values, out| {
        let there: Vec<ColumnAt> = values.iter().map(|&t| ColumnAt { theta: [t, 1.0], ..ColumnAt::HERE }).collect();
        of_block(device, model, b, &there, out);
        let priors = values.iter().map(|&t| ln_normal(t, family.prior.mean, family.prior.sd.powi(2)));
        out.iter_mut().zip(priors).for_each(|(out, prior)| *out += prior);
    });
    state.theta[b].values.row_mut(0).copy_from_slice(&to);
}
