//! X, independent rows, where several processes share the columns: the same moves as in [`super::positions`], a candidate of every row that has
//! not landed at a time, so that processes exchange one number per row and round.

use super::SweepInfo;
use crate::chunks::Chunk;
use crate::dist::normal;
use crate::error::NumericalError;
use crate::model::position::{Positions, Scratch};
use crate::model::{Model, State};
use crate::par;
use crate::rng::{Stream, StreamRng};
use crate::slice::Ellipse;

/// One row on its way.
struct Walker {
    n: usize,
    rng: StreamRng,
    auxiliary: Vec<f64>,
    ellipse: Ellipse,
    candidate: Vec<f64>,
}

/// Moves all rows.
pub fn update(model: &Model, state: &mut State, stream: Stream, info: &mut SweepInfo) -> Result<(), NumericalError> {
    let current =
        row_sums(model, model.rows(), |n, chunk| model.ln_lik_cells(&state.theta, n, &chunk.columns, state.f.row(n)));
    if let Some(n) = current.iter().position(|ln| !ln.is_finite()) {
        let place = format!("row {}", n + 1);
        return Err(NumericalError::NotFinite { step: "positions", value: current[n], place });
    }
    let w = state.features.w().clone();
    let positions = Positions::new(model, &state.theta, &state.beta, (&w, state.features.plain().s()));
    let start = |n: usize| {
        let mut rng = stream.at(n as u64).rng();
        let auxiliary = state.features.x().row(n).iter().map(|_| normal(&mut rng)).collect();
        let ellipse = Ellipse::new(&mut rng, current[n]);
        Walker { n, rng, auxiliary, ellipse, candidate: state.features.x().row(n).to_vec() }
    };
    let mut walking: Vec<Walker> = (0..model.rows()).map(start).collect();
    let (mut landed, mut tries) = (Vec::new(), 0);
    while !walking.is_empty() {
        for walker in &mut walking {
            let (cos, sin) = walker.ellipse.candidate();
            let cells = walker.candidate.iter_mut().zip(state.features.x().row(walker.n)).zip(&walker.auxiliary);
            cells.for_each(|((to, x), nu)| *to = cos * x + sin * nu);
        }
        let ln_lik = row_sums_of(model, &positions, &walking);
        let mut next = Vec::with_capacity(walking.len());
        for (mut walker, ln_lik) in walking.into_iter().zip(ln_lik) {
            tries += 1;
            match walker.ellipse.judge(&mut walker.rng, ln_lik) {
                None => next.push(walker),
                Some(landing) if landing.sin == 0.0 => {}
                Some(_) => landed.push(walker),
            }
        }
        walking = next;
    }
    let found = par::map(landed.len(), 2 * landed.len() * model.width() * model.columns(), |i| {
        let mut scratch = positions.scratch();
        positions.place(landed[i].n, &landed[i].candidate, &mut scratch);
        (scratch.h, scratch.f)
    });
    for (walker, (h, f)) in landed.iter().zip(found) {
        state.features.set_row(walker.n, &walker.candidate, &h);
        state.f.row_mut(walker.n).copy_from_slice(&f);
    }
    info.position_tries = f64::from(tries) / model.rows() as f64;
    Ok(())
}

/// Σ over the columns of all processes of what `of_row` says of the i-th of some rows.
fn row_sums(model: &Model, rows: usize, of_row: impl Fn(usize, &Chunk) -> f64 + Sync) -> Vec<f64> {
    model.chunks().add(&mut model.chunks().own(), rows, |chunk, to| {
        par::rows([(to, 1)], 2 * chunk.columns.len(), |first, [to]| {
            to.iter_mut().enumerate().for_each(|(i, to)| *to = of_row(first + i, chunk));
            0.0
        });
    })
}

/// The likelihoods of the candidates.
fn row_sums_of(model: &Model, positions: &Positions<'_>, walking: &[Walker]) -> Vec<f64> {
    let mut own = model.chunks().own();
    let (count, chunks) = (walking.len(), own.len());
    let mut parts = vec![0.0; count * chunks];
    par::rows([(&mut parts[..], chunks)], 2 * model.width() * model.columns(), |first, [parts]| {
        let mut scratch: Scratch = positions.scratch();
        for (parts, walker) in parts.chunks_exact_mut(chunks).zip(&walking[first..]) {
            positions.place(walker.n, &walker.candidate, &mut scratch);
            let of_chunk = |chunk: &Chunk| positions.ln_lik_placed(walker.n, &chunk.columns, &scratch);
            parts.iter_mut().zip(&own).for_each(|(part, chunk)| *part = of_chunk(chunk));
        }
        0.0
    });
    let first = own[0].index;
    model.chunks().add(&mut own, count, |chunk, to| {
        to.iter_mut().zip(parts.chunks_exact(chunks)).for_each(|(to, parts)| *to = parts[chunk.index - first]);
    })
}
