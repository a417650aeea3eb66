//! The evidence of a mode: how much posterior mass lies around it, from a burst of draws.
//!
//! ln ∫ p(Y, X, W, …) over the neighbourhood of a mode is the mean of ln p(Y, X, W) over its draws plus the entropy of (X, W) there. β is
//! integrated out: exactly for a complete Gaussian table, otherwise by Laplace's method (as in the MAP
//! estimate's objective); clusters of frequencies exactly. The entropy is that of independent normals, one per row of X and of W: an
//! upper bound, whose error is much the same for all modes of a table. Only differences between modes have a meaning. Rows with times enter
//! by the noise from which their paths are made, because the rows of a path are far from independent.

use crate::error::NumericalError;
use crate::linalg::{Cholesky, Mat};
use crate::model::spectral::Kernel;
use crate::model::{Model, State, joint};
use crate::placement::Placement;
use crate::rng::StreamRng;
use crate::table::Table;
use serde::{Deserialize, Serialize};
use std::f64::consts::{E, PI};

/// Error of the entropy per coordinate of X, from independence and normality. On 79 modes of 20 simulated S-curves, the entropy by the
/// spread of draws and the one by the curvature at them differ by 0.17 per coordinate, with a standard deviation of 0.03; this is a little wider.
const INDEPENDENCE: f64 = 0.05;
/// Number of batches for the standard error of a mean.
const BATCHES: usize = 5;

/// What a burst says about its mode.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Burst {
    /// ln p(Y, X, W) of each draw.
    values: Vec<f64>,
    /// Positions, or the noise of paths: one row per row of X.
    positions: Vec<Mat>,
    frequencies: Vec<Mat>,
}

impl Burst {
    /// Adds a draw, with its [`of_data`].
    pub fn push(
        &mut self,
        model: &Model,
        state: &State,
        of_data: f64,
        rng: &mut StreamRng,
    ) -> Result<(), NumericalError> {
        let (x, w) = (state.features.x(), state.features.w());
        let mut value = of_data + of_frequencies(model, state)? + joint::ln_positions(model, state)?;
        match model.paths(state)? {
            None => {
                let placement = Placement::onto(self.positions.first().unwrap_or(x), x);
                self.positions.push(placement.carry(x));
                self.frequencies.push(placement.frequencies(w));
            }
            Some(paths) => {
                let noise: Vec<f64> = (0..x.cols())
                    .flat_map(|d| paths.whiten_axis(d, x, rng).into_iter().flatten().collect::<Vec<_>>())
                    .collect();
                let standard: f64 = noise.iter().map(|u| -0.5 * (u * u + (2.0 * PI).ln())).sum();
                value += standard - paths.ln_density(x);
                self.positions.push(Mat::from_vec(noise.len(), 1, noise));
                self.frequencies.push(w.clone());
            }
        }
        self.values.push(value);
        Ok(())
    }

    /// The evidence and its standard error.
    pub fn evidence(&self) -> (f64, f64) {
        let (climb, sampling) = self.climb();
        (self.mass(), sampling.hypot(climb).hypot(self.chance()))
    }

    /// The error of the entropy.
    pub fn chance(&self) -> f64 {
        INDEPENDENCE * self.positions.first().map_or(0, |x| x.as_slice().len()) as f64
    }

    /// The evidence, and the part of its error that comes from the mean.
    pub fn compared(&self) -> (f64, f64) {
        (self.mass(), self.climb().1)
    }

    fn mass(&self) -> f64 {
        let mean = self.values.iter().sum::<f64>() / self.values.len() as f64;
        mean + entropy(&detrended(&self.positions)) + entropy(&detrended(&self.frequencies))
    }

    fn climb(&self) -> (f64, f64) {
        let size = self.values.len().div_ceil(BATCHES).max(1);
        let batches: Vec<f64> = self.values.chunks(size).map(|b| b.iter().sum::<f64>() / b.len() as f64).collect();
        climb(&batches)
    }
}

/// How far a sequence of batch means rises or falls from its first to its last, beyond what their noise explains, and the standard error of their
/// mean. A chain that still climbs will climb about as far again: on real tables this is most of the error.
fn climb(batches: &[f64]) -> (f64, f64) {
    let count = batches.len() as f64;
    if count < 3.0 {
        return (0.0, f64::INFINITY);
    }
    let (centre, mean) = (0.5 * (count - 1.0), batches.iter().sum::<f64>() / count);
    let times = || (0..batches.len()).map(|i| i as f64 - centre);
    let square: f64 = times().map(|t| t * t).sum();
    let slope = times().zip(batches).map(|(t, b)| t * b).sum::<f64>() / square;
    let rest: f64 = times().zip(batches).map(|(t, b)| (b - mean - slope * t).powi(2)).sum();
    let variance = rest / (count - 2.0);
    let (rise, error) = (slope * (count - 1.0), (variance / square).sqrt() * (count - 1.0));
    ((rise.abs() - 2.0 * error).max(0.0), (variance / count).sqrt())
}

/// ln p(Y, θ, τ² | X, W) with β integrated out, at a draw of β: where it is not integrated out exactly, the density there is, on average, ½
/// lower per weight than at the optimum for which Laplace's method is meant. Only modes of the same processor can be compared: not all
/// integrate it out exactly.
pub fn of_data(table: &mut dyn Table, model: &Model, state: &State) -> Result<f64, NumericalError> {
    let value = table.ln_data(model, state)?;
    let weights = if table.is_exact(model) { 0 } else { model.all_free() * state.beta.rows() };
    Ok(value + 0.5 * weights as f64)
}

/// ln p(W, z, α) with the clusters integrated out: p(W, z, clusters)/p(clusters | W, z).
fn of_frequencies(model: &Model, state: &State) -> Result<f64, NumericalError> {
    let (spectral, w) = (&state.spectral, state.features.w());
    let mut total = spectral.ln_frequencies(w) + spectral.ln_prior(&model.spec().kernel)?;
    if let Kernel::Learned(mixture) = &model.spec().kernel {
        let base = mixture.base(&spectral.psi);
        for (k, cluster) in spectral.clusters.iter().enumerate() {
            total -= base.posterior(spectral.members(w, k, None)).ln_density(&cluster.mu, &cluster.sigma)?;
        }
    }
    Ok(total)
}

/// Σ_n ½ ln|2πe S_n|, S_n the covariance of row n over the draws; of its diagonal alone where there are too few draws.
fn entropy(draws: &[Mat]) -> f64 {
    let Some(first) = draws.first() else { return 0.0 };
    let (dim, count) = (first.cols(), draws.len() as f64);
    let of_row = |n: usize| {
        let mean: Vec<f64> = (0..dim).map(|d| draws.iter().map(|x| x[(n, d)]).sum::<f64>() / count).collect();
        let covariance = Mat::from_fn(dim, dim, |d, e| {
            let products = draws.iter().map(|x| (x[(n, d)] - mean[d]) * (x[(n, e)] - mean[e]));
            products.sum::<f64>() / count + if d == e { TINY } else { 0.0 }
        });
        let full = (draws.len() >= 4 * dim).then(|| Cholesky::new(&covariance, "evidence").ok()).flatten();
        let ln_det = full.map_or_else(|| (0..dim).map(|d| covariance[(d, d)].ln()).sum::<f64>(), |c| c.ln_det());
        0.5 * (ln_det + dim as f64 * (2.0 * PI * E).ln())
    };
    (0..first.rows()).map(of_row).sum()
}

/// Variance of a row that has not moved at all.
const TINY: f64 = 1e-12;

/// Without each cell's straight line over the draws: a chain that still drifts is not for that reason more uncertain.
fn detrended(draws: &[Mat]) -> Vec<Mat> {
    let count = draws.len() as f64;
    let centre = 0.5 * (count - 1.0);
    let square: f64 = (0..draws.len()).map(|s| (s as f64 - centre).powi(2)).sum();
    let Some(first) = draws.first() else { return Vec::new() };
    let slope = Mat::from_fn(first.rows(), first.cols(), |n, d| {
        draws.iter().enumerate().map(|(s, x)| (s as f64 - centre) * x[(n, d)]).sum::<f64>() / square
    });
    let one = |(s, x): (usize, &Mat)| {
        Mat::from_fn(x.rows(), x.cols(), |n, d| x[(n, d)] - (s as f64 - centre) * slope[(n, d)])
    };
    draws.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::model::ModelSpec;
    use crate::model::family::Poisson;
    use crate::rng::Stream;
    use crate::simulate;
    use crate::steps::components;
    use std::sync::Arc;

    #[test]
    fn the_entropy_is_that_of_normals_without_their_drift() {
        // 3 rows of independent normals with standard deviations 2 and ½, which drift.
        let rng = &mut Stream::new(1).rng();
        let noise: Vec<Vec<f64>> = (0..4000).map(|_| normals(6, rng)).collect();
        let cell = |s: usize, n: usize, d: usize| [2.0, 0.5][d] * noise[s][2 * n + d] + 0.01 * s as f64;
        let draws: Vec<Mat> = (0..4000).map(|s| Mat::from_fn(3, 2, |n, d| cell(s, n, d))).collect();
        let truth = 3.0 * (2.0 * PI * E).ln();
        let found = entropy(&detrended(&draws));
        // ½ ln of an estimated variance has a standard error of √(½/4000); six of them.
        assert!((found - truth).abs() < 4.0 * (6.0 * 0.5 / 4000.0_f64).sqrt(), "{found} for {truth}");
        assert!(entropy(&draws) > truth + 3.0);
    }

    #[test]
    fn a_climb_counts_beyond_its_noise() {
        let (rise, error) = climb(&[0.0, 10.0, 20.0, 30.0, 40.0]);
        assert!((rise - 40.0).abs() < 1e-9 && error < 1e-9);
        // Noise alone: residuals of ±1 about a level sequence.
        let (rise, error) = climb(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
        assert!(rise == 0.0 && (0.3..0.7).contains(&error), "{rise} {error}");
        assert_eq!(climb(&[1.0, 2.0]).1, f64::INFINITY);
    }

    #[test]
    fn clusters_of_frequencies_are_integrated_out() {
        let spec = ModelSpec { features: 16, ..ModelSpec::default() };
        let model = simulate::blank(5, vec![(3, Arc::new(Poisson))], 1, spec).unwrap();
        let mut state = simulate::draw_prior(&model, Stream::new(2)).unwrap();
        let before = of_frequencies(&model, &state).unwrap();
        let Kernel::Learned(mixture) = &model.spec().kernel else { panic!("the kernel is learned") };
        components::update(mixture, &mut state, &mut Stream::new(3).rng()).unwrap();
        let after = of_frequencies(&model, &state).unwrap();
        assert!((before - after).abs() < 1e-8, "{before} {after}");
    }
}
