//! Columns of the noncentred coordinates that share one A.

use crate::linalg::Mat;
use std::ops::Range;

/// Columns whose ρ differ by no more than this factor share one A.
const LIKE: f64 = 6.0;

/// Number of columns whose β and ∂β are solved for at a time.
const WIDE: usize = 128;

/// Columns of similar ρ, contiguous in the order of ζ.
pub(super) struct Group {
    pub columns: Range<usize>,
    pub rho: f64,
    /// A⁻¹.
    pub p: Mat,
    pub ln_det: f64,
    /// ½ Σ_j u_jᵀA⁻¹u_j.
    pub half_square: f64,
}

/// Batches of [`WIDE`] columns.
pub(super) fn pieces(columns: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = columns.end;
    columns.clone().step_by(WIDE).map(move |start| start..(start + WIDE).min(end))
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
        groups.push(Group { columns, rho: ln_rho.exp(), p: Mat::default(), ln_det: 0.0, half_square: 0.0 });
    }
    groups
}
