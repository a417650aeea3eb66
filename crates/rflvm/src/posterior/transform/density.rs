//! ln p(y | W, β, θ) of a row, its position integrated out.

use super::evidence::{Proposal, Sampled};
use super::search::Search;
use super::target::Target;
use crate::dist::normals;
use crate::error::NumericalError;
use crate::model::position::Scratch;
use crate::rng::{Stream, StreamRng};

/// Prior draws among which further modes of a known row are searched.
const PILOTS: usize = 20;

/// A row's importance sample, with the log density of all its observed cells; and where it came from.
pub(super) fn weigh(
    target: &Target<'_>,
    search: Search,
    scratch: &mut Scratch,
    rng: &mut StreamRng,
) -> Result<(Sampled, Proposal), NumericalError> {
    let proposal = Proposal::new(target.prior.dim(), search.run(target, scratch));
    let mut sampled = proposal.sample(target, scratch, rng).ok_or_else(|| impossible(target.row))?;
    // The constant part may be evaluated at any f.
    target.ln_lik(&sampled.u, scratch);
    sampled.ln_evidence += target.positions.constant(target.row, scratch);
    Ok((sampled, proposal))
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
    weigh(target, Search::new(starts), scratch, rng).map(|(sampled, _)| sampled.ln_evidence)
}
