//! What we do about it: one sweep of exact moves, in an order that is part of their correctness.

pub mod amplitudes;
pub mod assignments;
pub mod chain;
pub mod coefficients;
pub mod collapsed;
pub mod components;
pub mod concentration;
pub mod frequencies;
pub mod gradient;
pub mod hamiltonian;
pub mod latent;
pub mod noncentred;
pub mod optimise;
pub mod pca;
pub mod reference;
pub mod start;
pub mod symmetry;
pub mod tuning;

use crate::error::NumericalError;
use crate::model::spectral::Kernel;
use crate::model::{Model, State};
use crate::rng::Stream;
use rand::RngExt;
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

/// The parts of a sweep that are timed, in order.
pub const STEPS: [&str; 6] = ["spectral", "frequencies", "positions", "gradient", "weights", "symmetry"];

/// What a sweep reports about itself. Nothing here is part of the state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SweepInfo {
    /// Wall seconds of each of the [`STEPS`].
    pub seconds: [f64; STEPS.len()],
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
    }
    clock.lap(&mut info, 0);
    if model.is_collapsed() {
        collapsed::update(model, state, moves, &tuning.trajectory, stream, &mut info, &mut clock)?;
    } else {
        frequencies::update(model, state, moves, stream.named("w"), &mut info)?;
        clock.lap(&mut info, 1);
        if moves.positions {
            latent::update(model, state, stream.named("x"), &mut info)?;
        }
        clock.lap(&mut info, 2);
        if let (true, Some(reference)) = (moves.gradient, &tuning.reference) {
            let (trajectory, stream) = (&tuning.trajectory, stream.named("gradient"));
            info.acceptance = noncentred::update(model, state, moves.positions, trajectory, reference, stream);
        }
        clock.lap(&mut info, 3);
    }
    coefficients::update(model, state, moves.share(), stream.named("beta"))?;
    amplitudes::update(model, state, &mut stream.named("tau2").rng());
    clock.lap(&mut info, 4);
    if moves.symmetry && moves.positions {
        symmetry::translate(state, &mut stream.named("translation").rng());
        symmetry::scale(model, state, &mut stream.named("scale").rng())?;
    }
    clock.lap(&mut info, 5);
    Ok(info)
}

/// Times the steps of a sweep.
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Clock(Instant::now())
    }

    /// Ends the step of this number in [`STEPS`].
    fn lap(&mut self, info: &mut SweepInfo, step: usize) {
        let now = Instant::now();
        info.seconds[step] = (now - self.0).as_secs_f64();
        self.0 = now;
    }
}
