//! A trajectory in (X, W, β). Parts as large as the table turn where the table is, which evaluates everything but the priors of X and W.

use super::directions::Directions;
use super::frequencies::FrequencyPrior;
use super::gradient::{ln_priors, weight_precisions};
use super::groups::LIKE;
use super::hamiltonian::{Potential, Trajectory, TrajectoryEnd, hamiltonian};
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
    /// Sets the coordinates of the weights, where the flow does not know them.
    fn begin(&mut self, _frame: &Frame) {}

    /// Draws ζ, and ξ from the second stream; then moves both so that the weights are those given, at X and W.
    fn gather(&mut self, x: &Mat, w: &Mat, beta: &Mat, streams: [Stream; 2]);

    /// ln of the density at X and W besides their priors, whose gradients are added to `to`; not a number where A is not positive definite.
    fn evaluate(&mut self, x: &Mat, w: &Mat, to: Slopes<'_>) -> f64 {
        self.evaluate_from(0.0, x, w, to)
    }

    /// The same, added to another density.
    fn evaluate_from(&mut self, ln_density: f64, x: &Mat, w: &Mat, to: Slopes<'_>) -> f64 {
        ln_density + self.evaluate(x, w, to)
    }

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

/// What a trajectory is given besides the state.
#[derive(Clone, Copy)]
pub struct Flight<'a> {
    /// What defines the weights' coordinates.
    pub reference: &'a Reference,
    /// The prior of X, if rows have times.
    pub paths: Option<&'a Paths<'a>>,
    /// Its steps.
    pub trajectory: &'a Trajectory,
    /// Along which X moves together, besides those of the trajectory.
    pub directions: Option<&'a dyn Directions>,
}

/// Where a trajectory has ended, if it was accepted: X and W in q, and β.
pub(crate) struct Landed {
    pub q: Vec<f64>,
    pub beta: Mat,
}

/// A trajectory from a state, given θ and τ².
pub(crate) fn fly<F: Flow + ?Sized, R: Rng + ?Sized>(
    flow: &mut F,
    model: &Model,
    state: &State,
    flight: Flight<'_>,
    rng: &mut R,
) -> (TrajectoryEnd, Option<Landed>) {
    let frequencies = FrequencyPrior::integrated(&model.spec().kernel, &state.spectral);
    let (mut target, mut q) = Flowing::new(flow, (frequencies, flight.paths), state, rng);
    let end = hamiltonian(&mut target, &mut q, flight.trajectory, flight.directions, rng);
    // The last evaluation of the trajectory was at its end point.
    let landed = end.is_accepted.then(|| {
        let mut beta = Mat::zeros(state.beta.rows(), state.beta.cols());
        target.flow.beta(&mut beta);
        Landed { q, beta }
    });
    (end, landed)
}

/// A trajectory of X and W over a flow.
pub(super) struct Flowing<'a, F: Flow + ?Sized> {
    pub(super) flow: &'a mut F,
    frequencies: FrequencyPrior<'a>,
    paths: Option<&'a Paths<'a>>,
    x: Mat,
    w: Mat,
}

impl<'a, F: Flow + ?Sized> Flowing<'a, F> {
    /// Begins at a state; q has X and W.
    pub fn new<R: Rng + ?Sized>(
        flow: &'a mut F,
        (frequencies, paths): (FrequencyPrior<'a>, Option<&'a Paths<'a>>),
        state: &State,
        rng: &mut R,
    ) -> (Self, Vec<f64>) {
        let (x, w) = (state.features.x().clone(), state.features.w().clone());
        flow.gather(&x, &w, &state.beta, [Stream::new(rng.random()), Stream::new(rng.random())]);
        let q = [x.as_slice(), w.as_slice()].concat();
        (Flowing { flow, frequencies, paths, x, w }, q)
    }
}

impl<F: Flow + ?Sized> Potential for Flowing<'_, F> {
    fn evaluate(&mut self, q: &[f64], g: &mut [f64]) -> f64 {
        let (x, w) = q.split_at(self.x.as_slice().len());
        self.x.as_mut_slice().copy_from_slice(x);
        self.w.as_mut_slice().copy_from_slice(w);
        let (gx, gw) = g.split_at_mut(x.len());
        let ln_prior = ln_priors(&self.x, &self.w, &self.frequencies, self.paths, gx, gw);
        self.flow.evaluate_from(ln_prior, &self.x, &self.w, (gx, gw))
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
