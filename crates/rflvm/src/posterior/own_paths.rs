//! Columns' own paths of stored draws, at the rows and at new times.
//!
//! Where all columns are Gaussian only the scales s_j and ℓ_j are stored, J numbers each, and the paths are drawn again here given
//! everything else, which is exact: a path given (X, W, β, σ², s, ℓ, Y) is Gaussian. Other families would need the variables that augment
//! their likelihood, or the path itself, so for them the path is stored, as large as the table.

use super::array::array;
use super::parameters::Parameters;
use crate::draws::{Cursor, Source};
use crate::error::{RunError, StoreError};
use crate::linalg::Mat;
use crate::model::family::Theta;
use crate::model::latent::Seen;
use crate::model::residual::ResidualLaw;
use crate::model::{Model, Own, Residual};
use crate::par;
use crate::rng::Stream;

/// Reader of columns' own paths.
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
        if model.residual().is_none() {
            return Ok(None);
        }
        let array = |name: &str, shape: &[usize]| array(store, name, name, shape);
        Ok(Some(StoredPaths {
            share: array("residual_scale", &[j])?,
            length_scale: array("residual_length_scale", &[j])?,
            g: if model.stores_residual() { Some(array("residual", &[n, j])?) } else { None },
        }))
    }

    /// Those of one draw of a chain, given its θ and o + Hβ.
    pub fn at(
        &mut self,
        model: &Model,
        fitted: impl FnOnce() -> Mat,
        theta: &[Theta],
        (chain, draw): (usize, usize),
    ) -> Result<Residual, StoreError> {
        let Some(law) = model.residual() else { return Ok(Residual::default()) };
        let span = law.dynamics().span();
        let pairs = self.share.at(chain, draw)?.iter().zip(self.length_scale.at(chain, draw)?);
        let scale = |(s, l): (&f64, &f64)| Own { share: s * s, length_scale: l / span };
        let scales: Vec<Own> = pairs.map(scale).collect();
        let g = match &mut self.g {
            Some(stored) => Mat::from_vec(model.rows(), model.columns(), stored.at(chain, draw)?.to_vec()),
            None => {
                let stream = Stream::new(0).named("own paths").at(chain as u64).at(draw as u64);
                again(&law, model, &fitted(), theta, &scales, stream)
            }
        };
        Ok(Residual { g, scales })
    }
}

/// The paths of Gaussian columns given everything else.
fn again(law: &ResidualLaw<'_>, model: &Model, f: &Mat, theta: &[Theta], scales: &[Own], stream: Stream) -> Mat {
    let drawn = par::map(scales.len(), 500 * model.rows() * scales.len(), |j| {
        with_seen(law, model, f, theta, scales, j, |seen, r| seen.draw(r, &mut stream.at(j as u64).rng()))
    });
    Mat::from_fn(model.rows(), scales.len(), |n, j| drawn[j][n])
}

/// Mean of o + Hβ + G and variance of G given everything else, where all columns are Gaussian and have own paths. Variances are those of
/// missing cells; observed ones lack the millionth of white noise.
pub fn smoothed(model: &Model, parameters: &Parameters) -> Option<(Mat, Mat)> {
    let law = model.residual().filter(|_| !model.stores_residual())?;
    let f = parameters.f(parameters.x.clone(), model.offset(), model.covariates().clone());
    let (theta, scales) = (&parameters.theta, &parameters.residual.scales);
    let each = par::map(scales.len(), 500 * model.rows() * scales.len(), |j| {
        with_seen(&law, model, &f, theta, scales, j, |seen, r| (seen.expected(r), seen.variances()))
    });
    let mean = Mat::from_fn(model.rows(), scales.len(), |n, j| f[(n, j)] + each[j].0[n]);
    Some((mean, Mat::from_fn(model.rows(), scales.len(), |n, j| each[j].1[n])))
}

/// Passes a Gaussian column's own path, as its observed cells show it, and y − f to `answer`.
fn with_seen<T>(
    law: &ResidualLaw<'_>,
    model: &Model,
    f: &Mat,
    theta: &[Theta],
    scales: &[Own],
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

/// A draw of columns' own paths at each of some rows given those at all other rows, as if the row had not been seen: rows × columns, all
/// of the model's rows; empty where columns have none.
pub fn elsewhere(model: &Model, residual: &Residual, rows: &[usize], stream: Stream) -> Mat {
    let Some(law) = model.residual() else { return Mat::default() };
    let free: Vec<usize> = (0..model.columns()).filter(|&j| model.is_free(j)).collect();
    let drawn = par::map(free.len(), 500 * model.rows() * rows.len() * free.len(), |i| {
        let (j, own) = (free[i], &residual.scales[free[i]]);
        let (path, g) = (law.path(own.length_scale), residual.g.col(j));
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

/// A draw of columns' own paths at new times of one sequence, times × columns; empty where columns have none.
pub fn ahead(model: &Model, residual: &Residual, sequence: usize, times: &[f64], stream: Stream) -> Mat {
    let Some(law) = model.residual() else { return Mat::default() };
    let mut drawn = Mat::zeros(times.len(), model.columns());
    for j in (0..model.columns()).filter(|&j| model.is_free(j)) {
        let own = &residual.scales[j];
        let scales = (own.amplitude(&model.units()[j]), own.length_scale);
        let stream = stream.at(j as u64);
        let g = law.dynamics().own_ahead(law.kernel(), scales, &residual.g.col(j), sequence, times, stream);
        drawn.set_col(j, &g);
    }
    drawn
}
