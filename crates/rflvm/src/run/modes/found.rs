//! A mode that was found, and the rule by which one of several is chosen.

use crate::linalg::Mat;
use crate::run::exchange_state::Replaced;
use serde::{Deserialize, Serialize};

/// A mode whose continuity is this far below the best one's scatters neighbours: it leaves an axis unused, say, along which rows lie at
/// random. It may have more evidence, but shows less of the table; it is reported, not chosen.
const SCATTERED: f64 = 0.05;
/// Evidences closer than this many standard errors of their difference cannot be distinguished.
const APART: f64 = 2.0;

/// A mode that was found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// The start that led to it.
    pub start: String,
    /// ln p(Y) of its neighbourhood, up to a constant that is the same for all modes of a table.
    pub evidence: f64,
    /// Standard error of the evidence.
    pub error: f64,
    /// How well neighbours in the table are neighbours in the mode, from 0 to 1.
    pub continuity: f64,
    /// How well neighbours in the mode are neighbours in the table, from 0 to 1.
    pub trustworthiness: f64,
    /// Mean positions over its burst, in the axes of one draw.
    pub positions: Mat,
    /// The chains that sample it, counted from 0; none for a mode that is only reported.
    pub chains: Vec<usize>,
    /// Those of them that continued from the state of another during warm-up.
    pub replaced: Vec<Replaced>,
}

/// Whether evidence cannot tell two modes apart.
pub fn is_tied(a: &Found, b: &Found) -> bool {
    (a.evidence - b.evidence).abs() <= APART * a.error.hypot(b.error)
}

/// Puts the chosen mode first; the others follow by evidence.
pub(super) fn by_rule(found: &mut [(Found, usize)]) {
    found.sort_by(|a, b| b.0.evidence.total_cmp(&a.0.evidence));
    let most = found.iter().map(|(f, _)| f.continuity).fold(0.0, f64::max);
    let whole: Vec<usize> = (0..found.len()).filter(|&i| found[i].0.continuity >= most - SCATTERED).collect();
    let Some(&best) = whole.first() else { return };
    let peers = whole.into_iter().filter(|&i| is_tied(&found[best].0, &found[i].0));
    let chosen = peers.max_by(|&a, &b| found[a].0.continuity.total_cmp(&found[b].0.continuity)).unwrap_or(best);
    found[..=chosen].rotate_right(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(evidence: f64, error: f64, continuity: f64) -> Found {
        let positions = Mat::zeros(2, 1);
        let (start, chains, replaced) = (String::new(), Vec::new(), Vec::new());
        Found { start, evidence, error, continuity, trustworthiness: 1.0, positions, chains, replaced }
    }

    fn order(modes: &[(f64, f64, f64)]) -> Vec<usize> {
        let mut all: Vec<(Found, usize)> = modes.iter().map(|&(e, s, c)| found(e, s, c)).zip(0..).collect();
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
