//! Where draws go. A sink takes each kept state of one chain as it comes.

mod memory;

pub use memory::Memory;

use crate::model::{Model, State};

/// A kept state.
#[derive(Debug, Clone, Copy)]
pub struct Draw<'a> {
    /// The knowns.
    pub model: &'a Model,
    /// The unknowns.
    pub state: &'a State,
    /// ln p(Y | F, θ).
    pub ln_likelihood: f64,
    /// The joint log density.
    pub ln_joint: f64,
}

/// A sink for the draws of one chain.
pub trait Draws {
    /// Takes a draw.
    fn push(&mut self, draw: &Draw<'_>);
}
