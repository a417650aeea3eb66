//! Columns of the noncentred coordinates that share one A.

use crate::linalg::Mat;
use std::ops::Range;

/// Columns whose ρ differ by no more than this factor share one A.
const LIKE: f64 = 6.0;

/// Columns of similar ρ, contiguous in the order of ζ.
pub(super) struct Group {
    pub columns: Range<usize>,
    pub rho: f64,
    /// A⁻¹.
    pub p: Mat,
    pub ln_det: f64,
    /// ∂A.
    pub da: Mat,
    /// ½ Σ_j u_jᵀA⁻¹u_j.
    pub half_square: f64,
}

/// Groups of similar ρ along `order`, in which ρ increases.
pub(super) fn group(order: &[usize], rho: &[f64]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let limit = rho[order[start]] * LIKE;
        let k = order[start..].iter().take_while(|&&c| rho[c] <= limit).count();
        let columns = start..start + k;
        let ln_rho = order[columns.clone()].iter().map(|&c| rho[c].ln()).sum::<f64>() / k as f64;
        start += k;
        let (p, da) = Default::default();
        groups.push(Group { columns, rho: ln_rho.exp(), p, ln_det: 0.0, da, half_square: 0.0 });
    }
    groups
}
