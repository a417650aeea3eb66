//! Queries of the draws of all chains; chains in a minor mode are set aside.

#[doc(hidden)]
pub mod align;
mod array;
#[doc(hidden)]
pub mod axes;
pub mod change;
pub mod check;
mod column_process;
pub mod convergence;
#[doc(hidden)]
pub mod diagnostics;
pub mod differences;
pub mod distances;
pub mod effects;
mod embedding;
#[doc(hidden)]
pub mod fitted;
pub mod forecast;
#[doc(hidden)]
pub mod frame;
pub mod gradient;
mod group_effects;
#[doc(hidden)]
pub mod heldout;
pub mod impute;
pub mod kernel;
#[doc(hidden)]
pub mod leave_out;
pub mod left_cells;
pub mod leftover;
mod link;
mod median;
mod memory;
#[doc(hidden)]
pub mod mixing;
#[doc(hidden)]
pub mod modes;
pub mod outlook;
#[doc(hidden)]
pub mod parameters;
#[doc(hidden)]
pub mod pointwise;
pub mod predict;
pub mod predicted;
#[doc(hidden)]
pub mod psis;
#[doc(hidden)]
pub mod ranking;
pub mod revealed;
pub(crate) mod row_density;
mod scaling;
#[doc(hidden)]
pub mod score;
mod spread;
pub mod stacking;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod together;
pub mod transform;
mod verdict;
mod visit;

pub use memory::Posterior;
#[doc(hidden)]
pub use verdict::{Verdict, verdicts};
