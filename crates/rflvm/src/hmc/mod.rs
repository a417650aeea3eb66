//! Hamiltonian Monte Carlo: trajectories along gradients, what they are tuned to, and the directions they take.

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
