//! Where to split the rows: origins spread over the last third of every sequence.

use crate::error::SpecError;
use crate::observations::Times;
use std::collections::BTreeMap;

/// Least number of rows of a sequence before an origin.
pub(super) const LEAST: usize = 5;
/// Largest number of origins.
const MOST: usize = 1000;

/// A row after an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// The row.
    pub row: usize,
    /// Its sequence.
    pub sequence: usize,
    /// Rows of its sequence from the origin, counted from 1.
    pub step: usize,
}

/// One split of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Rows before it, which are fitted, in the order of the table.
    pub train: Vec<usize>,
    /// Rows after it, which are forecast, by sequence and time. Rows further ahead belong to neither.
    pub test: Vec<Ahead>,
}

/// `count` origins, earliest first. Origin k hides the last b_k rows of every sequence, from the last third of its rows (or as many as
/// `count` different origins need) down to `horizon`, in equal steps; `horizon` of them are forecast. A sequence that is too short for
/// this is fitted as a whole and not scored.
pub fn origins(times: &Times, count: usize, horizon: usize) -> Result<Vec<Origin>, SpecError> {
    let wrong =
        |setting, value: usize, rule: String| Err(SpecError::Setting { setting, value: value.to_string(), rule });
    if !(1..=MOST).contains(&count) {
        return wrong("backtest", count, format!("the number of origins must be between 1 and {MOST}"));
    }
    if horizon == 0 {
        return wrong("horizon", horizon, "there is nothing to forecast; ask for at least one row".into());
    }
    let mut sequences: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    times.sequence.iter().enumerate().for_each(|(n, &s)| sequences.entry(s).or_default().push(n));
    sequences.values_mut().for_each(|rows| rows.sort_by(|&a, &b| times.at[a].total_cmp(&times.at[b])));
    let longest = sequences.values().map(Vec::len).max().unwrap_or(0);
    let room = longest.saturating_sub(LEAST);
    let of = if sequences.len() == 1 { "the table has" } else { "the longest sequence has" };
    if horizon > room {
        let remedy = if room == 0 {
            format!("at least {} are needed", LEAST + 1)
        } else {
            format!("with {LEAST} rows before the first origin at most {room} can be forecast")
        };
        return wrong("horizon", horizon, format!("{of} {longest} rows; {remedy}"));
    }
    let most = room + 1 - horizon;
    if count > most {
        let rule =
            format!("{of} {longest} rows, which have room for {most} origins before {horizon} rows; ask for fewer");
        return wrong("backtest", count, rule);
    }
    Ok((0..count).map(|k| origin(&sequences, k, count, horizon)).collect())
}

fn origin(sequences: &BTreeMap<usize, Vec<usize>>, k: usize, count: usize, horizon: usize) -> Origin {
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (&sequence, rows) in sequences {
        if rows.len() < LEAST + horizon + count - 1 {
            train.extend(rows);
            continue;
        }
        let most = (rows.len() / 3).max(horizon + count - 1).min(rows.len() - LEAST);
        let hidden = horizon + ((count - 1 - k) * (most - horizon)).div_ceil((count - 1).max(1));
        let (before, after) = rows.split_at(rows.len() - hidden);
        train.extend(before);
        test.extend(after.iter().take(horizon).zip(1..).map(|(&row, step)| Ahead { row, sequence, step }));
    }
    train.sort_unstable();
    Origin { train, test }
}
