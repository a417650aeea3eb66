//! Tuning of the gradient move during warm-up: the step size by stochastic approximation, and in growing windows the scale of
//! each coordinate and the reference. Nothing is tuned after warm-up, so that all draws come from one fixed kernel.

use super::warps::Warps;
use crate::hmc::directions::Modes;
use crate::hmc::hamiltonian::Trajectory;
use crate::hmc::reference::Reference;
use crate::hmc::smooth;
use crate::linalg::Mat;
use crate::model::{Known, Model, State};
use crate::table::Table;
use serde::{Deserialize, Serialize};

/// The tuned parameters of the gradient move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Scales of X and W, step size, number of steps.
    pub trajectory: Trajectory,
    /// The reference that defines the weights' coordinates; none where they are integrated out.
    pub reference: Option<Reference>,
    /// Information of the data about each row's position, N×D; none where rows have no times.
    pub information: Mat,
}

/// Mean number of leapfrog steps of a trajectory. Effective samples per second hardly depend on it between 12 and 48 if the
/// weights are sampled; if they are integrated out, long trajectories pay off.
const LEAPFROGS: usize = 12;
const LEAPFROGS_COLLAPSED: usize = 32;

impl Tuning {
    /// An initial guess: scales from the information that N×J cells of unit information carry, the reference at the prior mean.
    pub fn guess(model: &Model) -> Self {
        if !model.is_collapsed() {
            return Self::guess_sampled(model);
        }
        let mut tuning = Self::guess_without_reference(model);
        tuning.trajectory.leapfrogs = LEAPFROGS_COLLAPSED;
        tuning
    }

    /// An initial guess where weights are sampled, even if they could be integrated out.
    pub fn guess_sampled(model: &Model) -> Self {
        let mut tuning = Self::guess_without_reference(model);
        let mut centres = Mat::from_fn(model.rows(), model.columns(), |n, j| {
            model.offset()[n] + if model.is_free(j) { model.units()[j].centre } else { 0.0 }
        });
        tuning.reference = Some(Reference::new(model, &model.start_parameters(), Known::of(model), &mut centres));
        tuning
    }

    fn guess_without_reference(model: &Model) -> Self {
        let (n, j, l, d) = (model.rows(), model.all_columns(), model.frequencies(), model.latent_dim());
        let mut scales = vec![(1.0 + j as f64).sqrt().recip(); n * d];
        scales.resize((n + l) * d, (1.0 + (n * j) as f64 / l as f64).sqrt().recip());
        let information =
            model.dynamics().map_or_else(Mat::default, |_| Mat::from_vec(n, d, vec![1.0 + j as f64; n * d]));
        let trajectory = Trajectory { scales, modes: Modes::default(), step: 0.1, leapfrogs: LEAPFROGS };
        Tuning { trajectory, reference: None, information }
    }

    /// The first guess for a chain from a state; where the table is not here, with the reference there.
    pub(crate) fn first(table: &mut dyn Table, model: &Model, state: &State) -> Self {
        if table.is_here() {
            return Self::guess(model);
        }
        let mut tuning = Self::guess_without_reference(model);
        tuning.refer_to(table, model, state);
        tuning
    }

    /// Sets the reference from a state, where the table needs one.
    pub(crate) fn refer_unless_exact(&mut self, table: &mut dyn Table, model: &Model, state: &State) {
        if !table.is_here() {
            self.refer_to(table, model, state);
        }
    }

    /// Sets the reference from a state; none where the weights are integrated out.
    pub fn refer_to(&mut self, table: &mut dyn Table, model: &Model, state: &State) {
        if self.reference.is_some() || !table.is_here() {
            self.reference = Some(table.refer(model, state));
        }
        self.inform(model, state);
    }

    /// The tuning of all columns on the first process; nothing on the others.
    pub(crate) fn collect(&self, model: &Model) -> Option<Self> {
        let reference = match &self.reference {
            Some(reference) => Some(reference.collect(model)?),
            None => None,
        };
        model.chunks().is_first().then(|| Tuning { reference, ..self.clone() })
    }

    /// That of the columns of this process.
    pub fn own_of(self, model: &Model) -> Self {
        Tuning { reference: self.reference.map(|reference| reference.own_of(model)), ..self }
    }

    /// Sets the information about each row from a state. Where H and F are elsewhere they are computed here for the while: tables with times are small, and
    /// this is rare.
    fn inform(&mut self, model: &Model, state: &State) {
        if model.dynamics().is_some() {
            self.information = smooth::information(model, &state.held(model));
        }
    }
}

/// Target acceptance probability of the step size.
const TARGET: f64 = 0.8;

/// Tunes during warm-up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Adaptation {
    step: StepSize,
    spread: Spread,
    warps: Option<Warps>,
    /// Sum of F, less column processes, over the window in units of the columns, in single precision, which suffices for a reference.
    f: Vec<f32>,
    window_end: u64,
    seen: u64,
    end: u64,
}

impl Adaptation {
    /// For a warm-up of `sweeps` sweeps with all moves on.
    pub fn new(tuning: &Tuning, sweeps: u64) -> Self {
        Adaptation {
            step: StepSize::new(tuning.trajectory.step),
            spread: Spread::new(tuning.trajectory.scales.len()),
            warps: None,
            f: Vec::new(),
            window_end: (sweeps / 10).clamp(20, 100),
            seen: 0,
            end: sweeps,
        }
    }

    /// Adds a sweep: the acceptance probability of its gradient move, and the current state.
    pub fn learn(&mut self, table: &mut dyn Table, model: &Model, acceptance: f64, state: &State, tuning: &mut Tuning) {
        self.seen += 1;
        tuning.trajectory.step = self.step.learn(acceptance);
        // The last fifth only adapts the step size.
        let settling = self.end - self.end / 5;
        if self.seen > settling {
            return;
        }
        let (x, w) = (state.features.x().as_slice(), state.features.w().as_slice());
        let warps = self.warps.get_or_insert_with(|| Warps::new(&state.features));
        let rest = warps.add(state.features.x());
        self.spread.add(rest.as_slice().iter().chain(w));
        if tuning.reference.is_some() {
            table.add_to_sums(model, state, &mut self.f);
        }
        if self.seen == self.window_end {
            // Axes that are exchangeable under the prior share a scale; those with their own scales do not.
            let groups = if model.has_relevance() { model.latent_dim() } else { 1 };
            self.spread.scales(x.len(), groups, &mut tuning.trajectory.scales);
            tuning.trajectory.modes = warps.directions();
            self.warps = None;
            if tuning.reference.is_some() {
                tuning.reference = Some(table.refer_to_sums(model, state, &mut self.f, self.spread.count));
            }
            tuning.inform(model, state);
            self.spread = Spread::new(tuning.trajectory.scales.len());
            self.step = StepSize::new(tuning.trajectory.step);
            let next = self.seen * 2;
            self.window_end = if next * 3 / 2 > settling { settling.max(self.seen + 1) } else { next };
        }
    }

    /// The sums of F that a checkpoint holds.
    pub(crate) fn sums_mut(&mut self) -> &mut Vec<f32> {
        &mut self.f
    }

    /// The same without the sums of F.
    pub(crate) fn without_sums(&self) -> Self {
        let Adaptation { step, spread, warps, f: _, window_end, seen, end } = self;
        let (step, spread, warps) = (step.clone(), spread.clone(), warps.clone());
        Adaptation { step, spread, warps, f: Vec::new(), window_end: *window_end, seen: *seen, end: *end }
    }

    /// The sums of F.
    pub(crate) fn sums(&self) -> &[f32] {
        &self.f
    }

    /// What is known of the columns of this process.
    pub(crate) fn own_of(self, model: &Model) -> Self {
        let all = model.all_columns();
        let own = |row: &[f32]| row[model.chunks().own_columns()].to_vec();
        Adaptation { f: self.f.chunks_exact(all).flat_map(own).collect(), ..self }
    }

    /// Fixes the step size at its average.
    pub fn finish(&self, tuning: &mut Tuning) {
        tuning.trajectory.step = self.step.settled();
    }
}

/// Robbins–Monro search for the step size with the target acceptance, and its average, with more weight on later steps.
///
/// Not dual averaging: most trajectories are accepted with probability near 1 or near 0, and so noisy a signal makes its
/// step sizes vary over a decade, so that their average is far too small.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StepSize {
    ln: f64,
    sum: f64,
    weight: f64,
    count: f64,
}

impl StepSize {
    fn new(step: f64) -> Self {
        StepSize { ln: step.ln(), sum: 0.0, weight: 0.0, count: 0.0 }
    }

    fn learn(&mut self, acceptance: f64) -> f64 {
        self.count += 1.0;
        self.ln += 2.0 / (self.count + 4.0).powf(0.6) * (acceptance - TARGET);
        self.sum += self.count * self.ln;
        self.weight += self.count;
        self.ln.exp()
    }

    fn settled(&self) -> f64 {
        if self.weight > 0.0 { (self.sum / self.weight).exp() } else { self.ln.exp() }
    }
}

/// Running mean and variance of each coordinate (Welford).
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Spread {
    count: f64,
    mean: Vec<f64>,
    square: Vec<f64>,
}

impl Spread {
    fn new(len: usize) -> Self {
        Spread { count: 0.0, mean: vec![0.0; len], square: vec![0.0; len] }
    }

    fn add<'a>(&mut self, q: impl Iterator<Item = &'a f64>) {
        self.count += 1.0;
        for ((mean, square), q) in self.mean.iter_mut().zip(&mut self.square).zip(q) {
            let delta = q - *mean;
            *mean += delta / self.count;
            *square += delta * (q - *mean);
        }
    }

    /// Standard deviations, each variance shrunk towards the mean of its group (X or W, or every `axes`-th coordinate of
    /// either): a window of a hundred correlated sweeps determines a group's scale far better than that of one coordinate.
    fn scales(&self, positions: usize, axes: usize, scales: &mut [f64]) {
        const PRIOR_WEIGHT: f64 = 20.0;
        let (x, w) = self.square.split_at(positions);
        let (sx, sw) = scales.split_at_mut(positions);
        for (squares, scales) in [(x, sx), (w, sw)] {
            for axis in 0..axes {
                let size = (squares.len() / axes) as f64;
                let group = squares.iter().skip(axis).step_by(axes).sum::<f64>() / (self.count - 1.0) / size;
                let own = scales.iter_mut().zip(squares).skip(axis).step_by(axes);
                for (scale, square) in own {
                    let variance = (square + PRIOR_WEIGHT * group) / (self.count - 1.0 + PRIOR_WEIGHT);
                    *scale = variance.sqrt().max(1e-10);
                }
            }
        }
    }
}
