//! The steps of a sweep: one conditional distribution per file, each a function of (table, model, state, stream).

pub mod amplitudes;
pub mod assignments;
pub mod column_process;
pub mod components;
pub mod concentration;
pub mod frequencies;
pub mod gradient;
pub mod info;
pub(crate) mod integrated;
pub(crate) mod jumps;
pub mod linear;
pub mod moves;
pub mod positions;
pub mod relevance;
pub mod symmetry;
pub mod timescales;
pub mod tuning;
mod warps;
pub mod windows;

pub use info::{Step, SweepInfo};
pub use moves::{FrequencyMove, Moves};
