//! θ, τ², the cluster and α at the maximum of the density given X, W and β. θ of a generic density (Student-t,
//! zero-inflated Poisson) stays at its initial value.

use super::objective::is_exact;
use crate::dist::cluster::Cluster;
use crate::error::NumericalError;
use crate::hmc::occam::Occam;
use crate::linalg::Mat;
use crate::model::collapsed::CollapsedData;
use crate::model::spectral::{Kernel, Mixture};
use crate::model::{Amplitude, Model, State};
use crate::peak::peak;
use crate::steps::amplitudes;

/// All of them, and where β is integrated out exactly, its optimum given X and W.
pub(super) fn update(model: &Model, state: &mut State) -> Result<(), NumericalError> {
    if is_exact(model) {
        CollapsedData::new(model).fill_mode(model, state)?;
        state.refresh(model);
    } else {
        for (b, block) in model.blocks().iter().enumerate() {
            block.family.maximise_parameters(&mut model.block_view(b, state, 1.0));
        }
        state.refresh(model);
        amplitudes(model, state)?;
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
    let alpha = peak(0.0, 0.5, ln_density).exp();
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

/// τ_j², if learned: with γ effective features the penalty changes by γ/2 per unit of ln τ_j² (MacKay
/// 1992), so that τ_j² = (b + ½λ_j Σ_m β_mj²)/(a + 1 + γ/2).
fn amplitudes(model: &Model, state: &mut State) -> Result<(), NumericalError> {
    let Amplitude::Learned { shape, rate } = model.spec().amplitude else { return Ok(()) };
    let used = Occam::new(model, state).used_features(state.features.h())?;
    for j in (0..model.columns()).filter(|&j| model.is_free(j)) {
        let (_, rate) = amplitudes::conditional(model, state, shape, rate, j);
        state.tau2[j] = rate / (shape + 1.0 + 0.5 * used);
    }
    Ok(())
}
