//! Modes of the posterior among chains that began apart: chains whose mean positions agree, up to a linear map, are in the same one.

use super::align::align_visited;
use super::array::array;
use super::score::affine_r2;
use crate::draws::Source;
use crate::error::RunError;
use crate::linalg::Mat;
use std::cmp::Reverse;

/// Chains with at least this R² of each other's mean positions, in both directions, are in the same mode.
const SAME: f64 = 0.95;
/// Draws of a chain from which its mean positions are computed.
const SEEN: usize = 40;

/// The chains of each mode, the mode with most chains first.
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
    groups.sort_by_key(|(_, chains)| Reverse(chains.len()));
    Ok(groups.into_iter().map(|(_, chains)| chains).collect())
}
