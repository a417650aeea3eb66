//! z: clusters of the frequencies, with (μ, Σ) integrated out (Neal 2000, Algorithm 3).
//! p(z_l = k) ∝ n_k t(w_l | cluster k without l), and ∝ α t(w_l | prior) for a new cluster.

use crate::dist::niw::{Niw, Predictive};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::State;
use crate::model::spectral::{Mixture, Spectral};
use rand::{Rng, RngExt};

/// The predictive of each cluster with (μ, Σ) integrated out. They are those of all frequencies but one between [`Seating::leave`] and
/// [`Seating::seat`].
#[derive(Debug)]
pub struct Seating {
    base: Niw,
    of_new: Predictive,
    of_cluster: Vec<Predictive>,
}

impl Seating {
    /// Given the clusters and the frequencies.
    pub fn new(mixture: &Mixture, spectral: &Spectral, w: &Mat) -> Result<Self, NumericalError> {
        let base = mixture.base(&spectral.psi);
        let of_new = base.predictive()?;
        let mut seating = Seating { base, of_new, of_cluster: Vec::new() };
        for k in 0..spectral.count() {
            let law = seating.predictive(spectral, w, k, None)?;
            seating.of_cluster.push(law);
        }
        Ok(seating)
    }

    fn predictive(
        &self,
        spectral: &Spectral,
        w: &Mat,
        k: usize,
        without: Option<usize>,
    ) -> Result<Predictive, NumericalError> {
        self.base.posterior(spectral.members(w, k, without)).predictive()
    }

    /// Takes out frequency l.
    pub fn leave(&mut self, spectral: &Spectral, w: &Mat, l: usize) -> Result<(), NumericalError> {
        let k = spectral.z[l];
        self.of_cluster[k] = self.predictive(spectral, w, k, Some(l))?;
        Ok(())
    }

    /// ln of the unnormalised prior probabilities of z_l: one for each cluster with other members (in order of its label, −∞ for a
    /// cluster whose only member is l), and one for a new cluster.
    pub fn ln_sizes(&self, spectral: &Spectral, l: usize) -> Vec<f64> {
        let mut sizes = vec![0_usize; spectral.count()];
        spectral.z.iter().enumerate().filter(|&(other, _)| other != l).for_each(|(_, &k)| sizes[k] += 1);
        let mut ln: Vec<f64> = sizes.into_iter().map(|size| (size as f64).ln()).collect();
        ln.push(spectral.alpha.ln());
        ln
    }

    /// The same given w_l.
    pub fn ln_weights(&self, spectral: &Spectral, w: &Mat, l: usize) -> Vec<f64> {
        let mut ln = self.ln_sizes(spectral, l);
        for (k, ln) in ln.iter_mut().enumerate().filter(|(_, ln)| ln.is_finite()) {
            *ln += self.law(k).ln_density(w.row(l));
        }
        ln
    }

    /// The predictive of cluster k; of a new one after the last.
    pub fn law(&self, k: usize) -> &Predictive {
        self.of_cluster.get(k).unwrap_or(&self.of_new)
    }

    /// Puts frequency l, which may have a new value, into cluster k.
    pub fn seat(&mut self, spectral: &mut Spectral, w: &Mat, l: usize, k: usize) -> Result<(), NumericalError> {
        let old = spectral.z[l];
        if k == spectral.count() {
            let placeholder = spectral.clusters[old].clone();
            spectral.clusters.push(placeholder);
            self.of_cluster.push(self.of_new.clone());
        }
        spectral.z[l] = k;
        self.of_cluster[k] = self.predictive(spectral, w, k, None)?;
        if !spectral.z.contains(&old) {
            // The last cluster takes the label of an empty one.
            let last = spectral.count() - 1;
            spectral.clusters.swap_remove(old);
            self.of_cluster.swap_remove(old);
            spectral.z.iter_mut().filter(|z| **z == last).for_each(|z| *z = old);
        }
        Ok(())
    }
}

/// Redraws each z_l in turn. Parameters of clusters are outdated until [`super::components::update`].
pub fn update<R: Rng + ?Sized>(mixture: &Mixture, state: &mut State, rng: &mut R) -> Result<(), NumericalError> {
    let w = state.features.w();
    let spectral = &mut state.spectral;
    let mut seating = Seating::new(mixture, spectral, w)?;
    for l in 0..w.rows() {
        seating.leave(spectral, w, l)?;
        let k = choose(&seating.ln_weights(spectral, w, l), rng);
        seating.seat(spectral, w, l, k)?;
    }
    Ok(())
}

/// An index with probability ∝ e^ln.
pub(crate) fn choose<R: Rng + ?Sized>(ln: &[f64], rng: &mut R) -> usize {
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
