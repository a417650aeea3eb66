//! What the positions leave unexplained and another axis would explain.
//!
//! A factor is fitted to the residuals y − E[y | X, W, β] of nine tenths of the observed cells, and predicts the others. If it predicts
//! well, columns share something that the positions have no axis for. Column processes are left out of E, because cells without neighbours
//! in time can be predicted from other columns only through the positions.

use super::fitted::Fitted;
use super::parameters::Stored;
use crate::dist::normals;
use crate::error::RunError;
use crate::linalg::Mat;
use crate::rng::Stream;
use rand::RngExt;

/// Most cells that are looked at, in rows evenly spaced over the table.
const CELLS: usize = 200_000;
/// Draws over which E is averaged.
const DRAWS: usize = 20;
/// Rounds of alternating least squares.
const ROUNDS: usize = 30;
/// Residuals beyond as many standard deviations are cut: a few outlying cells say nothing about an axis.
const OUTLYING: f64 = 5.0;
/// An axis that explains less than this of what is left is not worth mentioning.
const WORTH: f64 = 0.1;

/// How much of the variance of the residuals another axis would explain, in cells that it has not seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leftover {
    /// The share; negative if the factor predicts worse than zero.
    pub share: f64,
    /// Its standard error.
    pub error: f64,
}

impl Leftover {
    /// Whether a larger latent dimension would clearly predict missing cells better.
    pub fn is_worth_an_axis(&self) -> bool {
        self.share - 2.0 * self.error > WORTH
    }
}

impl Fitted<'_> {
    /// Of the observed cells; `None` if there are too few of them to tell.
    pub fn leftover(&self) -> Result<Option<Leftover>, RunError> {
        let seen: Vec<usize> = (0..self.model.rows()).filter(|&n| self.model.observed(n) > 0).collect();
        let count = seen.len().min((CELLS / self.model.columns()).max(1));
        let rows: Vec<usize> = (0..count).map(|i| seen[(2 * i + 1) * seen.len() / (2 * count)]).collect();
        Ok(of(&standardised(self.residuals(&rows)?), self.stream))
    }

    /// y − E[y | X, W, β] of these rows, NaN where missing.
    fn residuals(&self, rows: &[usize]) -> Result<Mat, RunError> {
        let (model, visited) = (self.model, self.visited_in_map(DRAWS)?);
        let mut stored = Stored::open(self.store, model)?;
        let mut r = Mat::from_fn(rows.len(), model.columns(), |i, j| model.y()[(rows[i], j)]);
        let mut mean = vec![0.0; model.columns()];
        for &(chain, draw) in &visited {
            let mut parameters = stored.at(chain, draw)?;
            parameters.column_process.g = Mat::default();
            let f = parameters.f_of_rows(model, rows);
            for (i, &n) in rows.iter().enumerate() {
                for (block, theta) in model.blocks().iter().zip(&parameters.theta) {
                    let columns = block.columns.clone();
                    let row = model.row(block, n, theta);
                    block.family.mean(row, &f.row(i)[columns.clone()], &mut mean[columns]);
                }
                r.row_mut(i).iter_mut().zip(&mean).for_each(|(r, mean)| *r -= mean / visited.len() as f64);
            }
        }
        Ok(r)
    }
}

/// Each column with mean 0 and variance 1, outlying cells cut; constant columns are zero.
fn standardised(mut r: Mat) -> Mat {
    for j in 0..r.cols() {
        let seen: Vec<f64> = r.col(j).into_iter().filter(|v| v.is_finite()).collect();
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        let sd = (seen.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / seen.len() as f64).sqrt();
        let scale = if sd > 0.0 { sd.recip() } else { 0.0 };
        for n in 0..r.rows() {
            r[(n, j)] = ((r[(n, j)] - mean) * scale).clamp(-OUTLYING, OUTLYING);
        }
    }
    r
}

/// The same, of standardised residuals.
fn of(r: &Mat, stream: Stream) -> Option<Leftover> {
    let rng = &mut stream.rng();
    // Cells that the factor sees; the others judge it.
    let mut shown = r.clone();
    shown.as_mut_slice().iter_mut().filter(|_| rng.random::<f64>() < 0.1).for_each(|cell| *cell = f64::NAN);
    let flipped = Mat::from_fn(r.cols(), r.rows(), |j, n| shown[(n, j)]);
    let mut v = normals(r.cols(), rng);
    let mut u = Vec::new();
    for _ in 0..ROUNDS {
        u = regressed(&shown, &v);
        v = regressed(&flipped, &u);
    }
    let mut gains = Vec::new();
    let mut square = 0.0;
    for n in 0..r.rows() {
        for j in 0..r.cols() {
            let y = r[(n, j)];
            if !y.is_nan() && shown[(n, j)].is_nan() {
                gains.push(y * y - (y - u[n] * v[j]).powi(2));
                square += y * y;
            }
        }
    }
    let count = gains.len() as f64;
    if count < 30.0 || square == 0.0 {
        return None;
    }
    let mean = gains.iter().sum::<f64>() / count;
    let variance = gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let unit = square / count;
    Some(Leftover { share: mean / unit, error: (variance / count).sqrt() / unit })
}

/// The coefficient of each row on `v`, under a standard normal prior and unit noise.
fn regressed(r: &Mat, v: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| {
        let seen = row.iter().zip(v).filter(|(y, _)| !y.is_nan());
        let (top, bottom) = seen.fold((0.0, 1.0), |(top, bottom), (y, v)| (top + y * v, bottom + v * v));
        top / bottom
    };
    r.iter_rows().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Kept;
    use crate::model::family::{Family, Gaussian};
    use crate::model::{Model, ModelSpec};
    use crate::observations::Observations;
    use crate::posterior::tests::fixture;
    use std::sync::Arc;

    /// Two factors in eight columns, with noise and holes.
    fn table() -> Mat {
        let rng = &mut Stream::new(5).rng();
        let (u, v, e) = (normals(160, rng), normals(16, rng), normals(640, rng));
        Mat::from_fn(80, 8, |n, j| {
            let f = u[2 * n] * v[2 * j] + u[2 * n + 1] * v[2 * j + 1];
            if (3 * n + j) % 11 == 0 { f64::NAN } else { 5.0 + f + 0.2 * e[8 * n + j] }
        })
    }

    #[test]
    fn an_axis_that_is_missing_is_noticed() {
        for (dim, wanted) in [(1, true), (2, false)] {
            let spec = ModelSpec { latent_dim: dim, features: 20, ..ModelSpec::default() };
            let data = Observations::new(table()).unwrap();
            let columns: (Vec<usize>, Arc<dyn Family>) = ((0..8).collect(), Arc::new(Gaussian::default()));
            let model = Model::with_blocks(data, vec![columns], spec).unwrap();
            let path = fixture::fit(&model, &format!("leftover-{dim}"), &Kept::DEFAULT);
            let store = fixture::open(&path);
            let fitted = Fitted {
                store: &store,
                model: &model,
                used: &[0],
                modes: &[],
                is_pooled: false,
                stream: Stream::new(1),
            };
            let found = fitted.leftover().unwrap().unwrap();
            assert_eq!(found.is_worth_an_axis(), wanted, "D = {dim}: {found:?}");
            std::fs::remove_dir_all(path).unwrap();
        }
    }

    #[test]
    fn noise_is_worth_no_axis_and_a_factor_is() {
        let rng = &mut Stream::new(2).rng();
        let noise = Mat::from_vec(200, 6, normals(1200, rng));
        let found = of(&noise, Stream::new(3)).unwrap();
        assert!(!found.is_worth_an_axis() && found.share.abs() < 4.0 * found.error + 0.05, "{found:?}");
        let u = normals(200, rng);
        let factor = standardised(Mat::from_fn(200, 6, |n, j| u[n] + 0.5 * noise[(n, j)]));
        let found = of(&factor, Stream::new(3)).unwrap();
        // The share that a known factor explains is 0.8; that of five noisy columns less.
        assert!(found.is_worth_an_axis() && found.share > 0.5 && found.share < 0.8 + 2.0 * found.error, "{found:?}");
        assert_eq!(of(&Mat::zeros(50, 6), Stream::new(3)), None);
    }
}
