//! Which moves a sweep makes.

/// How a frequency is updated.
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
    /// How frequencies are updated.
    pub frequencies: FrequencyMove,
    /// Whether X moves. It is held fixed while the weights and frequencies of a new start are fitted.
    pub positions: bool,
    /// Whether the joint gradient move is made.
    pub gradient: bool,
    /// Whether the moves along symmetries are made.
    pub symmetry: bool,
    /// Fraction of the frequencies, and of the columns' weights, redrawn individually in a sweep whose gradient move has moved
    /// all of them; which ones is random. Without a gradient move all are redrawn.
    pub share: f64,
    /// Fraction of the rows, and of the frequencies, that jump in a sweep where the weights can be integrated out; which ones is random.
    pub jumps: f64,
}

impl Moves {
    /// The fraction in use.
    pub(crate) fn share(&self) -> f64 {
        if self.gradient { self.share } else { 1.0 }
    }
}

impl Default for Moves {
    fn default() -> Self {
        Moves {
            frequencies: FrequencyMove::Slice,
            positions: true,
            gradient: true,
            symmetry: true,
            share: 0.1,
            jumps: 0.5,
        }
    }
}
