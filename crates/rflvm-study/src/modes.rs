//! The modes that were found before the chains started: their file, and what to say about them.

use crate::error::Error;
use crate::folder::modes_path;
use crate::message::{Naming, render};
use crate::write;
use rflvm::internal::linalg::Mat;
use rflvm::internal::regular;
use rflvm::internal::run::modes::{Found, is_tied};
use rflvm::internal::run::{Replaced, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// A mode in the file: as it was found, but with one list per row.
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
    #[serde(default, alias = "joined")]
    replaced: Vec<Replacement>,
}

/// A chain that continued from the state of another; chains are counted from 1.
#[derive(Serialize, Deserialize)]
struct Replacement {
    sweep: u64,
    chain: usize,
    of: usize,
    below: f64,
}

/// Writes the modes, the chosen one first; nothing if there was no search.
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
        replaced: found.replaced.iter().map(replacement).collect(),
    };
    let all: Vec<Stored> = found.iter().map(stored).collect();
    write::text(&modes_path(dir), &format!("{}\n", json!(all)))
}

/// Adds which chains have continued from the state of another so far.
pub fn record(dir: &Path, replaced: impl Fn(usize) -> Vec<Replaced>) -> Result<(), Error> {
    let mut found = read(dir);
    let mut news = false;
    for (mode, found) in found.iter_mut().enumerate() {
        let replaced = replaced(mode);
        news |= replaced.len() > found.replaced.len();
        found.replaced = replaced;
    }
    if news { write(dir, &found) } else { Ok(()) }
}

fn replacement(replaced: &Replaced) -> Replacement {
    Replacement { sweep: replaced.sweep, chain: replaced.chain + 1, of: replaced.of + 1, below: replaced.below }
}

/// Reads them; none if there was no search, or the file cannot be read: it only informs.
pub fn read(dir: &Path) -> Vec<Found> {
    let Ok(text) = regular::read_to_string(&modes_path(dir)) else { return Vec::new() };
    let Ok(stored) = serde_json::from_str::<Vec<Stored>>(&text) else { return Vec::new() };
    let replaced = |Replacement { sweep, chain, of, below }: Replacement| {
        let (chain, of) = (chain.saturating_sub(1), of.saturating_sub(1));
        Replaced { sweep, chain, of, below }
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
            replaced: stored.replaced.into_iter().map(replaced).collect(),
        })
    };
    stored.into_iter().filter_map(found).collect()
}

/// The chains of each sampled mode, the chosen one first.
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
    let problem =
        "the file does not say which chains sample which mode; restore it from a copy, or fit the table again";
    Err(Error::Foreign { path: modes_path(dir).display().to_string(), problem: problem.into() })
}

/// How many modes are sampled.
fn sampled(found: &[Found]) -> usize {
    found.iter().filter(|found| !found.chains.is_empty()).count().max(1)
}

/// A note if fewer modes were found than asked for.
pub fn shortage(found: &[Found], modes: usize) -> Option<String> {
    let there = sampled(found);
    let which = if there == 1 { "all chains sample it" } else { "all chains sample these" };
    (modes > there).then(|| format!("{modes} modes were to be sampled, but the search found only {there}; {which}"))
}

/// Whether the data prefer the sampled mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// There is no other mode.
    OneMode,
    /// Its evidence is clearly higher.
    Preferred,
    /// The evidence cannot tell it from this many others.
    Several(usize),
    /// This many others have more evidence, but scatter neighbours.
    Scattered(usize),
}

impl Choice {
    /// From the modes of a search; `None` if there was none.
    pub fn of(found: &[Found]) -> Option<Self> {
        let (chosen, others) = found.split_first()?;
        let tied = others.iter().filter(|other| is_tied(chosen, other)).count();
        let better = others.iter().filter(|other| !is_tied(chosen, other) && other.evidence > chosen.evidence).count();
        Some(match (others.len(), tied, better) {
            (0, ..) => Choice::OneMode,
            (_, _, 1..) => Choice::Scattered(better),
            (_, 0, 0) => Choice::Preferred,
            _ => Choice::Several(tied),
        })
    }

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Choice::OneMode => "one-mode",
            Choice::Preferred => "preferred",
            Choice::Several(_) | Choice::Scattered(_) => "several-modes",
        }
    }
}

/// Whether the data prefer the sampled mode, in words, and what to do if not; `None` if there was no search.
pub fn words(found: &[Found]) -> Option<String> {
    let mode = |n: usize| if n == 1 { "1 other mode".to_string() } else { format!("{n} other modes") };
    let remedy = match sampled(found) {
        1 => "compare them before you interpret positions, and let predictions combine them with ⟨modes⟩".to_string(),
        sampled => {
            format!("positions are those of mode 1, and predictions combine the {sampled} modes that are sampled")
        }
    };
    Some(match Choice::of(found)? {
        Choice::OneMode => "all initialisations led to the same mode".into(),
        Choice::Preferred => "the data prefer the sampled mode to the others that were found".into(),
        Choice::Several(tied) => format!(
            "several modes fit: the data do not tell the sampled mode from {}; it was chosen for its continuity; {remedy}",
            mode(tied)
        ),
        Choice::Scattered(better) => format!(
            "several modes fit: {} with more evidence {} rows that are neighbours in the table, so the chains sample one that does \
             not; {remedy}",
            mode(better),
            if better == 1 { "scatters" } else { "scatter" }
        ),
    })
}

/// A line per mode, the chosen one first.
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
            "mode {}: log evidence {:.0} ± {:.0}, continuity {:.3}, from {}{sampled}",
            i + 1,
            found.evidence,
            found.error,
            found.continuity,
            found.start
        )
    };
    found.iter().enumerate().map(line).chain(found.iter().flat_map(exchanges)).collect()
}

/// A line per exchange at which chains of a mode continued from the state of another.
fn exchanges(found: &Found) -> Vec<String> {
    let at_once = found.replaced.chunk_by(|a, b| a.sweep == b.sweep && a.of == b.of);
    let line = |replaced: &[Replaced]| {
        let chains: Vec<String> = replaced.iter().map(|replaced| (replaced.chain + 1).to_string()).collect();
        let below = replaced.iter().map(|replaced| replaced.below).fold(f64::INFINITY, f64::min);
        let (noun, least) = if replaced.len() == 1 { ("chain", "") } else { ("chains", "at least ") };
        format!(
            "warm-up, sweep {}: {noun} {} continued from chain {}, whose log evidence was {least}{below:.0} higher",
            replaced[0].sweep,
            chains.join(", "),
            replaced[0].of + 1
        )
    };
    at_once.map(line).collect()
}

/// As JSON, without the positions; chains are counted from 1.
pub fn as_json(found: &[Found], naming: &dyn Naming) -> Value {
    let one = |found: &Found| {
        json!({
            "start": found.start, "log_evidence": found.evidence, "error": found.error, "continuity": found.continuity,
            "trustworthiness": found.trustworthiness, "chains": found.chains.iter().map(|chain| chain + 1).collect::<Vec<_>>(),
            "replaced": found.replaced.iter().map(replacement).collect::<Vec<_>>(),
        })
    };
    json!({
        "found": found.iter().map(one).collect::<Vec<_>>(), "verdict": Choice::of(found).map(Choice::name),
        "words": words(found).map(|words| render(&words, naming)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(evidence: f64, continuity: f64) -> Found {
        let (start, positions, chains, replaced) = ("here".into(), Mat::zeros(2, 1), Vec::new(), Vec::new());
        Found { start, evidence, error: 10.0, continuity, trustworthiness: 1.0, positions, chains, replaced }
    }

    #[test]
    fn the_words_say_whether_the_data_prefer_a_mode() {
        assert_eq!(words(&[]), None);
        assert!(words(&[found(0.0, 0.9)]).is_some_and(|w| w.contains("same mode")));
        assert!(words(&[found(0.0, 0.9), found(-500.0, 0.99)]).is_some_and(|w| w.contains("prefer the sampled mode")));
        let tied = words(&[found(0.0, 0.99), found(5.0, 0.9), found(-5.0, 0.9)]);
        assert!(tied.is_some_and(|w| w.contains("from 2 other modes")));
        assert!(words(&[found(0.0, 0.99), found(500.0, 0.8)]).is_some_and(|w| w.contains("scatters")));
    }

    #[test]
    fn exchanges_are_told_one_line_each() {
        let mut one = found(0.0, 0.9);
        let replaced = |sweep, chain, below| Replaced { sweep, chain, of: 2, below };
        one.replaced = vec![replaced(50, 0, 31.4), replaced(50, 3, 12.3), replaced(100, 1, 9.8)];
        let lines = lines(&[one]);
        assert!(
            lines[1]
                .ends_with("sweep 50: chains 1, 4 continued from chain 3, whose log evidence was at least 12 higher")
        );
        assert!(lines[2].ends_with("sweep 100: chain 2 continued from chain 3, whose log evidence was 10 higher"));
    }

    #[test]
    fn the_words_say_what_to_do_about_several_modes_and_how_many_are_sampled() {
        let mut all = [found(0.0, 0.99), found(5.0, 0.9), found(-5.0, 0.9)];
        all[0].chains = vec![0, 1];
        assert!(words(&all).is_some_and(|w| w.contains("⟨modes⟩")));
        assert!(lines(&all)[0].ends_with(", sampled") && !lines(&all)[1].contains("sampled"));
        assert_eq!(shortage(&all, 1), None);
        all[1].chains = vec![2, 3];
        assert!(words(&all).is_some_and(|w| w.contains("combine the 2 modes")));
        assert!(lines(&all)[1].ends_with("sampled by chains 3, 4") && !lines(&all)[2].contains("sampled"));
        assert!(shortage(&all, 3).is_some_and(|w| w.contains("3 modes") && w.contains("only 2")));
        assert_eq!(Choice::of(&all).map(Choice::name), Some("several-modes"));
    }
}
