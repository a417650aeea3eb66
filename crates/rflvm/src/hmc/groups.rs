//! Columns of the noncentred coordinates that share one A.

use crate::linalg::Mat;

/// Columns whose ρ differ by no more than this factor share one A.
pub(super) const LIKE: f64 = 6.0;

/// Columns of similar ρ.
pub(super) struct Group {
    pub rho: f64,
    /// A⁻¹.
    pub p: Mat,
    pub ln_det: f64,
}

/// Groups of similar ρ, and the group of each column; none for columns without their own weights, whose ρ is NaN.
pub(super) fn group(rho: &[f64]) -> (Vec<Group>, Vec<Option<usize>>) {
    let mut order: Vec<usize> = (0..rho.len()).filter(|&c| !rho[c].is_nan()).collect();
    order.sort_by(|&a, &b| rho[a].total_cmp(&rho[b]));
    let (mut groups, mut of_column) = (Vec::new(), vec![None; rho.len()]);
    let mut rest = &order[..];
    while let Some(&first) = rest.first() {
        let limit = rho[first] * LIKE;
        let (own, others) = rest.split_at(rest.iter().take_while(|&&c| rho[c] <= limit).count().max(1));
        rest = others;
        let ln_rho = own.iter().map(|&c| rho[c].ln()).sum::<f64>() / own.len() as f64;
        own.iter().for_each(|&c| of_column[c] = Some(groups.len()));
        groups.push(Group { rho: ln_rho.exp(), p: Mat::default(), ln_det: 0.0 });
    }
    (groups, of_column)
}
