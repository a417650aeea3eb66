//! The joint log density, in one place and computed directly: ln p(Y, β, θ, τ², s, X, W, z, μ, Σ, α), and of column processes if they have them.
//!
//! Nothing here is cached or vectorised. Every conditional of the sampler is tested against this file, and
//! chains are compared by its value.

use super::{Amplitude, Block, HalfT, Model, State};
use crate::dist::ln_normal;
use crate::error::NumericalError;

/// ln p(Y | F, θ), including all constants. F is computed from X, W, s and β, not taken from the state.
pub fn ln_likelihood(model: &Model, state: &State) -> f64 {
    let (x, w) = (state.features.x(), state.features.w());
    let frequencies = w.rows();
    let scale = (frequencies as f64).sqrt().recip();
    let mut total = 0.0;
    for n in 0..model.rows() {
        let argument = |l: usize| x.row(n).iter().zip(w.row(l)).map(|(x, w)| x * w).sum::<f64>();
        let mut h: Vec<f64> = (0..frequencies).map(|l| scale * argument(l).sin()).collect();
        h.extend((0..frequencies).map(|l| scale * argument(l).cos()));
        h.extend(model.covariates().row(n));
        if model.has_linear() {
            h.extend(x.row(n).iter().map(|x| state.features.plain().s() * x));
        }
        h.push(1.0);
        let of_column = |j: usize| h.iter().enumerate().map(|(m, h)| h * state.beta[(m, j)]).sum::<f64>();
        let f: Vec<f64> = (0..model.columns()).map(|j| model.known(state).at(n, j) + of_column(j)).collect();
        for (block, theta) in model.blocks().iter().zip(&state.theta) {
            total += block.family.ln_density(model.row(block, n, theta), &f[block.columns.clone()]);
        }
    }
    total
}

/// ln p(X, ℓ, ρ): independent standard normals, or Gaussian paths over time and their hyperparameters. The density of a
/// path is the one optimised part, since it must work for any number of rows; it has its own tests.
pub fn ln_positions(model: &Model, state: &State) -> Result<f64, NumericalError> {
    let x = state.features.x();
    Ok(match model.paths(state)? {
        None => x.as_slice().iter().map(|&x| ln_normal(x, 0.0, 1.0)).sum(),
        Some(paths) => {
            let prior = paths.dynamics().prior();
            paths.ln_density(x) + state.axes.iter().map(|axis| prior.ln_density(axis)).sum::<f64>()
        }
    })
}

/// ln p(β | τ², θ): β_j ~ N(b_0j, τ_j²/λ_j diag(1, …, 1, s_c²)).
pub fn ln_weights(model: &Model, state: &State) -> f64 {
    let of_column = |j: usize| {
        let mut total = 0.0;
        let scale = model.weight_scale(&state.theta, j);
        let last = state.beta.rows() - 1;
        for m in 0..last {
            total += ln_normal(state.beta[(m, j)], 0.0, state.tau2[j] / scale);
        }
        let variance = state.tau2[j] * model.spec().priors.intercept / scale;
        total + ln_normal(state.beta[(last, j)], model.units()[j].centre, variance)
    };
    model.sum_free(of_column)
}

/// ln p(θ) + ln p(ln τ²).
pub fn ln_parameters(model: &Model, state: &State) -> f64 {
    let of_block = |(b, block): (usize, &Block)| {
        let (theta, units) = (&state.theta[b], &model.units()[block.columns.clone()]);
        model.sum_block(b, |j| block.family.ln_prior_column(theta, j, &units[j])) + block.family.ln_hyper(theta)
    };
    let parameters: f64 = model.blocks().iter().enumerate().map(of_block).sum();
    parameters + ln_amplitudes(model, state)
}

/// ln p(ln s²): half-t; zero without a linear part.
pub fn ln_linear(model: &Model, state: &State) -> f64 {
    let ln_density = || model.spec().priors.linear.ln_density(2.0 * state.features.plain().s().ln());
    if model.has_linear() { ln_density() } else { 0.0 }
}

/// ln p(ln τ²): half-t, one per column or one per block.
pub fn ln_amplitudes(model: &Model, state: &State) -> f64 {
    let of_block = |(b, block): (usize, &Block)| {
        let first = block.columns.start;
        let ln = |prior: HalfT, j: usize| {
            if model.is_free(first + j) { prior.ln_density(state.tau2[first + j].ln()) } else { 0.0 }
        };
        match model.amplitude(block) {
            Amplitude::Fixed(_) => 0.0,
            Amplitude::Learned(prior) => model.sum_block(b, |j| ln(prior, j)),
            Amplitude::Shared(_) if model.free_of_block(b) == 0 => 0.0,
            Amplitude::Shared(prior) => prior.ln_density(model.shared_tau2(&state.tau2, b).ln()),
        }
    };
    model.blocks().iter().enumerate().map(of_block).sum()
}

/// ln p(G, s², ℓ) of column processes, with respect to ln s² and ln ℓ. The paths are those of p(G | s², ℓ) or, if `whitened`, the noise
/// from which they are made: a path whose s_j vanishes has an unbounded density, and chains could not be compared.
pub fn ln_column_process(model: &Model, state: &State, whitened: bool) -> f64 {
    let Some(law) = model.column_process() else { return 0.0 };
    let of_column = |j: usize| {
        let own = &state.column_process.scales[j];
        let scales = law.ln_share(own.share.ln()) + law.ln_length_scale(own.length_scale.ln());
        let (path, amplitude) = (law.path(own.length_scale), own.amplitude(&model.units()[j]));
        let g = state.column_process.g.col(j);
        scales
            + match whitened {
                true => path.whiten(amplitude, &g).iter().map(|&u| ln_normal(u, 0.0, 1.0)).sum(),
                false => path.ln_density(amplitude, &g),
            }
    };
    model.sum_free(of_column)
}

/// The joint log density of everything.
pub fn ln_joint(model: &Model, state: &State) -> Result<f64, NumericalError> {
    Ok(ln_likelihood(model, state) + ln_prior(model, state)?)
}

/// ln p(β, θ, τ², s, X, W, z, μ, Σ, α).
pub fn ln_prior(model: &Model, state: &State) -> Result<f64, NumericalError> {
    Ok(ln_positions(model, state)?
        + ln_weights(model, state)
        + ln_parameters(model, state)
        + ln_linear(model, state)
        + ln_column_process(model, state, true)
        + state.spectral.ln_frequencies(state.features.w())
        + state.spectral.ln_prior(&model.spec().kernel)?)
}
