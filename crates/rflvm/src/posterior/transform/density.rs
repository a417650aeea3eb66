//! ln p(y | W, β, θ) of rows, their positions integrated out.

use super::here::Here;
use super::rows::Rows;
use super::search::Start;
use super::target::Prior;
use crate::dist::normals;
use crate::error::NumericalError;
use crate::model::position::Positions;
use crate::rng::{Stream, StreamRng};

/// Prior draws among which further modes of a known row are searched.
const PILOTS: usize = 20;

/// ln p(y_n | W, β, θ) of a row whose position in the draw is known and starts the search; other modes are searched from prior draws.
pub(in crate::posterior) fn ln_row_density(
    positions: &Positions<'_>,
    (n, prior): (usize, Prior<'_>),
    x: &[f64],
    stream: Stream,
) -> Result<f64, NumericalError> {
    Ok(ln_row_densities(positions, &[(n, prior)], |_| x, |_| stream)?[0])
}

/// Those of several rows, with the position and the stream of the ith.
pub(super) fn ln_row_densities<'x>(
    positions: &Positions<'_>,
    rows: &[(usize, Prior<'_>)],
    x: impl Fn(usize) -> &'x [f64],
    stream: impl Fn(usize) -> Stream,
) -> Result<Vec<f64>, NumericalError> {
    let mut ln_density = vec![0.0; rows.len()];
    let seen: Vec<usize> = (0..rows.len()).filter(|&i| positions.observed(rows[i].0) > 0).collect();
    let mut rngs: Vec<StreamRng> = seen.iter().map(|&i| stream(i).rng()).collect();
    let (numbers, priors) = seen.iter().map(|&i| (rows[i].0 as u32, rows[i].1)).unzip();
    let mut some = Rows { candidates: Here::new(positions), numbers, priors };
    let draw =
        |(&i, rng): (&usize, &mut StreamRng)| (0..PILOTS).map(|_| normals(rows[i].1.dim(), rng)).collect::<Vec<_>>();
    let pilots: Vec<Vec<Vec<f64>>> = seen.iter().zip(&mut rngs).map(draw).collect();
    let of_pilots = some.ln_lik_of_several(PILOTS, |k, i, u| u.copy_from_slice(&pilots[i][k]));
    let known: Vec<Vec<f64>> = seen.iter().map(|&i| rows[i].1.coordinates(x(i))).collect();
    let of_known = some.ln_lik(&(0..seen.len()).collect::<Vec<_>>(), |i, u| u.copy_from_slice(&known[i]));
    let starts = pilots.into_iter().zip(known).zip(of_known).enumerate().map(|(i, ((pilots, u), ln_lik))| {
        let priced = of_pilots.iter().map(|values| values[i]).zip(pilots);
        let likeliest = priced.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(ln_lik, u)| Start { u, ln_lik, local: None });
        std::iter::once(Start { u, ln_lik, local: None }).chain(likeliest).collect()
    });
    let starts = starts.collect();
    let proposals = some.proposals(starts)?;
    let mut sampled = some.sampled(&proposals, &mut rngs.iter_mut().collect::<Vec<_>>())?;
    some.add_constants(&mut sampled);
    seen.iter().zip(sampled).for_each(|(&i, one)| ln_density[i] = one.ln_evidence);
    Ok(ln_density)
}
