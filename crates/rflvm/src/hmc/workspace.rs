//! Memory that the moves of a chain reuse from sweep to sweep. Its contents between moves are unspecified: draws do not
//! depend on it, and it is not saved.

use super::shrinkage::Shrinkage;
use super::slope::SlopeScratch;
use crate::linalg::Mat;

/// Scratch memory for one chain's moves; grows on demand.
#[derive(Debug, Default)]
pub struct Workspace {
    /// A second table besides F, N×J: momenta of ζ, or residuals.
    pub(crate) table: Mat,
    /// Of the joint move, one per chunk of columns.
    pub(super) pieces: Vec<PieceWorkspace>,
    /// HᵀaZ's left factor.
    pub(super) left: Mat,
    /// Of a collapsed table, one per chunk of columns.
    pub(super) collapsed: Vec<CollapsedWorkspace>,
    /// A block of rows of the table.
    pub(super) slope: SlopeScratch,
}

/// Weights of a chunk of columns, one row per column of H.
#[derive(Debug, Default)]
pub(super) struct PieceWorkspace {
    /// ξ, its momenta, β, ∂β, and A⁻¹u, which becomes ∂u.
    pub xi: Mat,
    pub xi_momenta: Mat,
    pub beta: Mat,
    pub dbeta: Mat,
    pub du: Mat,
    /// The response and u, later ∂β and β in the order of ζ.
    pub response: Mat,
    pub u: Mat,
    /// ∂A.
    pub da: Mat,
    pub slope: SlopeScratch,
}

/// Weights of a chunk of columns of a collapsed table.
#[derive(Debug, Default)]
pub(super) struct CollapsedWorkspace {
    /// H'ᵀỸ.
    pub c: Mat,
    /// GR.
    pub scaled: Mat,
    pub shrinkage: Shrinkage,
    pub slope: SlopeScratch,
}
