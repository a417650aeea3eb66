//! Hamiltonian Monte Carlo: trajectories along gradients, and their directions.

pub mod directions;
pub mod flow;
pub mod frequencies;
pub mod gradient;
mod groups;
pub mod hamiltonian;
pub mod laplace_term;
pub mod marginal;
pub(crate) mod noncentred;
pub(crate) mod optimise;
mod piece;
pub mod reference;
mod shrinkage;
pub(crate) mod slope;
pub(crate) mod smooth;
pub(crate) mod volume;
pub mod workspace;
