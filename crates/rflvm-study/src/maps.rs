//! The maps that were found before the chains started: their file, and what to say about them.

use crate::error::Error;
use crate::folder::maps_path;
use crate::write;
use rflvm::linalg::Mat;
use rflvm::run::maps::{Found, Maps, is_tied};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs;
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
}

/// Writes the maps, the chosen one first; nothing if there was no search.
pub fn write(dir: &Path, maps: &Maps) -> Result<(), Error> {
    if maps.found.is_empty() {
        return Ok(());
    }
    let stored = |found: &Found| Stored {
        start: found.start.clone(),
        log_evidence: found.evidence,
        error: found.error,
        continuity: found.continuity,
        trustworthiness: found.trustworthiness,
        positions: found.positions.iter_rows().map(<[f64]>::to_vec).collect(),
    };
    let all: Vec<Stored> = maps.found.iter().map(stored).collect();
    write::text(&maps_path(dir), &format!("{}\n", json!(all)))
}

/// Reads them; none if there was no search, or the file cannot be read: it only informs.
pub fn read(dir: &Path) -> Vec<Found> {
    let Ok(text) = fs::read_to_string(maps_path(dir)) else { return Vec::new() };
    let Ok(stored) = serde_json::from_str::<Vec<Stored>>(&text) else { return Vec::new() };
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
        })
    };
    stored.into_iter().filter_map(found).collect()
}

/// Whether the data prefer the sampled map, in words; `None` if there was no search.
pub fn words(found: &[Found]) -> Option<String> {
    let (chosen, others) = found.split_first()?;
    let tied = others.iter().filter(|other| is_tied(chosen, other)).count();
    let better = others.iter().filter(|other| !is_tied(chosen, other) && other.evidence > chosen.evidence).count();
    let map = |n: usize| if n == 1 { "1 other map".to_string() } else { format!("{n} other maps") };
    Some(match (others.len(), tied, better) {
        (0, ..) => "all initialisations led to the same map".into(),
        (_, _, 1..) => format!(
            "several maps fit: {} with more evidence scatters rows that are neighbours in the table, so the chains sample one that does not",
            map(better)
        ),
        (_, 0, 0) => "the data prefer the sampled map to the others that were found".into(),
        _ => format!(
            "several maps fit: the data do not tell the sampled map from {}; it was chosen because it tears least",
            map(tied)
        ),
    })
}

/// A line per map, the sampled one first.
pub fn lines(found: &[Found]) -> Vec<String> {
    let line = |(i, found): (usize, &Found)| {
        let sampled = if i == 0 { ", sampled" } else { "" };
        format!(
            "map {}: log evidence {:.0} ± {:.0}, continuity {:.3}, from {}{sampled}",
            i + 1,
            found.evidence,
            found.error,
            found.continuity,
            found.start
        )
    };
    found.iter().enumerate().map(line).collect()
}

/// As JSON, without the positions.
pub fn as_json(found: &[Found]) -> Value {
    let one = |found: &Found| {
        json!({
            "start": found.start, "log_evidence": found.evidence, "error": found.error, "continuity": found.continuity,
            "trustworthiness": found.trustworthiness,
        })
    };
    json!({ "found": found.iter().map(one).collect::<Vec<_>>(), "words": words(found) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(evidence: f64, continuity: f64) -> Found {
        let positions = Mat::zeros(2, 1);
        Found { start: "here".into(), evidence, error: 10.0, continuity, trustworthiness: 1.0, positions }
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
}
