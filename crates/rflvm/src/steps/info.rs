//! Statistics of a sweep.

use std::time::Instant;

/// A part of a sweep, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// z, clusters, α.
    Spectral,
    /// W, one frequency at a time.
    Frequencies,
    /// Scales of the paths over time.
    Scales,
    /// X, row by row, or window by window.
    Positions,
    /// The gradient move.
    Gradient,
    /// β, θ and τ².
    Weights,
    /// Moves that leave F unchanged.
    Symmetry,
}

impl Step {
    /// Number of steps.
    pub const COUNT: usize = Step::Symmetry as usize + 1;
    /// Their names, in order.
    pub const NAMES: [&'static str; Step::COUNT] =
        ["clusters", "frequencies", "time scales", "positions", "gradient", "weights", "symmetry"];
}

/// Statistics of a sweep, which are not part of the state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SweepInfo {
    /// Wall seconds of each [`Step`].
    pub seconds: [f64; Step::COUNT],
    /// Slice candidates evaluated per frequency (or 1 for Metropolis).
    pub frequency_tries: f64,
    /// Fraction of frequencies that moved.
    pub frequency_moves: f64,
    /// Slice candidates evaluated per row.
    pub position_tries: f64,
    /// Acceptance probability of the gradient move.
    pub acceptance: f64,
}

/// Times the steps of a sweep.
pub(crate) struct Clock {
    last: Instant,
    pub info: SweepInfo,
}

impl Clock {
    pub fn new() -> Self {
        Clock { last: Instant::now(), info: SweepInfo::default() }
    }

    /// Ends a step, or a part of one.
    pub fn lap(&mut self, step: Step) {
        let now = Instant::now();
        self.info.seconds[step as usize] += (now - self.last).as_secs_f64();
        self.last = now;
    }
}
