//! Priors that conflict with their posterior: quantities whose posterior median the prior all but excludes.
//!
//! The strength of column j's weights is λ_j Σ_m β_mj² / (M τ_j²), χ²_M/M a priori: it is far from 1 where a fixed amplitude is too
//! small or too large. (Not always for Gaussian columns of fewer rows than features: σ_j² grows with the weights, so that the strength
//! is at most about 1 + N/M.) All other quantities are compared as they are, θ as for a column of unit scale. The columns of a block then
//! share one prior, and so do axes: their draws are pooled. F is never computed.

use super::super::array::array;
use super::super::diagnostics::quantile;
use super::super::fitted::Fitted;
use super::super::parameters::Stored;
use crate::dist::gamma;
use crate::draws::Cursor;
use crate::error::{NumericalError, RunError};
use crate::linalg::Mat;
use crate::model::family::{Theta, Unit};
use crate::model::latent::Axis;
use crate::model::spectral::{Kernel, Spectral};
use crate::model::{Amplitude, Block, Model};
use crate::rng::Stream;
use crate::simulate::draw_amplitudes;

/// A posterior median outside of the central 99% of its prior is a conflict. If the model is right, medians vary less from table to table
/// than draws from the prior, so at most one table in a hundred has one; columns and axes share that hundredth.
const OUTSIDE: f64 = 0.01;
/// Draws from the prior: at least 2, usually 10 of them are beyond each limit.
const LEAST: usize = 400;
const MOST: usize = 2000;
/// Values held at once, unless that many columns need more.
const HELD: usize = 4_000_000;
/// Posterior draws visited: the median is then known to a tenth of a standard deviation.
pub const VISITED: usize = 200;

/// What a prior is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assumption {
    /// Strength of the weights, given τ_j and λ_j.
    Weights,
    /// τ_j.
    Amplitude,
    /// The parameter of this name and index of the family.
    Parameter(&'static str, usize),
    /// α.
    Alpha,
    /// K.
    Clusters,
    /// ℓ_d, in units of the longest sequence's span.
    LengthScale,
    /// ρ_d.
    NoiseShare,
}

impl Assumption {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Assumption::Weights => "strength of weights",
            Assumption::Amplitude => "amplitude",
            Assumption::Parameter(name, _) => name,
            Assumption::Alpha => "alpha",
            Assumption::Clusters => "clusters",
            Assumption::LengthScale => "length-scale",
            Assumption::NoiseShare => "noise share",
        }
    }
}

/// A prior that conflicts with its posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// What it is about.
    pub assumption: Assumption,
    /// The block of columns, if it is about columns.
    pub block: Option<usize>,
    /// How many columns or axes have this prior.
    pub all: usize,
    /// How many of them conflict.
    pub outside: usize,
    /// The one that is farthest outside: a column of the model, or an axis.
    pub worst: usize,
    /// Its posterior median.
    pub median: f64,
    /// The prior: lower limit, quantiles at 5%, 50% and 95%, upper limit.
    pub prior: [f64; 5],
}

impl Conflict {
    /// The limits beyond which a median conflicts.
    pub fn limits(&self) -> [f64; 2] {
        [self.prior[0], self.prior[4]]
    }

    /// Whether the posterior is above the prior.
    pub fn is_above(&self) -> bool {
        self.median > self.prior[4]
    }
}

/// A quantity, and the columns or axes that have it.
struct Kind {
    assumption: Assumption,
    block: Option<usize>,
    places: Vec<usize>,
}

/// Everything that is compared.
fn kinds(model: &Model) -> Vec<Kind> {
    let mut kinds = Vec::new();
    // A constant column says nothing about its scale.
    let varies = |j: &usize| {
        let seen = || model.y().iter_rows().map(|row| row[*j]).filter(|y| !y.is_nan());
        seen().next().is_some_and(|first| seen().any(|y| y != first))
    };
    for (b, block) in model.blocks().iter().enumerate() {
        let columns: Vec<usize> = block.columns.clone().filter(|j| model.is_free(*j)).filter(varies).collect();
        let mut add = |assumption, places| kinds.push(Kind { assumption, block: Some(b), places });
        add(Assumption::Weights, columns.clone());
        match model.amplitude(block) {
            Amplitude::Fixed(_) => {}
            Amplitude::Learned(_) => add(Assumption::Amplitude, columns.clone()),
            Amplitude::Shared(_) => add(Assumption::Amplitude, columns.iter().copied().take(1).collect()),
        }
        for (p, name) in block.family.parameters().into_iter().enumerate() {
            add(Assumption::Parameter(name, p), columns.clone());
        }
    }
    let mut add = |assumption, count: usize| kinds.push(Kind { assumption, block: None, places: (0..count).collect() });
    if let Kernel::Learned(_) = model.spec().kernel {
        add(Assumption::Alpha, 1);
        add(Assumption::Clusters, 1);
    }
    if model.dynamics().is_some() {
        add(Assumption::LengthScale, model.latent_dim());
        add(Assumption::NoiseShare, model.latent_dim());
    }
    kinds.retain(|kind| !kind.places.is_empty());
    kinds
}

/// One draw of what is compared, from the prior or from the posterior.
struct Drawn {
    strength: Vec<f64>,
    tau2: Vec<f64>,
    /// For columns of unit scale.
    theta: Vec<Theta>,
    alpha: f64,
    clusters: f64,
    axes: Vec<Axis>,
}

impl Drawn {
    /// From the prior.
    fn prior(model: &Model, stream: Stream) -> Result<Self, NumericalError> {
        let (rng, half) = (&mut stream.rng(), 0.5 * model.spec().features as f64);
        let unit = Unit::new(0.0, 1.0);
        let theta = |block: &Block, rng: &mut _| block.family.draw_prior(&vec![unit; block.columns.len()], rng);
        let (spectral, _) = Spectral::draw_prior(&model.spec().kernel, model.frequencies(), model.latent_dim(), rng)?;
        let axes = model.dynamics().into_iter();
        let axes = axes.flat_map(|paths| (0..model.latent_dim()).map(|_| paths.prior())).map(|p| p.draw(rng)).collect();
        Ok(Drawn {
            strength: (0..model.columns()).map(|_| gamma(half, half, rng)).collect(),
            tau2: draw_amplitudes(model, rng),
            theta: model.blocks().iter().map(|block| theta(block, rng)).collect(),
            alpha: spectral.alpha,
            clusters: spectral.count() as f64,
            axes,
        })
    }

    fn value(&self, kind: &Kind, model: &Model, place: usize) -> f64 {
        match (kind.assumption, kind.block) {
            (Assumption::Weights, _) => self.strength[place],
            (Assumption::Amplitude, _) => self.tau2[place].sqrt(),
            (Assumption::Parameter(_, p), Some(b)) => {
                self.theta[b].values[(p, place - model.blocks()[b].columns.start)]
            }
            (Assumption::Parameter(..), None) => f64::NAN,
            (Assumption::Alpha, _) => self.alpha,
            (Assumption::Clusters, _) => self.clusters,
            (Assumption::LengthScale, _) => self.axes[place].length_scale,
            (Assumption::NoiseShare, _) => self.axes[place].noise,
        }
    }
}

/// Stored draws of what is compared.
struct Posterior<'a> {
    model: &'a Model,
    stored: Stored<'a>,
    tau2: Option<Box<dyn Cursor + 'a>>,
    alpha: Box<dyn Cursor + 'a>,
    clusters: Box<dyn Cursor + 'a>,
}

impl<'a> Posterior<'a> {
    fn open(fitted: &Fitted<'a>) -> Result<Self, RunError> {
        let (store, model) = (fitted.store, fitted.model);
        let is_learned = model.blocks().iter().any(|block| model.amplitude(block).prior().is_some());
        let tau2 = is_learned.then(|| array(store, "tau2", "theta", &[model.columns()])).transpose()?;
        let [alpha, clusters] = [array(store, "alpha", "alpha", &[])?, array(store, "clusters", "clusters", &[])?];
        Ok(Posterior { model, stored: Stored::open(store, model)?, tau2, alpha, clusters })
    }

    fn at(&mut self, chain: usize, draw: usize) -> Result<Drawn, RunError> {
        let (model, drawn) = (self.model, self.stored.at(chain, draw)?);
        let tau2 = match &mut self.tau2 {
            Some(tau2) => tau2.at(chain, draw)?.to_vec(),
            None => model.blocks().iter().flat_map(|b| vec![model.amplitude(b).middle(); b.columns.len()]).collect(),
        };
        let mut strength = vec![0.0; model.columns()];
        for weights in drawn.beta.iter_rows().take(model.spec().features) {
            strength.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w * w);
        }
        let features = model.spec().features as f64;
        for (j, strength) in strength.iter_mut().enumerate() {
            *strength *= model.weight_scale(&drawn.theta, j) / (features * tau2[j]);
        }
        let plain = |(block, theta): (&Block, &Theta)| {
            let units = &model.units()[block.columns.clone()];
            let value = |p, j: usize| block.family.standardised(p, theta.values[(p, j)], &units[j]);
            Theta { values: Mat::from_fn(theta.values.rows(), theta.values.cols(), value), hyper: Vec::new() }
        };
        Ok(Drawn {
            strength,
            tau2,
            theta: model.blocks().iter().zip(&drawn.theta).map(plain).collect(),
            alpha: self.alpha.at(chain, draw)?[0],
            clusters: self.clusters.at(chain, draw)?[0],
            axes: drawn.axes,
        })
    }
}

impl Fitted<'_> {
    /// The priors that conflict with their posterior, from at most `most` draws.
    pub fn conflicts(&self, most: usize) -> Result<Vec<Conflict>, RunError> {
        let (model, mut posterior) = (self.model, Posterior::open(self)?);
        let visited = self.visited_in_map(most)?;
        let kinds = kinds(model);
        let mut seen: Vec<Vec<Vec<f64>>> = kinds.iter().map(|kind| vec![Vec::new(); kind.places.len()]).collect();
        for &(chain, draw) in &visited {
            let drawn = posterior.at(chain, draw)?;
            for (kind, seen) in kinds.iter().zip(&mut seen) {
                kind.places.iter().zip(seen).for_each(|(&place, seen)| seen.push(drawn.value(kind, model, place)));
            }
        }
        // One quantity at a time: draws from the prior are cheap, and all quantities of a wide table would need much memory.
        let compared = kinds.iter().zip(seen).map(|(kind, seen)| {
            let medians: Vec<f64> = seen.into_iter().map(median).collect();
            Ok(compare(kind, &self.prior_of(kind)?, &medians))
        });
        let compared: Result<Vec<_>, NumericalError> = compared.collect();
        let compared = compared.map_err(|source| RunError::Numerical { chain: 0, sweep: 0, source })?;
        Ok(compared.into_iter().flatten().collect())
    }

    /// Sorted draws of a quantity from the prior, of all its columns or axes together.
    fn prior_of(&self, kind: &Kind) -> Result<Vec<f64>, NumericalError> {
        let count = (HELD / self.model.columns().max(1)).clamp(LEAST, MOST);
        let mut pooled = Vec::with_capacity(count * kind.places.len());
        for draw in 0..count {
            let drawn = Drawn::prior(self.model, self.stream.named("prior").at(draw as u64))?;
            pooled.extend(kind.places.iter().map(|&place| drawn.value(kind, self.model, place)));
        }
        pooled.sort_unstable_by(f64::total_cmp);
        Ok(pooled)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// Medians, one per column or axis, compared with sorted draws from their common prior.
fn compare(kind: &Kind, prior: &[f64], medians: &[f64]) -> Option<Conflict> {
    let tail = 0.5 * OUTSIDE / medians.len() as f64;
    let prior = [tail, 0.05, 0.5, 0.95, 1.0 - tail].map(|p| quantile(prior, p));
    // Distance beyond the limit.
    let beyond = |&median: &f64| (prior[0] - median).max(median - prior[4]);
    let worst = (0..medians.len()).max_by(|&a, &b| beyond(&medians[a]).total_cmp(&beyond(&medians[b])))?;
    let outside = medians.iter().filter(|median| beyond(median) > 0.0).count();
    (outside > 0).then(|| Conflict {
        assumption: kind.assumption,
        block: kind.block,
        all: medians.len(),
        outside,
        worst: kind.places[worst],
        median: medians[worst],
        prior,
    })
}

#[cfg(test)]
mod tests;
