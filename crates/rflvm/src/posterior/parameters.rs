//! The parameters of stored draws, one draw at a time: everything that determines the likelihood of any row, old or new.

use super::array::array;
use super::column_process::StoredPaths;
use crate::draws::{Cursor, Source, parameter_name};
use crate::error::{RunError, StoreError};
use crate::linalg::Mat;
use crate::model::family::Theta;
use crate::model::features::Features;
use crate::model::latent::Axis;
use crate::model::plain::Plain;
use crate::model::{ColumnProcess, Known, Model, State, predictor};

/// One draw.
#[derive(Debug, Clone)]
pub struct Parameters {
    /// X, N×D.
    pub x: Mat,
    /// W, L×D.
    pub w: Mat,
    /// s of the linear part; zero without one.
    pub s: f64,
    /// β, one row per column of H, intercepts in the last row.
    pub beta: Mat,
    /// θ of each block; hyperparameters are left empty, since no likelihood needs them.
    pub theta: Vec<Theta>,
    /// Hyperparameters of the paths, one per axis; empty if rows have no times.
    pub axes: Vec<Axis>,
    /// Column processes; empty where they have none.
    pub column_process: ColumnProcess,
}

impl Parameters {
    /// F = o + Hβ at some positions, one per row, with their offsets and covariates (in units of their prior).
    pub fn f(&self, x: Mat, offset: &[f64], covariates: Mat) -> Mat {
        self.f_with(x, (offset, covariates), &Mat::default())
    }

    /// F = o + Hβ + G: with column processes too (an empty table for none).
    pub fn f_with(&self, x: Mat, (offset, covariates): (&[f64], Mat), own: &Mat) -> Mat {
        let mut f = Mat::zeros(x.rows(), self.beta.cols());
        let features = Features::with(x, self.w.clone(), Plain::new(covariates, self.s));
        predictor(features.h(), self.beta.view(), Known::new(offset, own), &mut f);
        f
    }

    /// F of some rows of the table.
    pub fn f_of_rows(&self, model: &Model, rows: &[usize]) -> Mat {
        let covariates = model.covariates();
        self.f_of_rows_with(model, rows, Mat::from_fn(rows.len(), covariates.cols(), |i, c| covariates[(rows[i], c)]))
    }

    /// The same with other covariates than their own.
    pub fn f_of_rows_with(&self, model: &Model, rows: &[usize], covariates: Mat) -> Mat {
        let x = Mat::from_fn(rows.len(), self.x.cols(), |i, d| self.x[(rows[i], d)]);
        let offset: Vec<f64> = rows.iter().map(|&n| model.offset()[n]).collect();
        let g = &self.column_process.g;
        let own = Mat::from_fn(rows.len().min(g.rows()), g.cols(), |i, j| g[(rows[i], j)]);
        self.f_with(x, (&offset, covariates), &own)
    }
}

impl From<&State> for Parameters {
    fn from(state: &State) -> Self {
        Parameters {
            x: state.features.x().clone(),
            w: state.features.w().clone(),
            s: state.features.plain().s(),
            beta: state.beta.clone(),
            theta: state.theta.clone(),
            axes: state.axes.clone(),
            column_process: state.column_process.clone(),
        }
    }
}

/// Reader of stored draws; one chunk of each array is held at a time.
#[derive(Debug)]
pub struct Stored<'a> {
    model: &'a Model,
    x: Box<dyn Cursor + 'a>,
    w: Box<dyn Cursor + 'a>,
    s: Option<Box<dyn Cursor + 'a>>,
    beta: Box<dyn Cursor + 'a>,
    theta: Vec<Vec<Box<dyn Cursor + 'a>>>,
    axes: Option<[Box<dyn Cursor + 'a>; 2]>,
    own: Option<StoredPaths<'a>>,
}

impl<'a> Stored<'a> {
    /// The draws of a store, which must belong to this model and hold W, β and θ.
    pub fn open(store: &'a dyn Source, model: &'a Model) -> Result<Self, RunError> {
        if !store.is_of(model)? {
            return Err(store.foreign().into());
        }
        let (n, j, d, l) = (model.rows(), model.columns(), model.latent_dim(), model.frequencies());
        let theta = |block: usize| {
            let b = &model.blocks()[block];
            let array = |name| array(store, &parameter_name(model, block, name), "theta", &[b.columns.len()]);
            b.family.parameters().into_iter().map(array).collect::<Result<Vec<_>, _>>()
        };
        Ok(Stored {
            model,
            x: array(store, "x", "x", &[n, d])?,
            w: array(store, "w", "w", &[l, d])?,
            s: model.has_linear().then(|| array(store, "linear_scale", "linear_scale", &[])).transpose()?,
            beta: array(store, "beta", "beta", &[model.width(), j])?,
            theta: (0..model.blocks().len()).map(theta).collect::<Result<Vec<_>, _>>()?,
            axes: match model.dynamics() {
                None => None,
                Some(_) => Some([
                    array(store, "length_scale", "length_scale", &[d])?,
                    array(store, "noise_share", "noise_share", &[d])?,
                ]),
            },
            own: StoredPaths::open(store, model)?,
        })
    }

    /// One draw of a chain; both are counted from 0.
    pub fn at(&mut self, chain: usize, draw: usize) -> Result<Parameters, StoreError> {
        let (n, j, d, l) = (self.model.rows(), self.model.columns(), self.model.latent_dim(), self.model.frequencies());
        let mut theta = Vec::with_capacity(self.theta.len());
        for (block, parameters) in self.model.blocks().iter().zip(&mut self.theta) {
            let mut values = Mat::zeros(parameters.len(), block.columns.len());
            for (i, parameter) in parameters.iter_mut().enumerate() {
                values.row_mut(i).copy_from_slice(parameter.at(chain, draw)?);
            }
            theta.push(Theta { values, hyper: Vec::new() });
        }
        let mut axes = Vec::new();
        if let (Some([length_scale, noise]), Some(dynamics)) = (&mut self.axes, self.model.dynamics()) {
            let pairs = length_scale.at(chain, draw)?.iter().zip(noise.at(chain, draw)?);
            axes.extend(pairs.map(|(l, &noise)| Axis { length_scale: l / dynamics.span(), noise }));
        }
        let mut parameters = Parameters {
            axes,
            x: Mat::from_vec(n, d, self.x.at(chain, draw)?.to_vec()),
            w: Mat::from_vec(l, d, self.w.at(chain, draw)?.to_vec()),
            s: self.s.as_mut().map(|s| s.at(chain, draw).map(|s| s[0])).transpose()?.unwrap_or(0.0),
            beta: Mat::from_vec(self.model.width(), j, self.beta.at(chain, draw)?.to_vec()),
            theta,
            column_process: ColumnProcess::default(),
        };
        if let Some(own) = &mut self.own {
            let fitted = || parameters.f(parameters.x.clone(), self.model.offset(), self.model.covariates().clone());
            parameters.column_process = own.at(self.model, fitted, &parameters.theta, (chain, draw))?;
        }
        Ok(parameters)
    }
}

/// Chain and index of at most `most` draws, evenly spaced over all draws of the chains in `used`.
pub fn evenly(used: &[usize], draws: usize, most: usize) -> Vec<(usize, usize)> {
    let all = used.len() * draws;
    let count = most.min(all);
    // The middle of each of `count` equal intervals.
    let place = |i: usize| (2 * i + 1) * all / (2 * count);
    (0..count).map(place).map(|at| (used[at / draws], at % draws)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visited_draws_are_spread_over_the_chains_that_are_used() {
        assert_eq!(evenly(&[0, 2], 3, 10), [(0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)]);
        assert_eq!(evenly(&[0, 2], 4, 4), [(0, 1), (0, 3), (2, 1), (2, 3)]);
        assert_eq!(evenly(&[1], 5, 1), [(1, 2)]);
        assert_eq!(evenly(&[], 5, 3), []);
        assert_eq!(evenly(&[0], 0, 3), []);
    }
}
