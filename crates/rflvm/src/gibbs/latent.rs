//! X, independent rows: x_n ~ N(0, I) times Π_j p(y_nj | f_nj). Given W, β and θ the rows do not see each other, so all
//! of them take an elliptical slice step in parallel, each with a stream of its own.

use super::SweepInfo;
use crate::dist::normals;
use crate::error::NumericalError;
use crate::kernels;
use crate::model::features::{Turned, fill_row};
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::slice;
use rayon::prelude::*;

/// Moves all rows.
pub fn update(model: &Model, state: &mut State, stream: Stream, info: &mut SweepInfo) -> Result<(), NumericalError> {
    let (beta, theta, columns) = (&state.beta, &state.theta, model.columns());
    let (rows, w) = state.features.rows_mut();
    let turned = Turned::new(w);
    let scratch = || (vec![0.0; w.rows()], vec![0.0; beta.rows()], vec![0.0; columns]);
    let step = |(argument, h, f): &mut (Vec<f64>, Vec<f64>, Vec<f64>),
                n: usize,
                x: &mut [f64],
                at: (&mut [f64], &mut [f64])| {
        let rng = &mut stream.at(n as u64).rng();
        let current = model.log_lik_row(theta, n, at.1);
        if !current.is_finite() {
            let place = format!("row {}", n + 1);
            return Err(NumericalError::NotFinite { step: "positions", value: current, place });
        }
        let auxiliary = normals(x.len(), rng);
        let candidate =
            |cos: f64, sin: f64| -> Vec<f64> { x.iter().zip(&auxiliary).map(|(x, nu)| cos * x + sin * nu).collect() };
        let landing = slice::elliptical(rng, current, |cos, sin| {
            fill_row(&candidate(cos, sin), &turned, argument, h);
            f.fill(model.offset()[n]);
            kernels::vecmat(h, beta.as_slice(), f);
            model.log_lik_row(theta, n, f)
        });
        if landing.sin != 0.0 {
            // The candidate priced last is the one that was taken.
            x.copy_from_slice(&candidate(landing.cos, landing.sin));
            at.0.copy_from_slice(h);
            at.1.copy_from_slice(f);
        }
        Ok(landing.tries)
    };
    let tries: Result<Vec<u32>, NumericalError> = rows
        .zip(state.f.as_mut_slice().par_chunks_mut(columns))
        .enumerate()
        .with_min_len(crate::par::chunk_rows(model.rows(), 10 * columns))
        .map_init(scratch, |scratch, (n, (row, f))| step(scratch, n, row.x, (row.h, f)))
        .collect();
    info.position_tries = tries?.into_iter().sum::<u32>().into();
    info.position_tries /= model.rows() as f64;
    Ok(())
}

/// ln p(x_n' | rest) − ln p(x_n | rest): what the slice is taken on, prior included. For identity tests.
pub fn ln_ratio(model: &Model, state: &State, n: usize, x: &[f64]) -> f64 {
    let w = state.features.w();
    let (mut argument, mut h) = (vec![0.0; w.rows()], vec![0.0; state.beta.rows()]);
    fill_row(x, &Turned::new(w), &mut argument, &mut h);
    let mut f = vec![model.offset()[n]; model.columns()];
    kernels::vecmat(&h, state.beta.as_slice(), &mut f);
    let square = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
    model.log_lik_row(&state.theta, n, &f) - model.log_lik_row(&state.theta, n, state.f.row(n)) - 0.5 * square(x)
        + 0.5 * square(state.features.x().row(n))
}
