//! Which moves a sweep makes.

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
    pub(crate) fn share(&self) -> f64 {
        if self.gradient { self.share } else { 1.0 }
    }
}

impl Default for Moves {
    fn default() -> Self {
        Moves { frequencies: FrequencyMove::Slice, positions: true, gradient: true, symmetry: true, share: 0.1 }
    }
}
