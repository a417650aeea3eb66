//! The steps of a sweep: one conditional distribution per file, each a function of (model, state, stream).

pub mod amplitudes;
pub mod assignments;
pub mod components;
pub mod concentration;
pub mod frequencies;
pub mod info;
pub(crate) mod jumps;
pub mod linear;
pub mod moves;
pub mod positions;
pub mod relevance;
pub mod residual;
pub mod symmetry;
pub mod timescales;
mod together;
pub mod weights;
pub mod windows;

pub use info::{Step, SweepInfo};
pub use moves::{FrequencyMove, Moves};
