//! Several modes may fit a table. Before chains start, a few are found, compared and one of them is chosen, by a stated rule.
//!
//! A portfolio of starts (principal components; Isomap and Laplacian eigenmaps at several neighbourhoods) is fitted in stages; each is
//! sampled in a short burst; the best few go on for longer. Modes that turn out the same are counted once. Each mode has an evidence
//! with its error (`evidence.rs`), and a continuity: how well it keeps neighbours in the table together. The rule: the mode with the
//! highest evidence, modes that scatter neighbours aside; among modes that the evidence cannot tell from it, the one of highest continuity. A
//! break costs the likelihood next to nothing, so the posterior often has broken modes of the same weight as whole ones.

mod candidate;
mod evidence;
mod found;
mod plan;
mod share;
mod start;

pub use candidate::Stop;
pub(super) use evidence::{Burst, of_data};
pub use found::{Found, is_tied};
pub use plan::Plan;
pub(super) use start::Start;

use super::chain::Chain;
use super::settings::Settings;
use super::threads::side_by_side;
use crate::device::Open;
use crate::error::{NumericalError, RunError};
use crate::init::{graph, scatter};
use crate::linalg::Mat;
use crate::model::{Model, State};
use crate::posterior::score::affine_r2;
use crate::rng::Stream;
use crate::table::{self, Host};
use candidate::Candidate;
use found::by_rule;
use plan::FINALISTS;
use rayon::ThreadPool;
use start::portfolio;

/// Modes with at least this R² of each other's positions are the same.
const SAME: f64 = 0.95;
/// How far chains start from the draws of the chosen mode, in conditional standard deviations of their rows.
const SCATTER: f64 = 1.0;
/// Number of the first chain of a search: its streams are not those of any chain of the run.
const FIRST_CHAIN: usize = 1_000_000;

/// The result of a search: the chosen mode first, the others by evidence.
#[derive(Debug, Clone, Default)]
pub struct Modes {
    /// The modes.
    pub found: Vec<Found>,
    /// Draws of each sampled mode, from which its chains start.
    states: Vec<Vec<State>>,
}

impl Modes {
    /// Index of the mode that a chain samples.
    pub(super) fn sampled_by(&self, chain: usize) -> Option<usize> {
        self.found.iter().position(|found| found.chains.contains(&chain))
    }

    /// The state from which chain number `chain` starts: a draw of its mode, scattered. `None` without a search.
    pub(super) fn start(
        &self,
        model: &Model,
        settings: &Settings,
        chain: usize,
    ) -> Result<Option<State>, NumericalError> {
        let Some(states) =
            self.sampled_by(chain).and_then(|mode| self.states.get(mode)).filter(|states| !states.is_empty())
        else {
            return Ok(None);
        };
        let mut state = states[chain % settings.chains_per_mode() % states.len()].clone();
        // Rows of a path are not independent: noise of their own would be rougher than any path.
        if model.dynamics().is_none() {
            let stream = Stream::new(settings.seed).named("scatter").at(chain as u64);
            scatter(model, &mut state, SCATTER, &mut stream.rng())?;
        }
        Ok(Some(state))
    }
}

/// The candidates with distinct modes, in the order of the rule.
fn distinct<'a>(candidates: Vec<Candidate<'a>>, points: &Mat) -> Vec<(Found, Candidate<'a>)> {
    let mut found: Vec<(Found, usize)> = candidates.iter().map(|c| c.found(points)).zip(0..).collect();
    by_rule(&mut found);
    let mut candidates: Vec<Option<Candidate<'a>>> = candidates.into_iter().map(Some).collect();
    let mut kept: Vec<(Found, Candidate<'a>)> = Vec::new();
    for (found, i) in found {
        let same = |other: &(Found, Candidate<'_>)| {
            let r2 = |a: &Found, b: &Found| affine_r2(&a.positions, &b.positions);
            r2(&found, &other.0).min(r2(&other.0, &found)) >= SAME
        };
        if let (false, Some(candidate)) = (kept.iter().any(same), candidates[i].take()) {
            kept.push((found, candidate));
        }
    }
    kept
}

/// The mode that is reached from given positions, for comparison with those that a search finds.
#[doc(hidden)]
pub fn reached(model: &Model, settings: &Settings, plan: &Plan, x: &Mat) -> Result<Found, NumericalError> {
    let own = plan.settings(settings);
    let stream = Stream::new(settings.seed).named("reached");
    let points = graph::points(model, &mut stream.named("points").rng());
    let chain = Chain::near(model, &own, FIRST_CHAIN, x.clone(), Box::new(Host::default()), stream)?;
    let mut candidate = Candidate::new(Start::Pca, chain);
    candidate.go_on(model, (plan.first, 0), stream.at(0), &|| false)?;
    candidate.go_on(model, (plan.second, 0), stream.at(1), &|| false)?;
    Ok(Found { start: "given positions".into(), ..candidate.found(&points) })
}

/// Finds modes, with the threads of the pools, and with tables on devices if `open` opens them; `None` if it was stopped. A start from which no
/// chain can run is left out: if that is all of them, the chains of the run say why.
pub fn search(
    model: &Model,
    settings: &Settings,
    plan: &Plan,
    pools: &[ThreadPool],
    open: Option<&Open<'_>>,
    stop: &Stop<'_>,
) -> Result<Option<Modes>, RunError> {
    let own = plan.settings(settings);
    let stream = Stream::new(settings.seed).named("maps");
    let points = pools[0].install(|| graph::points(model, &mut stream.named("points").rng()));
    // A start that fails is left out, unless other processes wait for this one.
    let survivor = |i: usize, candidate: Result<_, NumericalError>| match candidate {
        Err(source) if !model.chunks().is_alone() => Err(RunError::Numerical { chain: i + 1, sweep: 0, source }),
        other => Ok(other.ok()),
    };
    let begin = |(i, start): (usize, Start)| {
        let stream = stream.at(i as u64);
        pools[i % pools.len()].install(|| {
            let positions = if stop() { Ok(None) } else { start.positions(model, &points, stream) };
            let positions = match positions {
                Err(source) => return survivor(i, Err(source)),
                Ok(positions) => positions,
            };
            let Some(x) = positions else { return Ok(None) };
            let table = table::open(open, model, i)?;
            let chain = Chain::near(model, &own, FIRST_CHAIN + i, x, table, stream);
            let candidate = chain.and_then(|chain| {
                let mut candidate = Candidate::new(start, chain);
                candidate.go_on(model, (plan.first, 0), stream, stop)?;
                Ok(candidate)
            });
            survivor(i, candidate)
        })
    };
    let begun = side_by_side(model, portfolio(model).into_iter().enumerate().collect(), begin)?;
    if stop() {
        return Ok(None);
    }
    let most = FINALISTS.max(settings.modes);
    let finalists = distinct(begun.into_iter().flatten().collect(), &points).into_iter().take(most);
    let finished = side_by_side(model, finalists.enumerate().collect(), |(i, (_, mut candidate))| {
        let (effort, stream) = ((plan.second, settings.chains_per_mode()), stream.named("second").at(i as u64));
        let outcome = pools[i % pools.len()].install(|| candidate.go_on(model, effort, stream, stop));
        survivor(i, outcome.map(|()| candidate))
    })?;
    if stop() {
        return Ok(None);
    }
    let mut distinct = distinct(finished.into_iter().flatten().collect(), &points);
    let chains = share::chains(settings, distinct.len());
    distinct.iter_mut().zip(chains).for_each(|((found, _), chains)| found.chains = chains);
    let states = distinct.iter_mut().take(settings.modes).map(|(_, sampled)| std::mem::take(&mut sampled.states));
    let states = states.collect();
    Ok(Some(Modes { found: distinct.into_iter().map(|(found, _)| found).collect(), states }))
}
