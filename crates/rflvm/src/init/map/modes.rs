//! θ, τ², the cluster and α at the maximum of the density given X, W and β. Degrees of freedom of Student-t columns and shares of zeros of
//! zero-inflated ones stay at their initial values.

use super::integrated::{integrated_amplitudes, integrated_level, integrated_linear};
use crate::dist::cluster::Cluster;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::maximize_1d::maximize_1d;
use crate::model::collapsed::CollapsedData;
use crate::model::spectral::{Kernel, Mixture};
use crate::model::{Amplitude, Model, State};
use crate::steps::amplitudes::{ln_centred, square};
use crate::steps::linear;
use crate::table::Table;

/// All of them, and where β is integrated out exactly, its optimum given X and W.
pub(super) fn update(table: &mut dyn Table, model: &Model, state: &mut State) -> Result<(), NumericalError> {
    if table.is_exact(model) {
        let target = CollapsedData::new(model, &state.theta);
        integrated_amplitudes(model, &target, state)?;
        integrated_linear(model, &target, state);
        integrated_level(model, &target, state)?;
        let target = CollapsedData::new(model, &state.theta);
        target.fill_mode(model, state)?;
        table.reset(model, state);
    } else {
        table.maximise_parameters(model, state)?;
        amplitudes(table, model, state)?;
        linear_part(table, model, state)?;
    }
    if let Kernel::Learned(mixture) = &model.spec().kernel {
        cluster(mixture, state)?;
    }
    Ok(())
}

/// Puts all frequencies into one cluster, and α at its mode given that.
pub(super) fn one_cluster(model: &Model, state: &mut State) {
    let Kernel::Learned(mixture) = &model.spec().kernel else { return };
    state.spectral.clusters.truncate(1);
    state.spectral.z.fill(0);
    let mut spectral = state.spectral.clone();
    let ln_density = |ln_alpha: f64| {
        let mut spectral = spectral.clone();
        spectral.alpha = ln_alpha.exp();
        spectral.ln_prior(&Kernel::Learned(mixture.clone())).unwrap_or(f64::NAN)
    };
    let alpha = maximize_1d(0.0, 0.5, ln_density).exp();
    spectral.alpha = alpha;
    state.spectral = spectral;
}

/// μ and Σ: the density of a normal-inverse-Wishart is highest at (m, Ψ/(ν + D + 2)).
fn cluster(mixture: &Mixture, state: &mut State) -> Result<(), NumericalError> {
    let w = state.features.w();
    let dim = w.cols();
    let posterior = mixture.base(&state.spectral.psi).posterior(state.spectral.members(w, 0, None));
    let scale = 1.0 / (posterior.nu + dim as f64 + 2.0);
    let sigma = Mat::from_fn(dim, dim, |i, k| scale * posterior.psi[(i, k)]);
    state.spectral.clusters[0] = Cluster::new(posterior.m, sigma)?;
    Ok(())
}

/// s with s·b held: as for the amplitudes below, with the effective number of the slopes.
fn linear_part(table: &mut dyn Table, model: &Model, state: &mut State) -> Result<(), NumericalError> {
    if !model.has_linear() {
        return Ok(());
    }
    let used = table.laplace_term(model, state)?.used(state.features.held().h(), model.linear())?;
    let (count, square) = linear::weights(model, state);
    let effective = count * used / model.linear().len() as f64;
    let ln = |u: f64| ln_centred(model.spec().priors.linear, effective, square, u);
    let u = maximize_1d(2.0 * state.features.plain().s().ln(), 0.5, ln);
    linear::rescale(model, state, u);
    table.reset(model, state);
    Ok(())
}

/// τ², if learned, one for all columns of a block as above: with γ effective features the penalty changes by γ/2 per unit of ln τ_j²
/// (MacKay 1992), whereas p(β_j | τ_j) alone would change by half the number of features.
fn amplitudes(table: &mut dyn Table, model: &Model, state: &mut State) -> Result<(), NumericalError> {
    if model.blocks().iter().all(|block| model.amplitude(block).prior().is_none()) {
        return Ok(());
    }
    let used = table.laplace_term(model, state)?.used_features(state.features.held().h())?;
    for (b, block) in model.blocks().iter().enumerate() {
        let Some(prior) = model.amplitude(block).prior() else { continue };
        let first = block.columns.start;
        let of_column = |j: usize| if model.is_free(first + j) { square(model, state, first + j) } else { 0.0 };
        let (count, square) = (model.free_of_block(b) as f64, model.sum_block(b, of_column));
        let extra = if let Amplitude::Shared(_) = model.amplitude(block) { 0.0 } else { count - 1.0 };
        let ln = |u: f64| ln_centred(prior, count * used, square, u) + extra * prior.ln_density(u);
        let tau2 = maximize_1d(model.shared_tau2(&state.tau2, b).ln(), 0.5, ln).exp();
        state.tau2[block.columns.clone()].fill(tau2);
    }
    Ok(())
}
