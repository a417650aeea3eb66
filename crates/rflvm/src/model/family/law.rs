//! Densities of single cells that other processors know too ([`crate::device`]).

use super::{Gaussian, NegativeBinomial, Trials};

/// A density of a cell given f and the family's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law<'a> {
    /// N(f, 1/θ).
    Gaussian(&'a Gaussian),
    /// Po(e^f).
    Poisson,
    /// Bin(trials, logistic(f)).
    Binomial(&'a Trials),
    /// NB(θ, logistic(f)).
    NegativeBinomial(&'a NegativeBinomial),
}
