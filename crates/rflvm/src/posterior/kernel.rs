//! The learned kernel: k(δ) = (1/L) Σ_l cos(w_l·δ), its spectral density, and K(X, X).
//!
//! In the common frame w̃_l = w_l R, so that along axis d, k(r) = (1/L) Σ_l cos(r w̃_ld). Over all directions of δ, |δ| = r,
//! it is (1/L) Σ_l Λ_D(r|w_l|), with Λ_D the mean of cos(z·u) over unit vectors u: cos z, J_0(z), sin z/z for D = 1, 2, 3. The spectral
//! density is that of |w̃_ld|, or of |w_l|: the L frequencies of a draw, smoothed by a normal kernel reflected at 0.

use super::diagnostics::quantile;
use super::fitted::{Fitted, HELD};
use super::frame::Frame;
use super::parameters::{Parameters, Stored};
use super::spread::mean_and_sd;
use crate::error::RunError;
use crate::linalg::{Mat, par_mul};
use crate::model::features::Features;
use crate::model::plain::Plain;
use crate::par;
use std::f64::consts::PI;

/// Number of distances at which the kernel is evaluated.
const STEPS: usize = 101;
/// Number of frequencies at which the spectral density is evaluated.
const FREQUENCIES: usize = 40;
/// Fraction of the frequencies of all draws that they span; a few outliers would compress the rest of the plot.
const SHOWN: f64 = 0.995;

/// Posterior mean and 5% and 95% quantiles of a function at some points.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The points.
    pub at: Vec<f64>,
    /// Mean.
    pub mean: Vec<f64>,
    /// Quantiles at 5% and 95%.
    pub band: Vec<[f64; 2]>,
}

/// The kernel and its spectral density along each axis of the frame, and finally over all directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// k(δ) for |δ| from 0 to the diameter.
    pub kernel: Vec<Curve>,
    /// Density of |w̃_d|, and of |w|.
    pub density: Vec<Curve>,
}

/// Posterior mean and standard deviation of K(X, X) of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    /// Mean.
    pub mean: Mat,
    /// Standard deviation.
    pub sd: Mat,
}

impl Fitted<'_> {
    /// The kernel up to distance `reach`, in a frame, from at most `most` draws.
    pub fn kernel(&self, frame: &Frame, reach: f64, most: usize) -> Result<Learned, RunError> {
        let (frequencies, dim) = (self.model.frequencies(), frame.axes());
        // More draws than fit in memory are thinned.
        let most = most.min((HELD / (STEPS.max(frequencies) * (dim + 1))).max(1));
        let mut stored = Stored::open(self.store, self.model)?;
        let mut draws = Vec::new();
        for (chain, draw) in self.visited_in_map(most)? {
            draws.push(turned(&stored.at(chain, draw)?, frame));
        }
        let at: Vec<f64> = (0..STEPS).map(|i| reach * i as f64 / (STEPS - 1) as f64).collect();
        let along = |d: usize| {
            let of = |w: &Mat| at.iter().map(|&r| profile(w, d, r)).collect();
            Curve::over(at.clone(), par::collect(&draws, 1, of))
        };
        let kernel = (0..=dim).map(along).collect();
        Ok(Learned { kernel, density: (0..=dim).map(|d| density(&draws, d)).collect() })
    }

    /// K(X, X) of some rows, each draw at its own X, from at most `most` draws.
    pub fn covariance(&self, rows: &[usize], most: usize) -> Result<Covariance, RunError> {
        let count = rows.len();
        let mut stored = Stored::open(self.store, self.model)?;
        let (mut mean, mut square) = (Mat::zeros(count, count), Mat::zeros(count, count));
        let visited = self.visited_in_map(most)?;
        for (i, &(chain, draw)) in visited.iter().enumerate() {
            let k = matrix(&stored.at(chain, draw)?, rows);
            let share = 1.0 / (i + 1) as f64;
            // Welford's recursion: no cancellation where rows are close and k hardly varies.
            let rows = mean.as_mut_slice().chunks_mut(count).zip(square.as_mut_slice().chunks_mut(count));
            par::for_each(rows.zip(k.iter_rows()), 16, |((mean, square), k)| {
                for ((mean, square), k) in mean.iter_mut().zip(square).zip(k) {
                    let before = k - *mean;
                    *mean += before * share;
                    *square += before * (k - *mean);
                }
            });
        }
        square.as_mut_slice().iter_mut().for_each(|s| *s = (*s / visited.len() as f64).max(0.0).sqrt());
        Ok(Covariance { mean, sd: square })
    }
}

/// w̃ of a draw in the frame, and |w| in a last column.
fn turned(parameters: &Parameters, frame: &Frame) -> Mat {
    let turned = frame.of(&parameters.x, &parameters.w).frequencies(&parameters.w);
    let norm = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
    Mat::from_fn(
        turned.rows(),
        turned.cols() + 1,
        |l, d| if d < turned.cols() { turned[(l, d)] } else { norm(turned.row(l)) },
    )
}

/// k at distance r along axis d, or over all directions for the last column.
fn profile(w: &Mat, d: usize, r: f64) -> f64 {
    let dim = w.cols() - 1;
    let of = |row: &[f64]| if d < dim { (r * row[d]).cos() } else { mean_over_directions(dim, r * row[dim]) };
    w.iter_rows().map(of).sum::<f64>() / w.rows() as f64
}

/// Λ_D(z): the mean of cos(z·u) over unit vectors u of D dimensions.
fn mean_over_directions(dim: usize, z: f64) -> f64 {
    match dim {
        1 => z.cos(),
        2 => libm::j0(z),
        3 => {
            if z == 0.0 {
                1.0
            } else {
                z.sin() / z
            }
        }
        _ => {
            // The angle to the first axis has density ∝ sin^(D−2); the error of the midpoint rule is about (π/64)⁴.
            const NODES: usize = 64;
            let node = |i: usize| {
                let angle = PI * (i as f64 + 0.5) / NODES as f64;
                (angle.sin().powi(dim as i32 - 2), (z * angle.cos()).cos())
            };
            let (mass, sum) = (0..NODES).map(node).fold((0.0, 0.0), |(m, s), (w, c)| (m + w, s + w * c));
            sum / mass
        }
    }
}

/// The density of |w| in column d, with area 1 over 0 to ∞ for each draw.
fn density(draws: &[Mat], d: usize) -> Curve {
    let mut all: Vec<f64> = draws.iter().flat_map(|w| w.col(d)).map(f64::abs).collect();
    all.sort_unstable_by(f64::total_cmp);
    let frequencies = draws.first().map_or(1, Mat::rows) as f64;
    // Silverman's rule for the frequencies of one draw (1986, equation 3.31).
    let spread = mean_and_sd(&all).1.min((quantile(&all, 0.75) - quantile(&all, 0.25)) / 1.34);
    let width = if spread > 0.0 { 0.9 * spread * frequencies.powf(-0.2) } else { 1.0 };
    let reach = quantile(&all, SHOWN) + 2.0 * width;
    let at: Vec<f64> = (0..FREQUENCIES).map(|i| reach * i as f64 / (FREQUENCIES - 1) as f64).collect();
    let of = |w: &Mat| {
        let own: Vec<f64> = w.col(d).into_iter().map(f64::abs).collect();
        let normal = |from: f64| (-0.5 * (from / width).powi(2)).exp();
        let sum = |a: &f64| own.iter().map(|w| normal(a - w) + normal(a + w)).sum::<f64>();
        at.iter().map(|a| sum(a) / (own.len() as f64 * width * (2.0 * PI).sqrt())).collect()
    };
    Curve::over(at.clone(), par::collect(draws, 1, of))
}

impl Curve {
    /// From the values of each draw.
    fn over(at: Vec<f64>, draws: Vec<Vec<f64>>) -> Self {
        let mut curve = Curve { at, mean: Vec::new(), band: Vec::new() };
        for i in 0..curve.at.len() {
            let mut values: Vec<f64> = draws.iter().map(|draw| draw[i]).collect();
            values.sort_unstable_by(f64::total_cmp);
            curve.mean.push(values.iter().sum::<f64>() / values.len() as f64);
            curve.band.push([0.05, 0.95].map(|p| quantile(&values, p)));
        }
        curve
    }
}

/// K(X, X) = ΦΦᵀ + s² XXᵀ of some rows under a draw.
fn matrix(parameters: &Parameters, rows: &[usize]) -> Mat {
    let x = Mat::from_fn(rows.len(), parameters.x.cols(), |i, d| parameters.x[(rows[i], d)]);
    let plain = Plain::new(Mat::zeros(rows.len(), 0), parameters.s);
    let features = Features::with(x, parameters.w.clone(), plain);
    let last = features.h().cols() - 1;
    let phi = Mat::from_fn(rows.len(), last, |i, m| features.h()[(i, m)]);
    let mut k = Mat::zeros(rows.len(), rows.len());
    par_mul(&mut k, phi.view(), phi.view().transpose(), false);
    k
}

/// Approximately the largest distance between two rows: from the row farthest from the first to the one farthest from it, and
/// so on until no farther one is found.
#[doc(hidden)]
pub fn diameter(x: &Mat) -> f64 {
    let square = |a: usize, b: usize| x.row(a).iter().zip(x.row(b)).map(|(p, q)| (p - q).powi(2)).sum::<f64>();
    let (mut from, mut longest) = (0, -1.0);
    loop {
        let Some(to) = (0..x.rows()).max_by(|&a, &b| square(from, a).total_cmp(&square(from, b))) else { return 0.0 };
        if square(from, to) <= longest {
            return longest.sqrt();
        }
        (longest, from) = (square(from, to), to);
    }
}

#[cfg(test)]
mod tests;
