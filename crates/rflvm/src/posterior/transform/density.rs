//! ln p(y | W, β, θ) of a row, its position integrated out.

use super::evidence::{Proposal, Sampled};
use super::search;
use super::target::Target;
use crate::dist::normals;
use crate::error::NumericalError;
use crate::model::position::Scratch;
use crate::rng::{Stream, StreamRng};

/// Prior draws among which further modes of a known row are searched.
const PILOTS: usize = 20;

/// A row's importance sample, with the log density of all its observed cells.
pub(super) fn weigh(
    target: &Target<'_>,
    starts: Vec<Vec<f64>>,
    scratch: &mut Scratch,
    rng: &mut StreamRng,
) -> Result<Sampled, NumericalError> {
    let modes = search::modes(target, starts, scratch);
    let sampled = Proposal::new(target.prior.dim(), modes).sample(target, scratch, rng);
    let mut sampled = sampled.ok_or_else(|| impossible(target.row))?;
    // The constant part may be evaluated at any f.
    target.ln_lik(&sampled.u, scratch);
    sampled.ln_evidence += target.positions.constant(target.row, scratch);
    Ok(sampled)
}

/// No draw of the proposal has positive likelihood.
pub(super) fn impossible(row: usize) -> NumericalError {
    NumericalError::NotFinite { step: "new rows", value: f64::NEG_INFINITY, place: format!("row {}", row + 1) }
}

/// ln p(y_n | W, β, θ) of a row whose position in the draw is known and starts the search; other modes are searched from prior draws.
pub(in crate::posterior) fn ln_row_density(
    target: &Target<'_>,
    x: &[f64],
    stream: Stream,
) -> Result<f64, NumericalError> {
    let (rng, scratch) = (&mut stream.rng(), &mut target.positions.scratch());
    if target.positions.observed(target.row) == 0 {
        return Ok(0.0);
    }
    let pilots = (0..PILOTS).map(|_| normals(target.prior.dim(), rng)).collect::<Vec<_>>();
    let priced = target.ln_lik_of_several(&pilots, scratch).into_iter().zip(pilots);
    let likeliest = priced.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, u)| u);
    let starts = std::iter::once(target.prior.coordinates(x)).chain(likeliest).collect();
    weigh(target, starts, scratch, rng).map(|sampled| sampled.ln_evidence)
}
