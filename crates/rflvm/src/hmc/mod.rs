//! Hamiltonian Monte Carlo: trajectories along gradients, their tuning, and their directions.

pub mod gradient;
pub mod hamiltonian;
pub mod marginal;
pub mod noncentred;
pub mod occam;
pub mod reference;
pub(crate) mod slope;
pub mod smooth;
pub mod tuning;
pub mod warps;
pub mod workspace;
