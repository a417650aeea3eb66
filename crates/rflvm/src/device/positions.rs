//! X: all rows take an elliptical slice side by side, with the streams of [`crate::steps::positions`].

use super::{Device, check, refresh};
use crate::dist::normal;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::model::{Model, State};
use crate::par;
use crate::rng::{Stream, StreamRng};
use crate::slice::Ellipse;
use crate::steps::SweepInfo;

/// One row's slice.
struct Slice {
    rng: StreamRng,
    ellipse: Ellipse,
    auxiliary: Vec<f64>,
    tries: u32,
}

impl Slice {
    fn candidate(&self, x: &[f64], to: &mut [f64]) {
        let (cos, sin) = self.ellipse.candidate();
        to.iter_mut().zip(x).zip(&self.auxiliary).for_each(|((to, x), nu)| *to = cos * x + sin * nu);
    }
}

/// Moves all rows.
pub fn update(
    device: &mut dyn Device,
    model: &Model,
    state: &mut State,
    stream: Stream,
    info: &mut SweepInfo,
) -> Result<(), NumericalError> {
    let (rows, dim) = (model.rows(), model.latent_dim());
    let mut values = vec![0.0; rows];
    device.ln_lik_rows(&mut values);
    check(device)?;
    if let Some(n) = values.iter().position(|value| !value.is_finite()) {
        let place = format!("row {}", n + 1);
        return Err(NumericalError::NotFinite { step: "positions", value: values[n], place });
    }
    let begin = |(n, current): (usize, &f64)| {
        let mut rng = stream.at(n as u64).rng();
        let auxiliary = (0..dim).map(|_| normal(&mut rng)).collect();
        let ellipse = Ellipse::new(&mut rng, *current);
        Slice { rng, ellipse, auxiliary, tries: 0 }
    };
    let mut slices: Vec<Slice> = par::collect(values.iter().enumerate(), 1024, begin);
    let mut x: Mat = state.features.x().clone();
    let mut open: Vec<u32> = (0..rows as u32).collect();
    let mut candidates = vec![0.0; rows * dim];
    while !open.is_empty() {
        let from = state.features.x();
        candidates.truncate(open.len() * dim);
        par::for_each(candidates.chunks_mut(dim).zip(&open), 1024, |(to, &n)| {
            slices[n as usize].candidate(from.row(n as usize), to);
        });
        values.truncate(open.len());
        device.ln_lik_rows_at(&open, &candidates, &mut values);
        let mut left = Vec::new();
        for (i, &n) in open.iter().enumerate() {
            let slice = &mut slices[n as usize];
            match slice.ellipse.judge(&mut slice.rng, values[i]) {
                None => left.push(n),
                Some(landing) => {
                    slice.tries = landing.tries;
                    if landing.sin != 0.0 {
                        x.row_mut(n as usize).copy_from_slice(&candidates[i * dim..][..dim]);
                    }
                }
            }
        }
        open = left;
    }
    let w = state.features.w().clone();
    state.features.set(x.as_slice(), w.as_slice());
    refresh(device, state);
    info.position_tries = slices.iter().map(|slice| f64::from(slice.tries)).sum::<f64>() / rows as f64;
    check(device)
}
