//! Modes of the posterior among chains that began apart: chains whose mean positions agree, up to a linear map, are in the same one.

use super::align::align_visited;
use super::array::array;
use super::score::affine_r2;
use super::spread::mean_and_sd;
use crate::draws::Source;
use crate::error::RunError;
use crate::linalg::Mat;

/// Chains with at least this R² of each other's mean positions, in both directions, are in the same mode.
const SAME: f64 = 0.95;
/// Draws of a chain from which its mean positions are computed.
const SEEN: usize = 40;

/// The chains of each mode: the mode with most chains first, and among those with as many the one with the highest mean log joint density.
pub fn modes(store: &dyn Source, numbers: &[usize], (rows, dim): (usize, usize)) -> Result<Vec<Vec<usize>>, RunError> {
    let draws = store.size()?.1;
    let mut groups: Vec<(Mat, Vec<usize>)> = Vec::new();
    for &chain in numbers {
        let mean = align_visited(|take| -> Result<(), RunError> {
            let mut x = array(store, "x", "x", &[rows, dim])?;
            for draw in (0..draws).step_by(draws.div_ceil(SEEN).max(1)) {
                take(&Mat::from_vec(rows, dim, x.at(chain, draw)?.to_vec()));
            }
            Ok(())
        })?
        .mean;
        let is_same = |other: &Mat| affine_r2(&mean, other).min(affine_r2(other, &mean)) >= SAME;
        match groups.iter_mut().find(|(founder, _)| is_same(founder)) {
            Some((_, chains)) => chains.push(chain),
            None => groups.push((mean, vec![chain])),
        }
    }
    let mut modes = Vec::with_capacity(groups.len());
    for (_, chains) in groups {
        let mut best = f64::NEG_INFINITY;
        for &chain in &chains {
            best = mean_and_sd(&store.all("sample_stats/lp", chain)?).0.max(best);
        }
        modes.push((chains, best));
    }
    modes.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then(b.1.total_cmp(&a.1)));
    Ok(modes.into_iter().map(|(chains, _)| chains).collect())
}
