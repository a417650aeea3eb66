//! What we do about it: one sweep of exact moves, in an order that is part of their correctness.

pub mod amplitudes;
pub mod assignments;
pub mod chain;
pub mod checkpoint;
pub mod coefficients;
pub mod collapsed;
pub mod components;
pub mod concentration;
pub mod frequencies;
pub mod gradient;
pub mod hamiltonian;
pub mod latent;
pub mod map;
pub mod noncentred;
pub mod optimise;
pub mod pca;
pub mod reference;
pub mod relevance;
pub mod room;
pub mod run;
mod slope;
pub mod smooth;
pub mod start;
pub mod symmetry;
pub mod timescales;
pub mod tuning;
pub mod warps;
pub mod windows;

use crate::error::NumericalError;
use crate::model::latent::Paths;
use crate::model::spectral::Kernel;
use crate::model::{Model, State};
use crate::rng::Stream;
use rand::RngExt;
use room::Room;
use std::time::Instant;
use tuning::Tuning;

/// How a frequency moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FrequencyMove {
    /// An elliptical slice: always moves.
    #[default]
    Slice,
    /// The paper's proposal from the prior with Metropolis–Hastings acceptance.
    Metropolis,
}

/// Which moves a sweep makes. The default makes them all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moves {
    /// How frequencies move.
    pub frequencies: FrequencyMove,
    /// Whether X moves. It is held while the weights and frequencies of a fresh start are fitted.
    pub positions: bool,
    /// Whether the joint gradient move is made.
    pub gradient: bool,
    /// Whether the moves along symmetries are made.
    pub symmetry: bool,
    /// Share of the frequencies, and of the columns' weights, that are redrawn one by one in a sweep that has moved all of
    /// them by gradients; which ones, is drawn. Without a gradient move all are.
    pub share: f64,
}

impl Moves {
    /// The share in force.
    fn share(&self) -> f64 {
        if self.gradient { self.share } else { 1.0 }
    }
}

/// Whether a move of this stream is among the `share` that is made.
pub(crate) fn is_made(stream: Stream, share: f64) -> bool {
    share >= 1.0 || stream.named("made").rng().random::<f64>() < share
}

impl Default for Moves {
    fn default() -> Self {
        Moves { frequencies: FrequencyMove::Slice, positions: true, gradient: true, symmetry: true, share: 0.1 }
    }
}

/// A part of a sweep, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// z, clusters, α.
    Spectral,
    /// W, one by one.
    Frequencies,
    /// Scales of the paths over time.
    Scales,
    /// X, row by row, or window by window.
    Positions,
    /// The gradient move.
    Gradient,
    /// β, θ and τ².
    Weights,
    /// Moves that leave F alone.
    Symmetry,
}

impl Step {
    /// How many there are.
    pub const COUNT: usize = Step::Symmetry as usize + 1;
    /// What they are called, in order.
    pub const NAMES: [&'static str; Step::COUNT] =
        ["clusters", "frequencies", "time scales", "positions", "gradient", "weights", "symmetry"];
}

/// What a sweep reports about itself. Nothing here is part of the state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SweepInfo {
    /// Wall seconds of each [`Step`].
    pub seconds: [f64; Step::COUNT],
    /// Slice candidates priced per frequency (or 1 for Metropolis).
    pub frequency_tries: f64,
    /// Share of frequencies that moved.
    pub frequency_moves: f64,
    /// Slice candidates priced per row.
    pub position_tries: f64,
    /// Acceptance probability of the gradient move.
    pub acceptance: f64,
}

/// Rounds of cluster assignments in a sweep.
const SPECTRAL_ROUNDS: u64 = 5;

/// One sweep of the sampler.
///
/// The order: the spectral prior first, since it only sees W; then W and X, where possible with β and σ² integrated out,
/// and so right before β and θ are redrawn: what a sweep leaves is a joint draw of (X, W, β, θ). Symmetry moves last:
/// they change no F.
pub fn sweep(
    model: &Model,
    state: &mut State,
    moves: Moves,
    tuning: &Tuning,
    room: &mut Room,
    stream: Stream,
) -> Result<SweepInfo, NumericalError> {
    let mut info = SweepInfo::default();
    let mut clock = Clock::new();
    if let Kernel::Learned(mixture) = &model.spec().kernel {
        // Cheap beside the rest of a sweep, and clusters form and dissolve slowly.
        for round in 0..SPECTRAL_ROUNDS {
            let stream = stream.at(round);
            assignments::update(mixture, state, &mut stream.named("z").rng())?;
            concentration::update(mixture, &mut state.spectral, &mut stream.named("alpha").rng());
        }
        components::update(mixture, state, &mut stream.named("clusters").rng())?;
        relevance::update(mixture, &mut state.spectral, &mut stream.named("psi").rng());
    }
    clock.lap(&mut info, Step::Spectral);
    let mut paths = model.paths(state)?;
    clock.lap(&mut info, Step::Scales);
    if model.is_collapsed() {
        let with = (moves, &tuning.trajectory);
        collapsed::update(model, state, with, room, stream, (&mut info, &mut clock))?;
    } else {
        frequencies::update(model, state, moves, stream.named("w"), &mut info)?;
        clock.lap(&mut info, Step::Frequencies);
        match &mut paths {
            Some(paths) => timed(model, state, paths, moves, stream, &mut info, &mut clock)?,
            None if moves.positions => latent::update(model, state, stream.named("x"), &mut info)?,
            None => {}
        }
        clock.lap(&mut info, Step::Positions);
        if moves.gradient {
            let stream = stream.named("gradient");
            info.acceptance = noncentred::update(model, state, paths.as_ref(), moves.positions, tuning, room, stream)?;
        }
        clock.lap(&mut info, Step::Gradient);
    }
    // X and W moved with β integrated out: all of it is redrawn.
    let share = if model.is_collapsed() { 1.0 } else { moves.share() };
    coefficients::update(model, state, share, stream.named("beta"))?;
    amplitudes::update(model, state, &mut stream.named("tau2").rng());
    clock.lap(&mut info, Step::Weights);
    if moves.symmetry && moves.positions {
        symmetry::translate(state, paths.as_ref(), &mut stream.named("translation").rng());
        // Axes of paths have scales of their own, and are not turned.
        if model.has_relevance() && paths.is_none() {
            relevance::turn(state, &mut stream.named("turn").rng())?;
        }
        let rng = &mut stream.named("scale").rng();
        match &mut paths {
            Some(paths) => symmetry::scale_path(model, state, paths, rng)?,
            None => symmetry::scale(model, state, rng)?,
        }
    }
    clock.lap(&mut info, Step::Symmetry);
    Ok(info)
}

/// X along time, and the scales of its paths; these while X is held, too.
fn timed(
    model: &Model,
    state: &mut State,
    paths: &mut Paths<'_>,
    moves: Moves,
    stream: Stream,
    info: &mut SweepInfo,
    clock: &mut Clock,
) -> Result<(), NumericalError> {
    // In turn, as a coin falls: a candidate of either costs a factor of the covariance.
    let stream = stream.named("scales");
    if moves.positions && stream.named("turn").rng().random() {
        timescales::whitened(model, state, paths, stream)?;
    } else {
        timescales::centred(state, paths, stream)?;
    }
    clock.lap(info, Step::Scales);
    if moves.positions {
        windows::update(model, state, paths, stream.named("windows"), info)?;
    }
    Ok(())
}

/// Times the steps of a sweep.
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Clock(Instant::now())
    }

    /// Ends a step, or a part of one.
    fn lap(&mut self, info: &mut SweepInfo, step: Step) {
        let now = Instant::now();
        info.seconds[step as usize] += (now - self.0).as_secs_f64();
        self.0 = now;
    }
}
