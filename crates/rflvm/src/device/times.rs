//! X along time, in the ways of [`crate::steps::windows`] and [`crate::steps::timescales`]: paths stay here, likelihoods of rows come from the device.

use super::{Device, check, refresh};
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::latent::{Paths, Window};
use crate::model::{Model, State};
use crate::rng::{Stream, StreamRng};
use crate::slice;
use crate::steps::timescales::{centred, whitened_by};
use crate::steps::windows::tiles;
use crate::steps::{Moves, SweepInfo};
use rand::RngExt;
use std::ops::Range;

/// Moves the scales of the paths, and X if it may move.
pub fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    paths: &mut Paths<'_>,
    moves: Moves,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    if moves.positions && stream.named("turn").rng().random() {
        whitened(device, model, state, paths, stream)?;
    } else {
        centred(state, paths, stream)?;
    }
    if moves.positions {
        windows(device, state, paths, stream.named("windows"), info)?;
    }
    Ok(())
}

/// Sets X, here and there.
fn set(device: &mut dyn Device, state: &mut State, x: &Mat) -> Result<(), NumericalError> {
    let w = state.features.w().clone();
    state.features.set(x.as_slice(), w.as_slice());
    refresh(device, state);
    check(device)
}

/// Σ of the log-likelihoods of some rows at `x`.
fn ln_lik(device: &mut dyn Device, rows: &[u32], x: &Mat) -> f64 {
    let mut values = vec![0.0; rows.len()];
    device.ln_lik_rows_at(rows, x.as_slice(), &mut values);
    values.iter().sum()
}

/// ℓ and ρ of one random axis, given the noise from which X is made.
fn whitened(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    paths: &mut Paths<'_>,
    stream: Stream,
) -> Result<(), NumericalError> {
    let current = device.ln_lik();
    check(device)?;
    let all: Vec<u32> = (0..model.rows() as u32).collect();
    let moved = whitened_by(state, paths, stream, current, |_, x| ln_lik(device, &all, x))?;
    match moved {
        Some(x) => set(device, state, &x),
        None => check(device),
    }
}

/// Moves all paths, window by window. H and F follow at the end: until then only likelihoods at given positions are asked for.
fn windows(
    device: &mut dyn Device,
    state: &mut State,
    paths: &Paths<'_>,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let mut x = state.features.x().clone();
    let (mut tries, mut count) = (0.0, 0.0);
    for (s, rows) in paths.rows().enumerate() {
        let rng = &mut stream.at(s as u64).rng();
        for window in tiles(rows.len(), rng) {
            tries += f64::from(slide(device, &mut x, paths, (s, rows), window, rng)?);
            count += 1.0;
        }
    }
    info.position_tries = tries / count;
    set(device, state, &x)
}

/// One window; returns the number of candidates evaluated.
fn slide(
    device: &mut dyn Device,
    x: &mut Mat,
    paths: &Paths<'_>,
    (s, rows): (usize, &[usize]),
    window: Range<usize>,
    rng: &mut StreamRng,
) -> Result<u32, NumericalError> {
    let (dim, own) = (x.cols(), &rows[window.clone()]);
    let given: Vec<Window> = (0..dim)
        .map(|d| {
            let path: Vec<f64> = rows.iter().map(|&n| x[(n, d)]).collect();
            paths.of_axis(d)[s].window(window.clone(), &path, rng)
        })
        .collect::<Result<_, _>>()?;
    let numbers: Vec<u32> = own.iter().map(|&n| n as u32).collect();
    let from = Mat::from_fn(own.len(), dim, |i, d| x[(own[i], d)]);
    let current = ln_lik(device, &numbers, &from);
    check(device)?;
    if !current.is_finite() {
        let place = format!("row {}", own[0] + 1);
        return Err(NumericalError::NotFinite { step: "positions", value: current, place });
    }
    let mut at = from.clone();
    let landing = slice::elliptical(rng, current, |cos, sin| {
        for (d, Window { mean, draw }) in given.iter().enumerate() {
            for i in 0..own.len() {
                at[(i, d)] = mean[i] + cos * (from[(i, d)] - mean[i]) + sin * draw[i];
            }
        }
        ln_lik(device, &numbers, &at)
    });
    if landing.sin != 0.0 {
        // The last evaluated candidate is the accepted one.
        own.iter().enumerate().for_each(|(i, &n)| x.row_mut(n).copy_from_slice(at.row(i)));
    }
    Ok(landing.tries)
}
