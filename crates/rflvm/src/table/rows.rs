//! Elliptical slices of rows that do not depend on each other: one after the other, or a candidate of every row that has not landed at a time.
//! Each row has its own stream, so both make the same moves.

use super::Table;
use crate::dist::normal;
use crate::error::NumericalError;
use crate::model::features::RowsMut;
use crate::model::position::{Positions, Scratch};
use crate::model::{Model, State};
use crate::par;
use crate::rng::{Stream, StreamRng};
use crate::slice::{self, Ellipse};

/// One after the other, with H and F in the state. Returns the number of candidates.
pub(super) fn each(model: &Model, state: &mut State, stream: Stream) -> Result<u32, NumericalError> {
    let (columns, dim, width) = (model.columns(), model.latent_dim(), model.width());
    let together = par::chunk_rows(model.rows(), 40 * columns);
    let s = state.features.plain().s();
    let (pieces, w) = state.features.pieces_mut(together);
    let positions = Positions::new(model, &state.theta, &state.beta, (w, s));
    let step = |scratch: &mut Scratch, n: usize, x: &mut [f64], at: (&mut [f64], &mut [f64])| {
        let rng = &mut stream.at(n as u64).rng();
        let current = model.ln_lik_row(&state.theta, n, at.1);
        finite(n, current)?;
        let mut workspace = std::mem::take(&mut scratch.workspace);
        let landing = slice::standard(rng, x, current, &mut workspace, |x| positions.ln_lik(n, x, scratch));
        scratch.workspace = workspace;
        if landing.sin != 0.0 {
            at.0.copy_from_slice(&scratch.h);
            at.1.copy_from_slice(&scratch.f);
        }
        Ok(landing.tries)
    };
    let pieces = pieces.zip(state.f.as_mut_slice().chunks_mut(together * columns)).enumerate();
    let tries = par::collect(pieces, 1, |(c, (RowsMut { x, h }, f))| {
        let scratch = &mut positions.scratch();
        let rows = x.chunks_mut(dim).zip(h.chunks_mut(width)).zip(f.chunks_mut(columns)).enumerate();
        rows.map(|(i, ((x, h), f))| step(scratch, c * together + i, x, (h, f))).sum::<Result<u32, _>>()
    });
    tries.into_iter().sum()
}

fn finite(n: usize, value: f64) -> Result<(), NumericalError> {
    let place = || format!("row {}", n + 1);
    if value.is_finite() { Ok(()) } else { Err(NumericalError::NotFinite { step: "positions", value, place: place() }) }
}

/// One row's slice.
struct Slice {
    rng: StreamRng,
    ellipse: Ellipse,
    auxiliary: Vec<f64>,
}

impl Slice {
    fn candidate(&self, x: &[f64], to: &mut [f64]) {
        let (cos, sin) = self.ellipse.candidate();
        to.iter_mut().zip(x).zip(&self.auxiliary).for_each(|((to, x), nu)| *to = cos * x + sin * nu);
    }
}

/// A candidate of every row that has not landed at a time, wherever the table is. Returns the number of candidates.
pub(super) fn all(
    table: &mut impl Table,
    model: &Model,
    state: &mut State,
    stream: Stream,
) -> Result<u32, NumericalError> {
    let (rows, dim) = (model.rows(), model.latent_dim());
    let mut values = vec![0.0; rows];
    table.ln_lik_rows(model, state, &mut values);
    table.check()?;
    values.iter().enumerate().try_for_each(|(n, value)| finite(n, *value))?;
    let begin = |(n, current): (usize, &f64)| {
        let mut rng = stream.at(n as u64).rng();
        let auxiliary = (0..dim).map(|_| normal(&mut rng)).collect();
        let ellipse = Ellipse::new(&mut rng, *current);
        Slice { rng, ellipse, auxiliary }
    };
    let mut slices: Vec<Slice> = par::collect(values.iter().enumerate(), 1024, begin);
    let mut open: Vec<u32> = (0..rows as u32).collect();
    let (mut candidates, mut tries) = (vec![0.0; rows * dim], 0);
    let (mut landed, mut x) = (Vec::new(), Vec::new());
    while !open.is_empty() {
        let from = state.features.x();
        candidates.truncate(open.len() * dim);
        par::for_each(candidates.chunks_mut(dim).zip(&open), 1024, |(to, &n)| {
            slices[n as usize].candidate(from.row(n as usize), to);
        });
        values.truncate(open.len());
        table.ln_lik_rows_at(model, state, &open, &candidates, &mut values);
        tries += open.len() as u32;
        let mut left = Vec::new();
        for (i, &n) in open.iter().enumerate() {
            let slice = &mut slices[n as usize];
            match slice.ellipse.judge(&mut slice.rng, values[i]) {
                None => left.push(n),
                Some(landing) if landing.sin == 0.0 => {}
                Some(_) => {
                    landed.push(n);
                    x.extend_from_slice(&candidates[i * dim..][..dim]);
                }
            }
        }
        open = left;
    }
    table.set_rows(model, state, &landed, &x);
    table.check()?;
    Ok(tries)
}
