//! z: clusters of the frequencies, with (μ, Σ) integrated out (Neal 2000, Algorithm 3).
//! p(z_l = k) ∝ n_k t(w_l | cluster k without l), and ∝ α t(w_l | prior) for a new cluster.

use crate::dist::niw::Predictive;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::State;
use crate::model::spectral::{Mixture, Spectral};
use rand::{Rng, RngExt};

/// ln of the unnormalised probabilities of z_l: one for each cluster with other members (in order of its label, −∞ for a
/// cluster whose only member is l), and one for a new cluster. `of_cluster[k]` is the predictive of cluster k without l, `of_new`
/// that of a new one.
pub fn ln_weights(spectral: &Spectral, of_new: &Predictive, of_cluster: &[Predictive], w: &Mat, l: usize) -> Vec<f64> {
    let mut sizes = vec![0_usize; spectral.count()];
    spectral.z.iter().enumerate().filter(|&(other, _)| other != l).for_each(|(_, &k)| sizes[k] += 1);
    let mut ln = Vec::with_capacity(sizes.len() + 1);
    for (&size, law) in sizes.iter().zip(of_cluster) {
        ln.push(if size == 0 { f64::NEG_INFINITY } else { (size as f64).ln() + law.ln_density(w.row(l)) });
    }
    ln.push(spectral.alpha.ln() + of_new.ln_density(w.row(l)));
    ln
}

/// Redraws each z_l in turn. Parameters of clusters are outdated until [`super::components::update`].
pub fn update<R: Rng + ?Sized>(mixture: &Mixture, state: &mut State, rng: &mut R) -> Result<(), NumericalError> {
    let w = state.features.w();
    let spectral = &mut state.spectral;
    let base = mixture.base(&spectral.psi);
    let of_new = base.predictive()?;
    // Only the clusters that l leaves and joins change.
    let law = |spectral: &Spectral, k: usize, without: Option<usize>| {
        base.posterior(spectral.members(w, k, without)).predictive()
    };
    let mut laws = (0..spectral.count()).map(|k| law(spectral, k, None)).collect::<Result<Vec<_>, _>>()?;
    for l in 0..w.rows() {
        let old = spectral.z[l];
        laws[old] = law(spectral, old, Some(l))?;
        let new = choose(&ln_weights(spectral, &of_new, &laws, w, l), rng);
        if new == spectral.count() {
            let placeholder = spectral.clusters[old].clone();
            spectral.clusters.push(placeholder);
            laws.push(of_new.clone());
        }
        spectral.z[l] = new;
        laws[new] = law(spectral, new, None)?;
        if !spectral.z.contains(&old) {
            remove(spectral, &mut laws, old);
        }
    }
    Ok(())
}

/// Removes an empty cluster; the last one takes its label.
fn remove(spectral: &mut Spectral, laws: &mut Vec<Predictive>, k: usize) {
    let last = spectral.count() - 1;
    spectral.clusters.swap_remove(k);
    laws.swap_remove(k);
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
    // Rounding can leave u at zero: use the last cluster of positive weight.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}
