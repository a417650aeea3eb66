//! Several maps may fit a table. Before chains start, a few are found, compared and one of them is chosen, by a stated rule.
//!
//! A portfolio of starts (principal components; Isomap and Laplacian eigenmaps at several neighbourhoods) is fitted in stages; each is
//! sampled in a short burst; the best few go on for longer. Maps that turn out the same are counted once. Each map has an evidence
//! with its error (`evidence.rs`), and a continuity: how well it keeps neighbours in the table together. The rule: the map with the
//! highest evidence, maps that scatter neighbours aside; among maps that the evidence cannot tell from it, the one that tears least. A
//! tear costs the likelihood next to nothing, so the posterior often has torn maps of the same weight as whole ones.

mod evidence;
mod share;

use super::chain::Chain;
use super::settings::Settings;
use super::threads::side_by_side;
use crate::error::{NumericalError, SpecError};
use crate::init::graph::{self, Graph, continuity};
use crate::init::{Init, principal_scores, scatter, start_at};
use crate::linalg::Mat;
use crate::model::{Model, State};
use crate::posterior::align::align;
use crate::posterior::score::affine_r2;
use crate::rng::Stream;
use evidence::Burst;
use rayon::ThreadPool;

/// Neighbours by which continuity is judged.
const NEIGHBOURS: usize = 15;
/// How many maps are sampled for longer.
const FINALISTS: usize = 3;
/// Maps with at least this R² of each other's positions are the same.
const SAME: f64 = 0.95;
/// A map whose continuity is this far below the best one's scatters neighbours: it leaves an axis unused, say, along which rows lie at
/// random. It may have more evidence, but shows less of the table; it is reported, not chosen.
const SCATTERED: f64 = 0.05;
/// Evidences closer than this many standard errors of their difference cannot be distinguished.
const APART: f64 = 2.0;
/// Least sweeps of a burst; a search that cannot afford them is not worth its name.
const LEAST: u64 = 20;
/// Most sweeps of a first and of a second burst: a search is over in minutes, however long the run.
const MOST: [u64; 2] = [200, 400];
/// How far chains start from the draws of the chosen map, in conditional standard deviations of their rows.
const SCATTER: f64 = 1.0;
/// Most cells of a table: the starts of a search are in memory at the same time.
const MOST_CELLS: usize = 20_000_000;
/// Number of the first chain of a search: its streams are not those of any chain of the run.
const FIRST_CHAIN: usize = 1_000_000;

/// A map that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The start that led to it.
    pub start: String,
    /// ln p(Y) of its neighbourhood, up to a constant that is the same for all maps of a table.
    pub evidence: f64,
    /// Standard error of the evidence.
    pub error: f64,
    /// How well neighbours in the table are neighbours in the map, from 0 to 1.
    pub continuity: f64,
    /// How well neighbours in the map are neighbours in the table, from 0 to 1.
    pub trustworthiness: f64,
    /// Mean positions over its burst, in the axes of one draw.
    pub positions: Mat,
    /// The chains that sample it, counted from 0; none for a map that is only reported.
    pub chains: Vec<usize>,
}

/// The result of a search: the chosen map first, the others by evidence.
#[derive(Debug, Clone, Default)]
pub struct Maps {
    /// The maps.
    pub found: Vec<Found>,
    /// Draws of each sampled map, from which its chains start.
    states: Vec<Vec<State>>,
}

impl Maps {
    /// The state from which chain number `chain` starts: a draw of its map, scattered. `None` without a search.
    pub(super) fn start(
        &self,
        model: &Model,
        settings: &Settings,
        chain: usize,
    ) -> Result<Option<State>, NumericalError> {
        let map = self.found.iter().position(|found| found.chains.contains(&chain));
        let Some(states) = map.and_then(|map| self.states.get(map)).filter(|states| !states.is_empty()) else {
            return Ok(None);
        };
        let mut state = states[chain % settings.chains_per_map() % states.len()].clone();
        // Rows of a path are not independent: noise of their own would be rougher than any path.
        if model.dynamics().is_none() {
            let stream = Stream::new(settings.seed).named("scatter").at(chain as u64);
            scatter(model, &mut state, SCATTER, &mut stream.rng())?;
        }
        Ok(Some(state))
    }
}

/// Whether evidence cannot tell two maps apart.
pub fn is_tied(a: &Found, b: &Found) -> bool {
    (a.evidence - b.evidence).abs() <= APART * a.error.hypot(b.error)
}

/// How X starts.
#[derive(Debug, Clone, Copy)]
enum Start {
    Pca,
    Isomap(usize),
    Eigenmaps(usize),
}

impl Start {
    fn name(self) -> String {
        match self {
            Start::Pca => "principal components".into(),
            Start::Isomap(k) => format!("Isomap, {k} neighbours"),
            Start::Eigenmaps(k) => format!("Laplacian eigenmaps, {k} neighbours"),
        }
    }

    /// X, its widest axis with unit variance; `None` if the table is too large for it.
    fn positions(self, model: &Model, points: &Mat, stream: Stream) -> Option<Mat> {
        let (dim, rng) = (model.latent_dim(), &mut stream.named("positions").rng());
        match self {
            Start::Pca => Some(principal_scores(model, rng)),
            Start::Isomap(k) => Some(graph::isomap(&Graph::new(points, k), dim, rng)),
            Start::Eigenmaps(k) => graph::eigenmaps(&Graph::new(points, k), dim, rng),
        }
    }
}

/// The starts that make sense for this many rows.
fn portfolio(rows: usize) -> Vec<Start> {
    let starts = [Start::Pca, Start::Isomap(10), Start::Isomap(20), Start::Isomap(40), Start::Eigenmaps(20)];
    let is_possible = |start: &Start| match *start {
        Start::Pca => true,
        Start::Isomap(k) | Start::Eigenmaps(k) => 3 * k < rows && rows <= graph::MOST_ROWS,
    };
    starts.into_iter().filter(is_possible).collect()
}

/// One start, its chain, and what the chain has drawn in its last burst.
struct Candidate<'a> {
    start: Start,
    chain: Chain<'a>,
    burst: Burst,
    /// X of some draws.
    positions: Vec<Mat>,
    /// As many of these draws as chains of the run need: a state is as large as the table.
    states: Vec<State>,
}

impl<'a> Candidate<'a> {
    fn new(start: Start, chain: Chain<'a>) -> Self {
        Candidate { start, chain, burst: Burst::default(), positions: Vec::new(), states: Vec::new() }
    }

    /// Runs a burst, of which the later two thirds count, and keeps at most `keep` states.
    fn go_on(
        &mut self,
        model: &Model,
        (sweeps, keep): (u64, usize),
        stream: Stream,
        stop: &Stop<'_>,
    ) -> Result<(), NumericalError> {
        (self.burst, self.positions, self.states) = (Burst::default(), Vec::new(), Vec::new());
        for sweep in 0..sweeps {
            if stop() {
                break;
            }
            self.chain.advance()?;
            if 3 * sweep < sweeps {
                continue;
            }
            let state = self.chain.state();
            self.burst.push(model, state, &mut stream.named("noise").at(sweep).rng())?;
            if (sweeps - 1 - sweep).is_multiple_of((sweeps / 8).max(1)) {
                self.positions.push(state.features.x().clone());
                if self.states.len() < keep {
                    self.states.push(state.clone());
                }
            }
        }
        Ok(())
    }

    fn found(&self, points: &Mat) -> Found {
        let positions = align(&self.positions.iter().collect::<Vec<_>>()).mean;
        let (evidence, error) = self.burst.evidence();
        let (continuity, trustworthiness) = continuity(points, &positions, NEIGHBOURS);
        let (start, chains) = (self.start.name(), Vec::new());
        Found { start, evidence, error, continuity, trustworthiness, positions, chains }
    }
}

/// Puts the chosen map first; the others follow by evidence.
fn by_rule(found: &mut [(Found, usize)]) {
    found.sort_by(|a, b| b.0.evidence.total_cmp(&a.0.evidence));
    let most = found.iter().map(|(f, _)| f.continuity).fold(0.0, f64::max);
    let whole: Vec<usize> = (0..found.len()).filter(|&i| found[i].0.continuity >= most - SCATTERED).collect();
    let Some(&best) = whole.first() else { return };
    let peers = whole.into_iter().filter(|&i| is_tied(&found[best].0, &found[i].0));
    let chosen = peers.max_by(|&a, &b| found[a].0.continuity.total_cmp(&found[b].0.continuity)).unwrap_or(best);
    found[..=chosen].rotate_right(1);
}

/// The candidates with distinct maps, in the order of the rule.
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

/// How long a search runs.
pub struct Plan {
    /// Sweeps of every start.
    first: u64,
    /// Further sweeps of the finalists.
    second: u64,
}

impl Plan {
    /// For a share of the warm-up of a run; `None` if its chains start otherwise, it is too short for a search, or the table too large.
    /// It does not depend on the number of draws, so that a run can be extended.
    pub fn new(model: &Model, settings: &Settings) -> Option<Self> {
        if settings.init != Init::Search || model.rows() * model.columns() > MOST_CELLS {
            return None;
        }
        // The same maps are found for any number of them that is sampled.
        let all = settings.init_effort * settings.chains_per_map() as f64 * settings.warmup as f64;
        let starts = portfolio(model.rows()).len() as u64;
        let (first, second) = (0.5 * all / starts as f64, 0.5 * all / FINALISTS as f64);
        // Converted from f64, these saturate: no warm-up is too long.
        let [first_most, second_most] = MOST;
        (first >= LEAST as f64)
            .then_some(Plan { first: (first as u64).min(first_most), second: (second as u64).min(second_most) })
    }

    /// Refuses to sample several maps if there will be no search for them.
    pub fn check(model: &Model, settings: &Settings) -> Result<(), SpecError> {
        if settings.modes <= 1 || Plan::new(model, settings).is_some() {
            return Ok(());
        }
        let rule = if model.rows() * model.columns() > MOST_CELLS {
            format!("maps are sought in tables of at most {MOST_CELLS} cells, and this one is larger; omit it")
        } else {
            format!(
                "maps are sought only if init-effort × chains × warmup allows {LEAST} sweeps per start; \
                 increase one of them, or omit modes"
            )
        };
        Err(SpecError::Setting { setting: "modes", value: settings.modes.to_string(), rule })
    }

    /// How many chains are in memory at the same time, and how many numbers besides.
    pub fn memory(model: &Model) -> (usize, usize) {
        (portfolio(model.rows()).len(), graph::numbers(model.rows()))
    }

    /// The settings of the bursts' chains.
    fn settings(&self, settings: &Settings) -> Settings {
        let warmup = self.first + self.second / 3;
        let draws = self.first + self.second - warmup;
        Settings { warmup, draws, thin: 1, chains: 1, modes: 1, ..settings.clone() }
    }
}

/// The map that is reached from given positions, for comparison with those that a search finds.
#[doc(hidden)]
pub fn reached(model: &Model, settings: &Settings, plan: &Plan, x: &Mat) -> Result<Found, NumericalError> {
    let own = plan.settings(settings);
    let stream = Stream::new(settings.seed).named("reached");
    let points = graph::points(model, &mut stream.named("points").rng());
    let chain = Chain::at(model, &own, FIRST_CHAIN, start_at(model, x.clone(), stream)?);
    let mut candidate = Candidate::new(Start::Pca, chain);
    candidate.go_on(model, (plan.first, 0), stream.at(0), &|| false)?;
    candidate.go_on(model, (plan.second, 0), stream.at(1), &|| false)?;
    Ok(Found { start: "given positions".into(), ..candidate.found(&points) })
}

/// Whether a search should stop.
pub type Stop<'a> = dyn Fn() -> bool + Sync + 'a;

/// Finds maps, with the threads of the pools; `None` if it was stopped. A start from which no chain can run is left out: if that is all of
/// them, the chains of the run say why.
pub fn search(model: &Model, settings: &Settings, plan: &Plan, pools: &[ThreadPool], stop: &Stop<'_>) -> Option<Maps> {
    let own = plan.settings(settings);
    let stream = Stream::new(settings.seed).named("maps");
    let points = pools[0].install(|| graph::points(model, &mut stream.named("points").rng()));
    let begin = |(i, start): (usize, Start)| {
        let stream = stream.at(i as u64);
        pools[i % pools.len()].install(|| {
            let x = if stop() { None } else { start.positions(model, &points, stream) }?;
            let chain = Chain::at(model, &own, FIRST_CHAIN + i, start_at(model, x, stream).ok()?);
            let mut candidate = Candidate::new(start, chain);
            candidate.go_on(model, (plan.first, 0), stream, stop).ok()?;
            Some(candidate)
        })
    };
    let begun = side_by_side(portfolio(model.rows()).into_iter().enumerate().collect(), begin);
    if stop() {
        return None;
    }
    let most = FINALISTS.max(settings.modes);
    let finalists = distinct(begun.into_iter().flatten().collect(), &points).into_iter().take(most);
    let finished = side_by_side(finalists.enumerate().collect(), |(i, (_, mut candidate))| {
        let (effort, stream) = ((plan.second, settings.chains_per_map()), stream.named("second").at(i as u64));
        pools[i % pools.len()].install(|| candidate.go_on(model, effort, stream, stop)).ok()?;
        Some(candidate)
    });
    if stop() {
        return None;
    }
    let mut distinct = distinct(finished.into_iter().flatten().collect(), &points);
    let chains = share::chains(settings, distinct.len());
    distinct.iter_mut().zip(chains).for_each(|((found, _), chains)| found.chains = chains);
    let states = distinct.iter_mut().take(settings.modes).map(|(_, sampled)| std::mem::take(&mut sampled.states));
    let states = states.collect();
    Some(Maps { found: distinct.into_iter().map(|(found, _)| found).collect(), states })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(evidence: f64, error: f64, continuity: f64) -> Found {
        let positions = Mat::zeros(2, 1);
        let (start, chains) = (String::new(), Vec::new());
        Found { start, evidence, error, continuity, trustworthiness: 1.0, positions, chains }
    }

    fn order(maps: &[(f64, f64, f64)]) -> Vec<usize> {
        let mut all: Vec<(Found, usize)> = maps.iter().map(|&(e, s, c)| found(e, s, c)).zip(0..).collect();
        by_rule(&mut all);
        all.into_iter().map(|(_, i)| i).collect()
    }

    #[test]
    fn evidence_decides_and_where_it_cannot_tell_continuity_does() {
        assert_eq!(order(&[(-200.0, 10.0, 0.99), (-100.0, 10.0, 0.96)]), [1, 0]);
        assert_eq!(order(&[(-120.0, 10.0, 0.99), (-100.0, 10.0, 0.96), (-110.0, 10.0, 0.97)]), [0, 1, 2]);
        // The first has the most evidence, but scatters neighbours.
        assert_eq!(order(&[(-100.0, 10.0, 0.85), (-300.0, 10.0, 0.97), (-200.0, 10.0, 0.96)]), [2, 0, 1]);
        assert!(order(&[]).is_empty());
    }
}
