//! z: clusters of the frequencies, with (μ, Σ) integrated out (Neal 2000, Algorithm 3).
//! p(z_l = k) ∝ n_k t(w_l | cluster k without l), and ∝ α t(w_l | prior) for a new cluster.

use crate::dist::niw::Niw;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::State;
use crate::model::spectral::{Mixture, Spectral};
use rand::{Rng, RngExt};

/// ln of the unnormalised probabilities of z_l: one for each cluster that others are in (in order of its label, −∞ for a
/// cluster that l is alone in), and one for a new cluster. `posteriors[k]` is the NIW of cluster k without l.
pub fn ln_weights(
    spectral: &Spectral,
    base: &Niw,
    posteriors: &[Niw],
    w: &Mat,
    l: usize,
) -> Result<Vec<f64>, NumericalError> {
    let mut sizes = vec![0_usize; spectral.count()];
    spectral.z.iter().enumerate().filter(|&(other, _)| other != l).for_each(|(_, &k)| sizes[k] += 1);
    let mut ln = Vec::with_capacity(sizes.len() + 1);
    for (&size, posterior) in sizes.iter().zip(posteriors) {
        ln.push(if size == 0 { f64::NEG_INFINITY } else { (size as f64).ln() + posterior.ln_predictive(w.row(l))? });
    }
    ln.push(spectral.alpha.ln() + base.ln_predictive(w.row(l))?);
    Ok(ln)
}

/// Redraws each z_l in turn. Parameters of clusters are stale afterwards until [`super::components::update`].
pub fn update<R: Rng + ?Sized>(mixture: &Mixture, state: &mut State, rng: &mut R) -> Result<(), NumericalError> {
    let w = state.features.w();
    let spectral = &mut state.spectral;
    let base = mixture.base(w.cols());
    let mut posteriors: Vec<Niw> =
        (0..spectral.count()).map(|k| base.posterior(spectral.members(w, k, None))).collect();
    for l in 0..w.rows() {
        let old = spectral.z[l];
        posteriors[old] = base.posterior(spectral.members(w, old, Some(l)));
        let ln = ln_weights(spectral, &base, &posteriors, w, l)?;
        let new = choose(&ln, rng);
        if new == spectral.count() {
            let placeholder = spectral.clusters[old].clone();
            spectral.clusters.push(placeholder);
            posteriors.push(base.clone());
        }
        spectral.z[l] = new;
        posteriors[new] = base.posterior(spectral.members(w, new, None));
        if !spectral.z.contains(&old) {
            remove(spectral, &mut posteriors, old);
        }
    }
    Ok(())
}

/// Drops an empty cluster; the last one takes its label.
fn remove(spectral: &mut Spectral, posteriors: &mut Vec<Niw>, k: usize) {
    let last = spectral.count() - 1;
    spectral.clusters.swap_remove(k);
    posteriors.swap_remove(k);
    spectral.z.iter_mut().filter(|z| **z == last).for_each(|z| *z = k);
}

/// An index with probability ∝ e^ln.
fn choose<R: Rng + ?Sized>(ln: &[f64], rng: &mut R) -> usize {
    let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = ln.iter().map(|l| (l - top).exp()).collect();
    let mut u = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (k, weight) in weights.iter().enumerate() {
        u -= weight;
        if u < 0.0 {
            return k;
        }
    }
    // Rounding can leave u at zero: the last cluster of positive weight.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}
