//! The joint gradient move where weights and rows are both held by another processor: it evaluates everything but the priors of X and W.

use super::frequencies::FrequencyPrior;
use super::gradient::{ln_priors, weight_precisions};
use super::groups::LIKE;
use super::hamiltonian::Potential;
use super::reference::Reference;
use crate::linalg::Mat;
use crate::model::family::Theta;
use crate::model::latent::Paths;
use crate::model::{Model, State};
use crate::rng::Stream;
use rand::{Rng, RngExt};
use std::ops::Range;

/// The coordinates of the weights (see `noncentred.rs`), which do not change along a trajectory.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Column of the model at each position in ζ.
    pub order: Vec<usize>,
    /// Positions of each group, and their ρ.
    pub groups: Vec<(Range<usize>, f64)>,
    /// s_j at each position; zero for columns without weights, which are in no group and have the last positions.
    pub scale: Vec<f64>,
    /// The right factor of Z at each position.
    pub right: Mat,
    /// D of the intercept.
    pub intercept: f64,
    /// Prior precision of the weights of each column of the model.
    pub precision: Vec<f64>,
}

impl Frame {
    /// Given θ and τ².
    pub fn new(model: &Model, theta: &[Theta], tau2: &[f64], reference: &Reference) -> Self {
        let [precision, _] = weight_precisions(model, theta, tau2);
        let rho: Vec<f64> = reference.column.iter().zip(&precision).map(|(b, p)| b / p).collect();
        let (mut order, fixed): (Vec<usize>, Vec<usize>) = (0..model.columns()).partition(|&c| model.is_free(c));
        order.sort_by(|&a, &b| rho[a].total_cmp(&rho[b]));
        let groups = grouped(&order, &rho);
        order.extend(fixed);
        let scale = |&c: &usize| if model.is_free(c) { precision[c].sqrt().recip() } else { 0.0 };
        Frame {
            groups,
            scale: order.iter().map(scale).collect(),
            right: Mat::from_fn(reference.right.rows(), order.len(), |r, k| reference.right[(r, order[k])]),
            intercept: 1.0 / model.spec().priors.intercept,
            order,
            precision,
        }
    }
}

/// Groups of similar ρ along `order`, in which ρ increases; each has the geometric mean of its ρ.
fn grouped(order: &[usize], rho: &[f64]) -> Vec<(Range<usize>, f64)> {
    let (mut groups, mut start) = (Vec::new(), 0);
    while start < order.len() {
        let limit = rho[order[start]] * LIKE;
        let count = order[start..].iter().take_while(|&&c| rho[c] <= limit).count().max(1);
        let columns = start..start + count;
        let ln_rho = order[columns.clone()].iter().map(|&c| rho[c].ln()).sum::<f64>() / count as f64;
        groups.push((columns, ln_rho.exp()));
        start += count;
    }
    groups
}

/// Gradients with respect to X and W.
pub type Slopes<'a> = (&'a mut [f64], &'a mut [f64]);

/// What a trajectory asks of it. Weights of columns in no group are zero.
pub trait Flow {
    /// Begins a trajectory.
    fn begin(&mut self, frame: &Frame);

    /// Draws ζ, and ξ from the second stream; then moves both so that the weights are those given, at X and W.
    fn gather(&mut self, x: &Mat, w: &Mat, beta: &Mat, streams: [Stream; 2]);

    /// ln of the density at X and W besides their priors, whose gradients are added to `to`; not a number where A is not positive definite.
    fn evaluate(&mut self, x: &Mat, w: &Mat, to: Slopes<'_>) -> f64;

    /// Adds `step` times the gradient at the last evaluation to the momenta of ζ and ξ.
    fn kick(&mut self, step: f64);

    /// Draws the momenta of ζ, and of ξ from the second stream.
    fn draw_momenta(&mut self, streams: [Stream; 2]);

    /// Rotates ζ and ξ with their momenta.
    fn turn(&mut self, sin: f64, cos: f64);

    /// Half the squares of ζ, ξ and their momenta.
    fn energy(&mut self) -> f64;

    /// The weights at the last evaluation.
    fn beta(&mut self, beta: &mut Mat);
}

/// A trajectory of X and W over a flow.
pub(crate) struct Flowing<'a, F: Flow + ?Sized> {
    flow: &'a mut F,
    frequencies: FrequencyPrior<'a>,
    paths: Option<&'a Paths<'a>>,
    x: Mat,
    w: Mat,
}

impl<'a, F: Flow + ?Sized> Flowing<'a, F> {
    /// Begins at a state, given θ and τ².
    pub fn new<R: Rng + ?Sized>(
        flow: &'a mut F,
        model: &Model,
        (theta, tau2): (&[Theta], &[f64]),
        (frequencies, paths): (FrequencyPrior<'a>, Option<&'a Paths<'a>>),
        reference: &Reference,
        state: &State,
        rng: &mut R,
    ) -> (Self, Vec<f64>) {
        flow.begin(&Frame::new(model, theta, tau2, reference));
        let (x, w) = (state.features.x().clone(), state.features.w().clone());
        flow.gather(&x, &w, &state.beta, [Stream::new(rng.random()), Stream::new(rng.random())]);
        let q = [x.as_slice(), w.as_slice()].concat();
        (Flowing { flow, frequencies, paths, x, w }, q)
    }

    /// Ends it; the weights at its last evaluation, where they are wanted.
    pub fn finish(self, beta: Option<&mut Mat>) {
        if let Some(beta) = beta {
            self.flow.beta(beta);
        }
    }
}

impl<F: Flow + ?Sized> Potential for Flowing<'_, F> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let (x, w) = q.split_at(self.x.as_slice().len());
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        let (gx, gw) = g.split_at_mut(x.len());
        let ln_prior = ln_priors(&self.x, &self.w, &self.frequencies, self.paths, gx, gw);
        ln_prior + self.flow.evaluate(&self.x, &self.w, (gx, gw))
    }

    fn draw_momenta<R: Rng + ?Sized>(&mut self, rng: &mut R) {
        self.flow.draw_momenta([Stream::new(rng.random()), Stream::new(rng.random())]);
    }

    fn turn(&mut self, sin: f64, cos: f64) {
        self.flow.turn(sin, cos);
    }

    fn turning_energy(&mut self) -> f64 {
        self.flow.energy()
    }

    fn kick(&mut self, step: f64) {
        self.flow.kick(step);
    }
}
