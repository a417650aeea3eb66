//! Hamiltonian Monte Carlo: trajectories along gradients, their tuning, and their directions.

pub mod directions;
pub mod flow;
pub mod frequencies;
pub mod gradient;
mod groups;
pub mod hamiltonian;
pub mod marginal;
pub(crate) mod noncentred;
pub mod occam;
mod piece;
pub mod reference;
mod shrinkage;
pub(crate) mod slope;
pub(crate) mod smooth;
pub mod tuning;
pub(crate) mod update;
pub(crate) mod warps;
pub mod workspace;
