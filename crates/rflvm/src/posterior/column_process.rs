//! Column processes of stored draws, at the rows and at new times.
//!
//! Where all columns are Gaussian only the scales s_j and ℓ_j are stored, J numbers each, and the paths are drawn again here given
//! everything else, which is exact: a path given (X, W, β, σ², s, ℓ, Y) is Gaussian. Other families would need the variables that augment
//! their likelihood, or the path itself, so for them the path is stored, as large as the table.

use super::array::array;
use crate::draws::{Cursor, Source};
use crate::error::{RunError, StoreError};
use crate::linalg::Mat;
use crate::model::column_process::ColumnProcessPrior;
use crate::model::family::Theta;
use crate::model::latent::Seen;
use crate::model::{ColumnProcess, ColumnScales, Model};
use crate::par;
use crate::rng::Stream;

/// Reader of column processes.
#[derive(Debug)]
pub struct StoredPaths<'a> {
    share: Box<dyn Cursor + 'a>,
    length_scale: Box<dyn Cursor + 'a>,
    g: Option<Box<dyn Cursor + 'a>>,
}

impl<'a> StoredPaths<'a> {
    /// Those of a store, if the model has any.
    pub fn open(store: &'a dyn Source, model: &'a Model) -> Result<Option<Self>, RunError> {
        let (n, j) = (model.rows(), model.columns());
        if model.column_process().is_none() {
            return Ok(None);
        }
        let array = |name: &str, shape: &[usize]| array(store, name, name, shape);
        Ok(Some(StoredPaths {
            share: array("column_process_scale", &[j])?,
            length_scale: array("column_process_length_scale", &[j])?,
            g: if model.stores_column_process() { Some(array("column_process", &[n, j])?) } else { None },
        }))
    }

    /// Those of one draw of a chain, given its θ and o + Hβ.
    pub fn at(
        &mut self,
        model: &Model,
        fitted: impl FnOnce() -> Mat,
        theta: &[Theta],
        (chain, draw): (usize, usize),
    ) -> Result<ColumnProcess, StoreError> {
        let Some(law) = model.column_process() else { return Ok(ColumnProcess::default()) };
        let span = law.dynamics().span();
        let pairs = self.share.at(chain, draw)?.iter().zip(self.length_scale.at(chain, draw)?);
        let scale = |(s, l): (&f64, &f64)| ColumnScales { share: s * s, length_scale: l / span };
        let scales: Vec<ColumnScales> = pairs.map(scale).collect();
        let g = match &mut self.g {
            Some(stored) => Mat::from_vec(model.rows(), model.columns(), stored.at(chain, draw)?.to_vec()),
            None => {
                let stream = Stream::new(0).named("own paths").at(chain as u64).at(draw as u64);
                again(&law, model, &fitted(), theta, &scales, stream)
            }
        };
        Ok(ColumnProcess { g, scales })
    }
}

/// The paths of Gaussian columns given everything else.
fn again(
    law: &ColumnProcessPrior<'_>,
    model: &Model,
    f: &Mat,
    theta: &[Theta],
    scales: &[ColumnScales],
    stream: Stream,
) -> Mat {
    let drawn = par::map(scales.len(), 500 * model.rows() * scales.len(), |j| {
        with_seen(law, model, f, theta, scales, j, |seen, r| seen.draw(r, &mut stream.at(j as u64).rng()))
    });
    Mat::from_fn(model.rows(), scales.len(), |n, j| drawn[j][n])
}

/// Mean of F = o + Hβ + G and variance of G given o + Hβ, θ and the scales, where all columns are Gaussian and have column processes. Variances are
/// those of missing cells; observed ones lack the millionth of white noise.
pub fn smoothed(
    model: &Model,
    fitted: impl FnOnce() -> Mat,
    theta: &[Theta],
    scales: &[ColumnScales],
) -> Option<(Mat, Mat)> {
    let law = model.column_process().filter(|_| !model.stores_column_process())?;
    let f = fitted();
    let each = par::map(scales.len(), 500 * model.rows() * scales.len(), |j| {
        with_seen(&law, model, &f, theta, scales, j, |seen, r| (seen.expected(r), seen.variances()))
    });
    let mean = Mat::from_fn(model.rows(), scales.len(), |n, j| f[(n, j)] + each[j].0[n]);
    Some((mean, Mat::from_fn(model.rows(), scales.len(), |n, j| each[j].1[n])))
}

/// Passes a Gaussian column process, as its observed cells show it, and y − f to `answer`.
fn with_seen<T>(
    law: &ColumnProcessPrior<'_>,
    model: &Model,
    f: &Mat,
    theta: &[Theta],
    scales: &[ColumnScales],
    j: usize,
    answer: impl FnOnce(&Seen<'_>, &[f64]) -> T,
) -> T {
    let (own, y) = (&scales[j], model.y().col(j));
    let noise = model.weight_scale(theta, j).recip();
    let variance: Vec<f64> = y.iter().map(|y| if y.is_nan() { f64::INFINITY } else { noise }).collect();
    let r: Vec<f64> = (0..y.len()).map(|n| if y[n].is_nan() { 0.0 } else { y[n] - f[(n, j)] }).collect();
    let path = law.path(own.length_scale);
    answer(&path.through(own.amplitude(&model.units()[j]), &variance), &r)
}

/// A draw of column processes at each of some rows given those at all other rows, as if the row had not been seen: rows × columns, all
/// of the model's rows; empty where columns have none.
pub fn elsewhere(model: &Model, column_process: &ColumnProcess, rows: &[usize], stream: Stream) -> Mat {
    let Some(law) = model.column_process() else { return Mat::default() };
    let free: Vec<usize> = (0..model.columns()).filter(|&j| model.is_free(j)).collect();
    let drawn = par::map(free.len(), 500 * model.rows() * rows.len() * free.len(), |i| {
        let (j, own) = (free[i], &column_process.scales[free[i]]);
        let (path, g) = (law.path(own.length_scale), column_process.g.col(j));
        let amplitude = own.amplitude(&model.units()[j]);
        let of = |&n: &usize| path.without(amplitude, &g, n, &mut stream.at(n as u64).at(j as u64).rng());
        rows.iter().map(of).collect::<Vec<f64>>()
    });
    let mut all = Mat::zeros(model.rows(), model.columns());
    for (&j, drawn) in free.iter().zip(&drawn) {
        rows.iter().zip(drawn).for_each(|(&n, g)| all[(n, j)] = *g);
    }
    all
}

/// A draw of column processes at new times of one sequence, times × columns; empty where columns have none.
pub fn ahead(model: &Model, column_process: &ColumnProcess, sequence: usize, times: &[f64], stream: Stream) -> Mat {
    let Some(law) = model.column_process() else { return Mat::default() };
    let mut drawn = Mat::zeros(times.len(), model.columns());
    for j in (0..model.columns()).filter(|&j| model.is_free(j)) {
        let own = &column_process.scales[j];
        let scales = (own.amplitude(&model.units()[j]), own.length_scale);
        let stream = stream.at(j as u64);
        let g =
            law.dynamics().column_path_ahead(law.kernel(), scales, &column_process.g.col(j), sequence, times, stream);
        drawn.set_col(j, &g);
    }
    drawn
}
