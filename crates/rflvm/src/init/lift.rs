//! A start from more axes than the model has. In two axes rows cannot pass each other and a folded map cannot unfold; in four they can. X and β are fitted
//! with extra axes, which are then shrunk to nothing during the fit.

use super::begin::blank;
use super::climb::{Climb, climb};
use crate::error::NumericalError;
use crate::linalg::{Mat, eigen};
use crate::model::Model;
use crate::rng::{Stream, StreamRng};
use crate::steps::amplitudes;
use crate::table::{Host, Table};

/// How wide the extra axes are, stage by stage, and the steps of the optimiser with which X and β follow.
const STAGES: [(f64, usize); 8] =
    [(1.0, 60), (0.7, 60), (0.5, 30), (0.35, 30), (0.25, 30), (0.15, 30), (0.08, 30), (0.03, 30)];
/// Steps for β alone, before X moves.
const SETTLING: usize = 40;

/// Positions that are reached from `x`, which has more columns than the model has axes.
pub(crate) fn lowered(model: &Model, x: Mat, stream: Stream, rng: &mut StreamRng) -> Result<Mat, NumericalError> {
    let (dim, wide, mut table) = (model.latent_dim(), model.with_latent_dim(x.cols()), Host::default());
    let mut state = blank(&wide, x, rng)?;
    table.load(&wide, &mut state);
    let whole = state.features.w().clone();
    for (stage, (width, steps)) in STAGES.into_iter().enumerate() {
        // The axes along which rows are spread most stay.
        let x = if stage == 1 { principal(state.features.x()) } else { state.features.x().clone() };
        // Positions of width s along an axis are those of unit width with frequencies of s.
        let mut w = whole.clone();
        (0..w.rows()).for_each(|l| w.row_mut(l)[dim..].iter_mut().for_each(|w| *w *= width));
        state.features.set(x.as_slice(), w.as_slice());
        table.reset(&wide, &mut state);
        let how = |positions: bool, iterations: usize| Climb {
            positions,
            frequencies: false,
            is_integrated: false,
            iterations,
            gain: 0.0,
        };
        if stage < 2 {
            climb(&mut table, &wide, &mut state, how(false, SETTLING))?;
        }
        climb(&mut table, &wide, &mut state, how(true, steps))?;
        let stream = stream.at(stage as u64);
        table.draw_parameters(&wide, &mut state, stream)?;
        amplitudes::update(&mut table, &wide, &mut state, stream.named("tau2"))?;
    }
    let x = state.features.x();
    Ok(Mat::from_fn(x.rows(), dim, |n, d| x[(n, d)]))
}

/// X in its principal axes, the widest first.
fn principal(x: &Mat) -> Mat {
    let (n, d) = (x.rows(), x.cols());
    let mean: Vec<f64> = (0..d).map(|k| (0..n).map(|i| x[(i, k)]).sum::<f64>() / n as f64).collect();
    let c = Mat::from_fn(d, d, |a, b| {
        (0..n).map(|i| (x[(i, a)] - mean[a]) * (x[(i, b)] - mean[b])).sum::<f64>() / n as f64
    });
    let Some(eigen) = eigen(&c) else { return x.clone() };
    let vectors = &eigen.vectors;
    Mat::from_fn(n, d, |i, k| (0..d).map(|a| x[(i, a)] * vectors[(a, d - 1 - k)]).sum())
}
