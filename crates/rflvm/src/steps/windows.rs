//! X along time: a row's own conditional is nearly a point mass if paths are smooth, so rows move in windows of consecutive times,
//! each by an elliptical slice about its exact conditional given the rest of the path. Window lengths are log-uniform,
//! from one row to all of them, and the windows of a sweep tile the sequence.

use super::SweepInfo;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::latent::{Paths, Window};
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::slice;
use crate::table::Table;
use rand::RngExt;
use std::ops::Range;

/// Moves all paths.
pub fn update(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    paths: &Paths<'_>,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let (mut tries, mut count) = (0.0, 0.0);
    for (s, rows) in paths.rows().enumerate() {
        let rng = &mut stream.at(s as u64).rng();
        for window in tiles(rows.len(), rng) {
            tries += f64::from(slide(table, model, state, (paths, s), rows, window, rng)?);
            count += 1.0;
        }
    }
    info.position_tries = tries / count;
    table.settle_windows(model, state);
    table.check()
}

/// Windows that tile `rows` rows.
fn tiles(rows: usize, rng: &mut StreamRng) -> Vec<Range<usize>> {
    let length = |rng: &mut StreamRng| ((rows as f64).ln() * rng.random::<f64>()).exp().round() as usize;
    let mut tiles = Vec::new();
    let mut start = 0;
    // The first window is cut at a random place, so that the ends of the sequence are not special.
    let longest = length(rng).max(1);
    let mut next = rng.random_range(1..=longest);
    while start < rows {
        let end = (start + next.max(1)).min(rows);
        tiles.push(start..end);
        start = end;
        next = length(rng);
    }
    tiles
}

/// One window; returns the number of candidates evaluated.
fn slide(
    table: &mut dyn Table,
    model: &Model,
    state: &mut State,
    (paths, s): (&Paths<'_>, usize),
    rows: &[usize],
    window: Range<usize>,
    rng: &mut StreamRng,
) -> Result<u32, NumericalError> {
    let (dim, own) = (model.latent_dim(), &rows[window.clone()]);
    let x = state.features.x();
    let given: Vec<Window> = (0..dim)
        .map(|d| {
            let path: Vec<f64> = rows.iter().map(|&n| x[(n, d)]).collect();
            paths.of_axis(d)[s].window(window.clone(), &path, rng)
        })
        .collect::<Result<_, _>>()?;
    let current = table.ln_lik_window(model, state, own);
    table.check()?;
    if !current.is_finite() {
        let place = format!("row {}", own[0] + 1);
        return Err(NumericalError::NotFinite { step: "positions", value: current, place });
    }
    let mut at = Mat::zeros(own.len(), dim);
    let landing = slice::elliptical(rng, current, |cos, sin| {
        for (i, &n) in own.iter().enumerate() {
            for (d, Window { mean, draw }) in given.iter().enumerate() {
                at[(i, d)] = mean[i] + cos * (x[(n, d)] - mean[i]) + sin * draw[i];
            }
        }
        table.ln_lik_window_at(model, state, own, &at)
    });
    if landing.sin != 0.0 {
        // The last evaluated candidate is the accepted one.
        table.set_window(state, own, &at);
    }
    Ok(landing.tries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_tile_the_rows_and_have_all_lengths() {
        let mut rng = Stream::new(3).rng();
        let mut lengths = [0; 65];
        for _ in 0..2000 {
            let tiles = tiles(64, &mut rng);
            assert_eq!(tiles.first().map(|t| t.start), Some(0));
            assert_eq!(tiles.last().map(|t| t.end), Some(64));
            tiles.windows(2).for_each(|pair| assert_eq!(pair[0].end, pair[1].start));
            tiles.iter().for_each(|tile| lengths[tile.len()] += 1);
        }
        assert!(lengths[1..].iter().filter(|&&count| count == 0).count() < 5, "{lengths:?}");
    }
}
