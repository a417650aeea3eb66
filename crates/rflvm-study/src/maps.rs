//! The maps that were found before the chains started: their file, and what to say about them.

use crate::error::Error;
use crate::folder::maps_path;
use crate::wording::{Wording, render};
use crate::write;
use rflvm::linalg::Mat;
use rflvm::regular;
use rflvm::run::maps::{Found, is_tied};
use rflvm::run::{Joined, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// A map in the file: as it was found, but with one list per row.
#[derive(Serialize, Deserialize)]
struct Stored {
    start: String,
    log_evidence: f64,
    error: f64,
    continuity: f64,
    trustworthiness: f64,
    positions: Vec<Vec<f64>>,
    /// The chains that sample it, counted from 1.
    #[serde(default)]
    chains: Vec<usize>,
    /// Chains of it that continued from the state of another.
    #[serde(default)]
    joined: Vec<Joining>,
}

/// A chain that continued from the state of another; chains are counted from 1.
#[derive(Serialize, Deserialize)]
struct Joining {
    sweep: u64,
    chain: usize,
    of: usize,
    below: f64,
}

/// Writes the maps, the chosen one first; nothing if there was no search.
pub fn write(dir: &Path, found: &[Found]) -> Result<(), Error> {
    if found.is_empty() {
        return Ok(());
    }
    let stored = |found: &Found| Stored {
        start: found.start.clone(),
        log_evidence: found.evidence,
        error: found.error,
        continuity: found.continuity,
        trustworthiness: found.trustworthiness,
        positions: found.positions.iter_rows().map(<[f64]>::to_vec).collect(),
        chains: found.chains.iter().map(|chain| chain + 1).collect(),
        joined: found.joined.iter().map(joining).collect(),
    };
    let all: Vec<Stored> = found.iter().map(stored).collect();
    write::text(&maps_path(dir), &format!("{}\n", json!(all)))
}

/// Adds which chains have continued from the state of another so far.
pub fn record(dir: &Path, joined: impl Fn(usize) -> Vec<Joined>) -> Result<(), Error> {
    let mut found = read(dir);
    let mut news = false;
    for (map, found) in found.iter_mut().enumerate() {
        let joined = joined(map);
        news |= joined.len() > found.joined.len();
        found.joined = joined;
    }
    if news { write(dir, &found) } else { Ok(()) }
}

fn joining(joined: &Joined) -> Joining {
    Joining { sweep: joined.sweep, chain: joined.chain + 1, of: joined.of + 1, below: joined.below }
}

/// Reads them; none if there was no search, or the file cannot be read: it only informs.
pub fn read(dir: &Path) -> Vec<Found> {
    let Ok(text) = regular::read_to_string(&maps_path(dir)) else { return Vec::new() };
    let Ok(stored) = serde_json::from_str::<Vec<Stored>>(&text) else { return Vec::new() };
    let joined = |Joining { sweep, chain, of, below }: Joining| {
        let (chain, of) = (chain.saturating_sub(1), of.saturating_sub(1));
        Joined { sweep, chain, of, below }
    };
    let found = |stored: Stored| {
        let (rows, dim) = (stored.positions.len(), stored.positions.first().map_or(0, Vec::len));
        let cells: Vec<f64> = stored.positions.into_iter().flatten().collect();
        (cells.len() == rows * dim).then(|| Found {
            start: stored.start,
            evidence: stored.log_evidence,
            error: stored.error,
            continuity: stored.continuity,
            trustworthiness: stored.trustworthiness,
            positions: Mat::from_vec(rows, dim, cells),
            chains: stored.chains.into_iter().map(|chain| chain.saturating_sub(1)).collect(),
            joined: stored.joined.into_iter().map(joined).collect(),
        })
    };
    stored.into_iter().filter_map(found).collect()
}

/// The chains of each sampled map, the chosen one first.
pub fn groups(dir: &Path, settings: &Settings) -> Result<Vec<Vec<usize>>, Error> {
    let all: Vec<usize> = (0..settings.chains).collect();
    if settings.modes == 1 {
        return Ok(vec![all]);
    }
    let groups: Vec<Vec<usize>> =
        read(dir).into_iter().map(|found| found.chains).filter(|chains| !chains.is_empty()).collect();
    let mut told = groups.concat();
    told.sort_unstable();
    if told == all {
        return Ok(groups);
    }
    let problem = "the file does not say which chains sample which map; restore it from a copy, or fit the table again";
    Err(Error::Foreign { path: maps_path(dir).display().to_string(), problem: problem.into() })
}

/// How many maps are sampled.
fn sampled(found: &[Found]) -> usize {
    found.iter().filter(|found| !found.chains.is_empty()).count().max(1)
}

/// A note if fewer maps were found than asked for.
pub fn shortage(found: &[Found], modes: usize) -> Option<String> {
    let there = sampled(found);
    let which = if there == 1 { "all chains sample it" } else { "all chains sample these" };
    (modes > there).then(|| format!("{modes} maps were to be sampled, but the search found only {there}; {which}"))
}

/// Whether the data prefer the sampled map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// There is no other map.
    OneMap,
    /// Its evidence is clearly higher.
    Preferred,
    /// The evidence cannot tell it from this many others.
    Several(usize),
    /// This many others have more evidence, but scatter neighbours.
    Scattered(usize),
}

impl Choice {
    /// From the maps of a search; `None` if there was none.
    pub fn of(found: &[Found]) -> Option<Self> {
        let (chosen, others) = found.split_first()?;
        let tied = others.iter().filter(|other| is_tied(chosen, other)).count();
        let better = others.iter().filter(|other| !is_tied(chosen, other) && other.evidence > chosen.evidence).count();
        Some(match (others.len(), tied, better) {
            (0, ..) => Choice::OneMap,
            (_, _, 1..) => Choice::Scattered(better),
            (_, 0, 0) => Choice::Preferred,
            _ => Choice::Several(tied),
        })
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Choice::OneMap => "one-map",
            Choice::Preferred => "preferred",
            Choice::Several(_) | Choice::Scattered(_) => "several-maps",
        }
    }
}

/// Whether the data prefer the sampled map, in words, and what to do if not; `None` if there was no search.
pub fn words(found: &[Found]) -> Option<String> {
    let map = |n: usize| if n == 1 { "1 other map".to_string() } else { format!("{n} other maps") };
    let remedy = match sampled(found) {
        1 => "compare them before you interpret positions, and let predictions combine them with ⟨modes⟩".to_string(),
        sampled => format!("positions are those of map 1, and predictions combine the {sampled} maps that are sampled"),
    };
    Some(match Choice::of(found)? {
        Choice::OneMap => "all initialisations led to the same map".into(),
        Choice::Preferred => "the data prefer the sampled map to the others that were found".into(),
        Choice::Several(tied) => format!(
            "several maps fit: the data do not tell the sampled map from {}; it was chosen because it tears least; {remedy}",
            map(tied)
        ),
        Choice::Scattered(better) => format!(
            "several maps fit: {} with more evidence {} rows that are neighbours in the table, so the chains sample one that does \
             not; {remedy}",
            map(better),
            if better == 1 { "scatters" } else { "scatter" }
        ),
    })
}

/// A line per map, the chosen one first.
pub fn lines(found: &[Found]) -> Vec<String> {
    let several = sampled(found) > 1;
    let line = |(i, found): (usize, &Found)| {
        let chains = || found.chains.iter().map(|chain| (chain + 1).to_string()).collect::<Vec<_>>().join(", ");
        let sampled = match (several, found.chains.is_empty()) {
            (true, false) => format!(", sampled by chains {}", chains()),
            (false, _) if i == 0 => ", sampled".into(),
            _ => String::new(),
        };
        format!(
            "map {}: log evidence {:.0} ± {:.0}, continuity {:.3}, from {}{sampled}",
            i + 1,
            found.evidence,
            found.error,
            found.continuity,
            found.start
        )
    };
    found.iter().enumerate().map(line).chain(found.iter().flat_map(meetings)).collect()
}

/// A line per meeting at which chains of a map continued from the state of another.
fn meetings(found: &Found) -> Vec<String> {
    let at_once = found.joined.chunk_by(|a, b| a.sweep == b.sweep && a.of == b.of);
    let line = |joined: &[Joined]| {
        let chains: Vec<String> = joined.iter().map(|joined| (joined.chain + 1).to_string()).collect();
        let below = joined.iter().map(|joined| joined.below).fold(f64::INFINITY, f64::min);
        let (noun, least) = if joined.len() == 1 { ("chain", "") } else { ("chains", "at least ") };
        format!(
            "warm-up, sweep {}: {noun} {} continued from chain {}, whose log evidence was {least}{below:.0} higher",
            joined[0].sweep,
            chains.join(", "),
            joined[0].of + 1
        )
    };
    at_once.map(line).collect()
}

/// As JSON, without the positions; chains are counted from 1.
pub fn as_json(found: &[Found], wording: &dyn Wording) -> Value {
    let one = |found: &Found| {
        json!({
            "start": found.start, "log_evidence": found.evidence, "error": found.error, "continuity": found.continuity,
            "trustworthiness": found.trustworthiness, "chains": found.chains.iter().map(|chain| chain + 1).collect::<Vec<_>>(),
            "joined": found.joined.iter().map(joining).collect::<Vec<_>>(),
        })
    };
    json!({
        "found": found.iter().map(one).collect::<Vec<_>>(), "verdict": Choice::of(found).map(Choice::name),
        "words": words(found).map(|words| render(&words, wording)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(evidence: f64, continuity: f64) -> Found {
        let (start, positions, chains, joined) = ("here".into(), Mat::zeros(2, 1), Vec::new(), Vec::new());
        Found { start, evidence, error: 10.0, continuity, trustworthiness: 1.0, positions, chains, joined }
    }

    #[test]
    fn the_words_say_whether_the_data_prefer_a_map() {
        assert_eq!(words(&[]), None);
        assert!(words(&[found(0.0, 0.9)]).is_some_and(|w| w.contains("same map")));
        assert!(words(&[found(0.0, 0.9), found(-500.0, 0.99)]).is_some_and(|w| w.contains("prefer the sampled map")));
        let tied = words(&[found(0.0, 0.99), found(5.0, 0.9), found(-5.0, 0.9)]);
        assert!(tied.is_some_and(|w| w.contains("from 2 other maps")));
        assert!(words(&[found(0.0, 0.99), found(500.0, 0.8)]).is_some_and(|w| w.contains("scatters")));
    }

    #[test]
    fn meetings_are_told_one_line_each() {
        let mut one = found(0.0, 0.9);
        let joined = |sweep, chain, below| Joined { sweep, chain, of: 2, below };
        one.joined = vec![joined(50, 0, 31.4), joined(50, 3, 12.3), joined(100, 1, 9.8)];
        let lines = lines(&[one]);
        assert!(
            lines[1]
                .ends_with("sweep 50: chains 1, 4 continued from chain 3, whose log evidence was at least 12 higher")
        );
        assert!(lines[2].ends_with("sweep 100: chain 2 continued from chain 3, whose log evidence was 10 higher"));
    }

    #[test]
    fn the_words_say_what_to_do_about_several_maps_and_how_many_are_sampled() {
        let mut all = [found(0.0, 0.99), found(5.0, 0.9), found(-5.0, 0.9)];
        all[0].chains = vec![0, 1];
        assert!(words(&all).is_some_and(|w| w.contains("⟨modes⟩")));
        assert!(lines(&all)[0].ends_with(", sampled") && !lines(&all)[1].contains("sampled"));
        assert_eq!(shortage(&all, 1), None);
        all[1].chains = vec![2, 3];
        assert!(words(&all).is_some_and(|w| w.contains("combine the 2 maps")));
        assert!(lines(&all)[1].ends_with("sampled by chains 3, 4") && !lines(&all)[2].contains("sampled"));
        assert!(shortage(&all, 3).is_some_and(|w| w.contains("3 maps") && w.contains("only 2")));
        assert_eq!(Choice::of(&all).map(Choice::name), Some("several-maps"));
    }
}
