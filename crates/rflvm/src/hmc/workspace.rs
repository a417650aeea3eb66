//! Memory that the moves of a chain keep from one sweep to the next. What it holds between two moves means nothing: draws do not
//! depend on it, and it is not saved.

use super::slope::Slope;
use crate::linalg::Mat;

/// Memory for one chain's moves; grows to what they need when they first need it.
#[derive(Debug, Default)]
pub struct Workspace {
    /// A second table beside F, N×J: momenta of ζ, or residuals.
    pub(super) table: Mat,
    /// Weights, (M+1)×J: ξ, its momenta, β, ∂β, and A⁻¹u that becomes ∂u.
    pub(super) xi: Mat,
    pub(super) xi_momenta: Mat,
    pub(super) beta: Mat,
    pub(super) dbeta: Mat,
    pub(super) du: Mat,
    /// HᵀaZ's left factor, and the gradient with respect to it.
    pub(super) left: Mat,
    /// ∂A of a group, and the gradient with respect to HᵀaH.
    pub(super) da: Mat,
    pub(super) ds: Mat,
    /// Some columns of weights.
    pub(super) pieces: [Vec<f64>; 4],
    /// Some rows of the table.
    pub(super) slope: Slope,
}
