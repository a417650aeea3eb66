//! Initialisation of chains: principal components, MAP estimate, or random; and the MAP estimate itself.

mod adjust;
pub(crate) mod begin;
mod climb;
pub(crate) mod graph;
pub(crate) mod lift;
pub mod map;
pub(crate) mod pca;

pub use begin::Init;

use crate::dist::cluster::Cluster;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::spectral::{Kernel, Spectral};
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::steps::components;
use crate::table::Table;
use rand::RngExt;

/// Number of clusters to which the frequencies are assigned initially.
const CLUSTERS: usize = 20;
/// Distance of a chain's start from the MAP estimate, in conditional standard deviations of the positions: chains that reach the
/// same optimum do not start at the same point. Each also optimises from its own start.
const SCATTER: f64 = 2.0;
/// Rounds of optimisation for a MAP initialisation; the warm-up does the rest.
const ROUNDS: usize = 5;

/// The fitted initial state of a chain.
pub fn start(table: &mut dyn Table, model: &Model, how: Init, stream: Stream) -> Result<State, NumericalError> {
    let rng = &mut stream.named("start").rng();
    let x = begin::placed(model, how, rng);
    let mut state = begin::fitted(table, model, x, stream, rng)?;
    if how == Init::Map {
        let mut ascent = map::Ascent::new(table, model, state)?;
        ascent.go_on(table, model, ROUNDS)?;
        state = ascent.state;
        scatter(model, &mut state, SCATTER, rng)?;
    }
    clustered(model, state, rng)
}

/// X by principal components, each axis with unit variance.
pub(crate) fn principal_scores(model: &Model, rng: &mut StreamRng) -> Mat {
    pca::scores(model.chunks(), begin::on_link_scale(model), model.latent_dim(), rng)
}

/// The first `dim` principal components as wide as they are, the widest with unit variance.
pub(crate) fn wide_scores(model: &Model, dim: usize, rng: &mut StreamRng) -> Mat {
    let mut x = pca::wide_scores(model.chunks(), begin::on_link_scale(model), dim, rng);
    let of_axis = |d: usize| (0..x.rows()).map(|n| x[(n, d)].powi(2)).sum::<f64>() / x.rows() as f64;
    let widest = (0..x.cols()).map(of_axis).fold(f64::MIN_POSITIVE, f64::max).sqrt();
    x.as_mut_slice().iter_mut().for_each(|x| *x /= widest);
    x
}

/// The state fitted to given positions.
pub(crate) fn start_at(table: &mut dyn Table, model: &Model, x: Mat, stream: Stream) -> Result<State, NumericalError> {
    let rng = &mut stream.named("start").rng();
    let x = begin::dispersed(x, rng);
    let state = begin::fitted(table, model, x, stream, rng)?;
    clustered(model, state, rng)
}

/// With the frequencies in clusters.
fn clustered(model: &Model, mut state: State, rng: &mut StreamRng) -> Result<State, NumericalError> {
    if let Kernel::Learned(mixture) = &model.spec().kernel {
        deal(&mut state.spectral, model.frequencies().min(CLUSTERS), rng);
        components::update(mixture, &mut state, rng)?;
    }
    Ok(state)
}

/// Moves each row by a draw from its conditional distribution, `scale` times as wide.
pub(crate) fn scatter(model: &Model, state: &mut State, scale: f64, rng: &mut StreamRng) -> Result<(), NumericalError> {
    let mut x = state.features.x().clone();
    for (n, covariance) in map::spread(model, state)?.into_iter().enumerate() {
        let away = Cluster::new(vec![0.0; x.cols()], covariance)?.centred_draw(rng);
        x.row_mut(n).iter_mut().zip(away).for_each(|(x, away)| *x += scale * away);
    }
    let w = state.features.w().clone();
    state.features.set(x.as_slice(), w.as_slice());
    state.refresh(model);
    Ok(())
}

/// Assigns the frequencies to clusters at random, none empty.
fn deal(spectral: &mut Spectral, clusters: usize, rng: &mut impl rand::Rng) {
    let placeholder = spectral.clusters[0].clone();
    spectral.clusters = vec![placeholder; clusters];
    for (l, z) in spectral.z.iter_mut().enumerate() {
        *z = if l < clusters { l } else { rng.random_range(0..clusters) };
    }
}
