//! Initial state of a chain. The posterior has entangled modes that no sampler leaves, so initialisation matters: X by principal
//! components on the link scale; X unfolded under long length-scales; then β and W fitted with X fixed.

use super::adjust::without_covariates;
use super::climb::{Climb, climb};
use super::map::{integrated_amplitudes, integrated_linear};
use super::pca;
use crate::dist::cluster::Cluster;
use crate::dist::{normal, normals};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::collapsed::CollapsedData;
use crate::model::features::Features;
use crate::model::spectral::{Kernel, Spectral};
use crate::model::{Model, State};
use crate::par;
use crate::rng::{Stream, StreamRng};
use crate::steps::amplitudes;
use crate::table::Table;

/// How X is initialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Init {
    /// Each chain at a different start: from principal components, graphs of nearest neighbours, and both in more axes than the model
    /// has ([`crate::run::spread`]). Together the chains show how far the posterior reaches.
    #[default]
    Spread,
    /// The best of several modes, which start from principal components and from graphs of nearest neighbours
    /// ([`crate::run::modes`]).
    Search,
    /// Principal components on the link scale.
    Pca,
    /// Standard normal.
    Random,
    /// The MAP estimate reached from principal components ([`super::map`]).
    Map,
}

impl Init {
    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Init::Spread => "spread",
            Init::Search => "search",
            Init::Pca => "pca",
            Init::Random => "random",
            Init::Map => "map",
        }
    }
}

/// Standard deviation of the initial frequencies when the kernel is learned: length-scales twice the width of X.
const FIRST_FREQUENCY: f64 = 0.5;
/// Initial s of a linear part: the linear part of a typical row is then about as large as the rest of the map.
const FIRST_S: f64 = 0.5;
/// Noise added to the principal components, so that chains do not agree merely because they started at the same point: a
/// tenth of the width of the latent space. Each chain also rotates the axes at random and draws its own frequencies.
const DISPERSION: f64 = 0.1;

/// Where a MAP estimate starts: the initial state of a chain, before its frequencies are assigned to clusters.
pub(super) fn begin(table: &mut dyn Table, model: &Model, how: Init, stream: Stream) -> Result<State, NumericalError> {
    let rng = &mut stream.named("start").rng();
    let x = placed(model, how, rng);
    fitted(table, model, x, stream, rng)
}

/// Positions before anything is fitted.
pub(super) fn placed(model: &Model, how: Init, rng: &mut StreamRng) -> Mat {
    let (n, d) = (model.rows(), model.latent_dim());
    match how {
        Init::Random => Mat::from_vec(n, d, normals(n * d, rng)),
        Init::Pca | Init::Map | Init::Search | Init::Spread => {
            dispersed(pca::scores(model.chunks(), on_link_scale(model), d, rng), rng)
        }
    }
}

/// Positions with some noise, turned at random.
pub(super) fn dispersed(mut x: Mat, rng: &mut StreamRng) -> Mat {
    x.as_mut_slice().iter_mut().for_each(|x| *x = (*x + DISPERSION * normal(rng)) / (1.0 + DISPERSION.powi(2)).sqrt());
    rotate(&x, &random_rotation(x.cols(), rng))
}

/// W and β fitted to given positions, then X with them, in stages.
pub(super) fn fitted(
    table: &mut dyn Table,
    model: &Model,
    x: Mat,
    stream: Stream,
    rng: &mut StreamRng,
) -> Result<State, NumericalError> {
    let mut state = blank(model, x, rng)?;
    table.load(model, &mut state);
    fit(table, model, &mut state, stream.named("fit"))?;
    table.check()?;
    Ok(state)
}

/// Given positions, random frequencies and no weights but the intercepts; without H and F.
pub(super) fn blank(model: &Model, x: Mat, rng: &mut StreamRng) -> Result<State, NumericalError> {
    let (d, l, last) = (model.latent_dim(), model.frequencies(), model.width() - 1);
    let (spectral, w) = match &model.spec().kernel {
        Kernel::Rbf { .. } => Spectral::draw_prior(&model.spec().kernel, l, d, rng)?,
        Kernel::Learned(mixture) => {
            let (psi, psi_rate) = mixture.start_scales(d);
            let cluster = Cluster::new(vec![0.0; d], Mat::identity(d, 1.0))?;
            let w = normals(l * d, rng).into_iter().map(|z| FIRST_FREQUENCY * z).collect();
            (Spectral { z: vec![0; l], clusters: vec![cluster], alpha: 1.0, psi, psi_rate }, Mat::from_vec(l, d, w))
        }
    };
    let mut beta = Mat::zeros(last + 1, model.columns());
    for j in (0..model.columns()).filter(|&j| model.is_free(j)) {
        beta[(last, j)] = model.units()[j].centre;
    }
    let mut tau2 = vec![1.0; model.columns()];
    for block in model.blocks() {
        tau2[block.columns.clone()].fill(model.amplitude(block).middle());
    }
    let theta = model.start_parameters();
    Ok(State::hollow(model, Features::hollow(x, w, model.plain(FIRST_S)), spectral, beta, tau2, theta))
}

/// Whether positions and frequencies can move, and for how many steps.
const STAGES: [((bool, bool), usize); 3] = [((false, false), 40), ((true, false), 100), ((false, true), 80)];

/// Optimises in stages: β; then X and β with long length-scales, so that X unfolds before the map can become rough
/// (with free frequencies neighbours come apart instead); then W and β with X fixed. θ follows.
fn fit(table: &mut dyn Table, model: &Model, state: &mut State, stream: Stream) -> Result<(), NumericalError> {
    for (stage, ((positions, frequencies), iterations)) in STAGES.into_iter().enumerate() {
        let how = Climb { positions, frequencies, is_integrated: false, iterations, gain: 0.0 };
        climb(table, model, state, how)?;
        let stream = stream.at(stage as u64);
        // Amplitudes at the top of their evidence, where it is known: from there a chain has nothing to find.
        if table.is_exact(model) {
            let target = CollapsedData::new(model, &state.theta);
            integrated_amplitudes(model, &target, state)?;
            integrated_linear(model, &target, state);
            table.draw_parameters(model, state, stream)?;
        } else {
            table.draw_parameters(model, state, stream)?;
            amplitudes::update(table, model, state, stream.named("tau2"))?;
        }
    }
    Ok(())
}

/// Y on the link scale, for principal components: offsets and effects of covariates subtracted, real columns scaled to unit standard deviation.
pub(super) fn on_link_scale(model: &Model) -> Mat {
    let mut link = Mat::zeros(model.rows(), model.columns());
    let columns = model.columns();
    par::rows([(link.as_mut_slice(), columns)], 16 * columns, |first, [link]| {
        for (n, link) in (first..).zip(link.chunks_exact_mut(columns)) {
            for block in model.blocks() {
                for (local, j) in block.columns.clone().enumerate() {
                    let y = model.y()[(n, j)];
                    let f = if y.is_nan() { f64::NAN } else { block.family.link(n, local, y) - model.offset()[n] };
                    link[j] = f / model.units()[j].scale;
                }
            }
        }
        0.0
    });
    without_covariates(model, &mut link);
    link
}

/// A random orthogonal matrix: Gram–Schmidt on a Gaussian one.
fn random_rotation(dim: usize, rng: &mut impl rand::Rng) -> Mat {
    let mut q = Mat::from_vec(dim, dim, normals(dim * dim, rng));
    for i in 0..dim {
        for k in 0..i {
            let overlap: f64 = q.row(i).iter().zip(q.row(k)).map(|(a, b)| a * b).sum();
            let other = q.row(k).to_vec();
            q.row_mut(i).iter_mut().zip(other).for_each(|(a, b)| *a -= overlap * b);
        }
        let norm = q.row(i).iter().map(|v| v * v).sum::<f64>().sqrt();
        q.row_mut(i).iter_mut().for_each(|v| *v /= norm);
    }
    q
}

fn rotate(x: &Mat, q: &Mat) -> Mat {
    let mut turned = Mat::zeros(x.rows(), x.cols());
    crate::linalg::mul(turned.as_mut_slice(), x.view(), q.view(), false);
    turned
}
