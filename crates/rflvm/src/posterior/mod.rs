//! Queries of the draws of all chains; chains in a lesser mode are set aside.

pub mod align;
pub mod axes;
pub mod check;
pub mod convergence;
pub mod diagnostics;
mod embedding;
pub mod fitted;
#[cfg(test)]
mod fixture;
pub mod forecast;
pub mod frame;
pub mod heldout;
pub mod impute;
pub mod kernel;
pub mod leave_out;
mod memory;
pub mod mixing;
pub mod parameters;
pub mod pointwise;
pub mod predict;
pub mod predicted;
pub mod psis;
pub mod ranking;
pub mod row_density;
pub mod score;
mod spread;
pub mod transform;
mod verdict;

pub use memory::Posterior;
pub use verdict::{Verdict, verdicts};
