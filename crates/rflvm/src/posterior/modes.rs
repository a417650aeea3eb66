//! Modes of the posterior among chains that began apart: chains that agree, or whose mean positions agree up to a linear map, are in the same one.

use super::align::align_visited;
use super::array::array;
use super::convergence::{Convergence, Outcome, judge_all};
use super::score::affine_r2;
use super::spread::mean_and_sd;
use crate::draws::Source;
use crate::error::RunError;
use crate::linalg::Mat;

/// Chains with at least this R² of each other's mean positions, in both directions, are in the same mode.
const SAME: f64 = 0.95;
/// Draws of a chain from which its mean positions are computed.
const SEEN: usize = 40;

/// The modes of chains that began apart, and the diagnostics of all of them. Chains that agree about every invariant quantity are in one mode, however uncertain
/// their mean positions are.
pub fn judge_modes(
    store: &dyn Source,
    numbers: &[usize],
    shape: (usize, usize),
) -> Result<(Vec<Vec<usize>>, Convergence), RunError> {
    let convergence = judge_all(store, numbers)?;
    if convergence.outcome == Outcome::Converged {
        return Ok((vec![numbers.to_vec()], convergence));
    }
    let modes = modes(store, numbers, shape)?;
    let convergence = convergence.of_modes(store, modes.len())?;
    Ok((modes, convergence))
}

/// The chains of each mode: the mode with most chains first, and among those with as many the one with the highest mean log joint density.
fn modes(store: &dyn Source, numbers: &[usize], (rows, dim): (usize, usize)) -> Result<Vec<Vec<usize>>, RunError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::{Chains, Draw, Draws, Memory, Stats};
    use crate::model::ModelSpec;
    use crate::model::family::{Family, Poisson};
    use crate::rng::Stream;
    use crate::simulate;
    use std::sync::Arc;

    /// Draws from the prior: mean positions of a chain are noise, and chains agree about everything that can be compared.
    #[test]
    fn chains_that_agree_are_in_one_mode_however_uncertain_positions_are() {
        let families: Vec<(usize, Arc<dyn Family>)> = vec![(3, Arc::new(Poisson))];
        let model = simulate::blank(12, families, 1, ModelSpec { features: 4, ..ModelSpec::default() }).unwrap();
        let chain = |number: u64, lift: f64| {
            let mut chain = Memory::default();
            for i in 0..1000 {
                let mut state = simulate::draw_prior(&model, Stream::new(number).at(i)).unwrap();
                state.beta.as_mut_slice().iter_mut().for_each(|b| *b += lift);
                let cells = vec![state.beta[(0, 0)]; 10];
                let (ln_joint, axis_information, stats) = (state.beta[(0, 1)], Vec::new(), Stats::default());
                let draw =
                    Draw { model: &model, state: &state, cells, ln_likelihood: 0.0, ln_joint, axis_information, stats };
                chain.push(&draw).unwrap();
            }
            chain
        };
        let judged = |chains: Vec<Memory>| judge_modes(&Chains(chains), &[0, 1], (12, 2)).unwrap();
        let (found, convergence) = judged(vec![chain(1, 0.0), chain(2, 0.0)]);
        assert_eq!((found, convergence.outcome), (vec![vec![0, 1]], Outcome::Converged));
        let (found, convergence) = judged(vec![chain(1, 0.0), chain(2, 3.0)]);
        assert_eq!((found.len(), convergence.outcome), (2, Outcome::SeveralModes { modes: 2 }));
    }
}
