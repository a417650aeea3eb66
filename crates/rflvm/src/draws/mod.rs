//! Where draws go. A sink receives each kept state of one chain.

mod memory;
#[doc(hidden)]
pub mod moments;
mod quantity;
mod source;
mod traced;
#[doc(hidden)]
pub mod zarr;

pub use memory::{Chains, Memory};
pub use quantity::Kept;
#[doc(hidden)]
pub use quantity::{parameter_name, parameter_of};
pub use source::{Cursor, Source};
#[doc(hidden)]
pub use traced::Traced;

use crate::error::StoreError;
use crate::model::{Model, State};
use serde::{Deserialize, Serialize};

/// A kept state of a chain.
#[derive(Debug, Clone)]
pub struct Draw<'a> {
    /// The model: data, families, priors.
    pub model: &'a Model,
    /// The unknowns.
    pub state: &'a State,
    /// F in the cells that are traced.
    pub cells: Vec<f64>,
    /// ln p(Y | F, θ).
    pub ln_likelihood: f64,
    /// The joint log density.
    pub ln_joint: f64,
    /// Information about each axis ([`crate::model::axes`]) where axes can be pruned; otherwise empty.
    pub axis_information: Vec<f64>,
    /// Report of the sweep that led to this state.
    pub stats: Stats,
}

/// Sampler statistics that depend only on the seed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Acceptance probability of the gradient move.
    pub acceptance: f64,
    /// Its step size.
    pub step: f64,
    /// Slice candidates evaluated per frequency.
    pub frequency_tries: f64,
    /// Slice candidates evaluated per row.
    pub position_tries: f64,
}

/// A sink for the draws of one chain.
pub trait Draws {
    /// Receives a draw.
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError>;

    /// Whether it needs F. If not, and several processes share the columns, the state that it receives has none.
    fn needs_f(&self) -> bool {
        true
    }
}
