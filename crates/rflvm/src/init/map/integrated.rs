//! τ² and s at the maximum of the density given X and W, with β and σ² integrated out.

use crate::error::NumericalError;
use crate::maximize_1d::maximize_1d;
use crate::model::collapsed::CollapsedData;
use crate::model::pool::ln_integrated;
use crate::model::{Amplitude, Model, State};

/// τ², if learned, at the mode of its density with β and σ² integrated out: one for all columns, even if each has its own when sampling.
/// A point estimate pays no penalty for volume: with an amplitude per column it would fit one column exactly, noise included (a Heywood case).
pub(crate) fn integrated_amplitudes(
    model: &Model,
    target: &CollapsedData,
    state: &mut State,
) -> Result<(), NumericalError> {
    let amplitude = model.amplitude(&model.blocks()[0]);
    let Some(prior) = amplitude.prior() else { return Ok(()) };
    let (spectrum, c) = target.at(state.features.h())?;
    let columns: Vec<_> = (0..model.columns()).map(|j| target.column(&spectrum, &c, j)).collect();
    let weight = if let Amplitude::Shared(_) = amplitude { 1.0 } else { model.all_columns() as f64 };
    let ln = |u: f64| target.sum(|j| columns[j].ln(u.exp())) + weight * prior.ln_density(u);
    let tau2 = maximize_1d(model.shared_tau2(&state.tau2, 0).ln(), 0.5, ln).exp();
    state.tau2.fill(tau2);
    Ok(())
}

/// The level of the noise, where it is pooled, at the mode of its density with β and σ² integrated out.
pub(super) fn integrated_level(model: &Model, target: &CollapsedData, state: &mut State) -> Result<(), NumericalError> {
    let family = model.blocks()[0].family.as_gaussian();
    let Some(pool) = family.and_then(|family| family.noise.pool()) else { return Ok(()) };
    let (spectrum, c) = target.at(state.features.h())?;
    let (units, power) = (model.units(), 0.5 * model.rows() as f64);
    let half_square = |j: usize| target.column(&spectrum, &c, j).half_square(state.tau2[j]);
    let sums: Vec<f64> =
        (0..model.columns()).map(|j| (half_square(j) + units[j].rounding) / units[j].scale.powi(2)).collect();
    pool.settle(&mut state.theta[0].hyper, |law| target.sum(|j| ln_integrated(law, power, sums[j])));
    Ok(())
}

/// s at the mode of its density with β and σ² integrated out.
pub(crate) fn integrated_linear(model: &Model, target: &CollapsedData, state: &mut State) {
    if !model.has_linear() {
        return;
    }
    let (prior, s) = (model.spec().priors.linear, state.features.plain().s());
    let evidence = target.along_s(state.features.h(), model.linear(), s, &state.tau2);
    let ln = |u: f64| evidence.ln((0.5 * u).exp(), &state.tau2) + prior.ln_density(u);
    let u = maximize_1d(2.0 * s.ln(), 0.5, ln);
    state.features.set_s((0.5 * u).exp());
}
