//! The prior of all of X at given hyperparameters: a [`Path`] for each axis of each sequence.

use super::axis::Axis;
use super::dynamics::Dynamics;
use super::path::Path;
use super::sequence::Sequence;
use crate::dist::normals;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::par;
use crate::rng::Stream;
use crate::simd;
use rand::Rng;

/// Factors of the covariances of all paths.
#[derive(Debug, Clone)]
pub struct Paths<'a> {
    dynamics: &'a Dynamics,
    /// By axis, then by sequence.
    paths: Vec<Vec<Path>>,
}

impl<'a> Paths<'a> {
    /// At the hyperparameters of each axis.
    pub fn new(dynamics: &'a Dynamics, axes: &[Axis]) -> Result<Self, NumericalError> {
        let paths = axes.iter().map(|axis| Self::axis(dynamics, axis, None)).collect::<Result<_, _>>()?;
        Ok(Paths { dynamics, paths })
    }

    /// All sequences of one axis; `extra` is a variance added to each row.
    pub(crate) fn axis(dynamics: &Dynamics, axis: &Axis, extra: Option<&[f64]>) -> Result<Vec<Path>, NumericalError> {
        let path = |sequence: &Sequence| {
            let extra: Option<Vec<f64>> = extra.map(|extra| sequence.rows.iter().map(|&n| extra[n]).collect());
            dynamics.path(&sequence.times, axis, extra.as_deref())
        };
        par::collect(&dynamics.sequences, 1, path).into_iter().collect()
    }

    /// The fixed parts of the paths.
    pub fn dynamics(&self) -> &'a Dynamics {
        self.dynamics
    }

    /// The paths of axis d, one per sequence.
    pub(crate) fn of_axis(&self, d: usize) -> &[Path] {
        &self.paths[d]
    }

    /// Replaces the paths of axis d.
    pub(crate) fn set_axis(&mut self, d: usize, paths: Vec<Path>) {
        self.paths[d] = paths;
    }

    /// ln p(X).
    pub fn ln_density(&self, x: &Mat) -> f64 {
        (0..x.cols()).map(|d| self.dynamics.ln_axis(d, &self.paths[d], x)).sum()
    }

    /// ln p(X) and its gradient, which is added.
    pub fn gradient(&self, x: &Mat, g: &mut [f64]) -> f64 {
        let dim = x.cols();
        let mut ln_density = 0.0;
        for d in 0..dim {
            let paths = self.dynamics.sequences.iter().zip(&self.paths[d]);
            let pulls = par::collect(paths, 1, |(sequence, path)| {
                let own = sequence.along(x, d);
                let pull = path.precision(&own);
                // A trajectory does not need the constant of the density, and ln|C| does not change along it.
                (-0.5 * simd::dot(&own, &pull), pull)
            });
            for (sequence, (value, pull)) in self.dynamics.sequences.iter().zip(pulls) {
                ln_density += value;
                sequence.rows.iter().zip(pull).for_each(|(&n, p)| g[n * dim + d] -= p);
            }
        }
        ln_density
    }

    /// Σ over sequences of aᵀC⁻¹b for axis d, for functions of the row.
    pub fn product(&self, d: usize, a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> f64 {
        let of = |rows: &[usize], f: &dyn Fn(usize) -> f64| rows.iter().map(|&n| f(n)).collect::<Vec<f64>>();
        let pairs = self.dynamics.sequences.iter().zip(&self.paths[d]);
        pairs.map(|(s, path)| simd::dot(&path.precision(&of(&s.rows, &a)), &of(&s.rows, &b))).sum()
    }

    /// Mean and standard deviation of x_n given all other rows of X, for some rows n: 1/Q_nn is the variance, Q = C⁻¹, and
    /// x_n − (Qx)_n/Q_nn the mean.
    pub fn given_others(&self, x: &Mat, rows: &[usize]) -> (Mat, Mat) {
        let (mut mean, mut sd) = (Mat::zeros(rows.len(), x.cols()), Mat::zeros(rows.len(), x.cols()));
        for (d, paths) in self.paths.iter().enumerate() {
            for (sequence, path) in self.dynamics.sequences.iter().zip(paths) {
                let pull = path.precision(&sequence.along(x, d));
                let own = rows
                    .iter()
                    .enumerate()
                    .filter_map(|(i, n)| sequence.rows.iter().position(|row| row == n).map(|place| (i, place)));
                for (i, place) in own {
                    let mut unit = vec![0.0; sequence.rows.len()];
                    unit[place] = 1.0;
                    let precision = path.precision(&unit)[place];
                    (mean[(i, d)], sd[(i, d)]) = (x[(rows[i], d)] - pull[place] / precision, precision.sqrt().recip());
                }
            }
        }
        (mean, sd)
    }

    /// A draw of X.
    pub fn draw(&self, stream: Stream) -> Mat {
        let rows = self.dynamics.times().at.len();
        let mut x = Mat::zeros(rows, self.paths.len());
        for (d, paths) in self.paths.iter().enumerate() {
            for (s, (sequence, path)) in self.dynamics.sequences.iter().zip(paths).enumerate() {
                let u = normals(path.noise(), &mut stream.at(d as u64).at(s as u64).rng());
                sequence.rows.iter().zip(path.colour(&u)).for_each(|(&n, value)| x[(n, d)] = value);
            }
        }
        x
    }

    /// The noise from which axis d of X is made, one vector per sequence.
    pub(crate) fn whiten_axis<R: Rng + ?Sized>(&self, d: usize, x: &Mat, rng: &mut R) -> Vec<Vec<f64>> {
        let pairs = self.dynamics.sequences.iter().zip(&self.paths[d]);
        pairs.map(|(sequence, path)| path.whiten(&sequence.along(x, d), rng)).collect()
    }

    /// Axis d of X made from noise by the given paths.
    pub(crate) fn colour_axis(&self, d: usize, paths: &[Path], noise: &[Vec<f64>], x: &mut Mat) {
        for (sequence, (path, u)) in self.dynamics.sequences.iter().zip(paths.iter().zip(noise)) {
            sequence.rows.iter().zip(path.colour(u)).for_each(|(&n, value)| x[(n, d)] = value);
        }
    }

    /// The rows of each sequence, in the order of their times.
    pub fn rows(&self) -> impl Iterator<Item = &[usize]> {
        self.dynamics.sequences.iter().map(|s| s.rows.as_slice())
    }
}
