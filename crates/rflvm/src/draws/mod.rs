//! Where draws go. A sink takes each kept state of one chain as it comes.

mod memory;
pub mod moments;
mod quantity;
mod source;
mod traced;
pub mod zarr;

pub use memory::{Chains, Memory};
pub use quantity::{Kept, parameter_name};
pub use source::{Cursor, Source};
pub use traced::Traced;

use crate::error::StoreError;
use crate::model::{Model, State};
use serde::{Deserialize, Serialize};

/// A kept state.
#[derive(Debug, Clone)]
pub struct Draw<'a> {
    /// The knowns.
    pub model: &'a Model,
    /// The unknowns.
    pub state: &'a State,
    /// ln p(Y | F, θ).
    pub ln_likelihood: f64,
    /// The joint log density.
    pub ln_joint: f64,
    /// What the data tell of each axis ([`crate::model::axes`]), where axes may fall out of use; else nothing.
    pub axis_information: Vec<f64>,
    /// How the sweep went that led here.
    pub stats: Stats,
}

/// What a sweep tells of itself that depends on the seed alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Acceptance probability of the gradient move.
    pub acceptance: f64,
    /// Its step size.
    pub step: f64,
    /// Slice candidates priced per frequency.
    pub frequency_tries: f64,
    /// Slice candidates priced per row.
    pub position_tries: f64,
}

/// A sink for the draws of one chain.
pub trait Draws {
    /// Takes a draw.
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError>;
}
