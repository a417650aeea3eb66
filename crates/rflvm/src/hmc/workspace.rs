//! Memory that the moves of a chain reuse from sweep to sweep. Its contents between moves are unspecified: draws do not
//! depend on it, and it is not saved.

use super::shrinkage::Shrinkage;
use super::slope::SlopeScratch;
use crate::linalg::Mat;

/// Scratch memory for one chain's moves; grows on demand.
#[derive(Debug, Default)]
pub struct Workspace {
    /// A second table besides F, N×J: momenta of ζ, or residuals.
    pub(super) table: Mat,
    /// Weights, one row per column of H: ξ, its momenta, β, ∂β, and A⁻¹u, which becomes ∂u.
    pub(super) xi: Mat,
    pub(super) xi_momenta: Mat,
    pub(super) beta: Mat,
    pub(super) dbeta: Mat,
    pub(super) du: Mat,
    /// HᵀaZ's left factor, and the gradient with respect to it.
    pub(super) left: Mat,
    /// The gradient with respect to HᵀaH.
    pub(super) ds: Mat,
    /// Weights of a collapsed table.
    pub(super) shrinkage: Shrinkage,
    pub(super) pull: Mat,
    /// Weights again: the response and u, later ∂β and β in the order of ζ.
    pub(super) response: Mat,
    pub(super) u: Mat,
    /// A block of rows of the table.
    pub(super) slope: SlopeScratch,
}

impl Workspace {
    /// β at the last evaluation of a trajectory.
    pub(crate) fn beta(&self) -> &Mat {
        &self.beta
    }
}
