//! How rough the columns are over time: which kernel column processes should have.
//!
//! Each column by itself, standardised, is taken for a path seen through noise. A kernel is judged by the marginal likelihood of the columns,
//! each at its best length-scale and share of noise on a grid. What the positions explain is still in the columns, and is no rougher or
//! smoother than they are.

use super::latent::{Dynamics, TimeKernel};
use crate::dist::LN_SQRT_2PI;
use crate::linalg::Mat;
use crate::par;

/// The kernels to choose from.
const KERNELS: [TimeKernel; 2] = [TimeKernel::Matern12, TimeKernel::Matern32];
/// Length-scales tried, evenly spaced in logarithm from two rows to the whole span.
const LENGTH_SCALES: usize = 8;
/// Shares of noise in the variance of a column.
const NOISE: [f64; 4] = [0.001, 0.01, 0.1, 0.4];
/// Most columns that are looked at, evenly spread over the table.
const COLUMNS: usize = 64;

/// The kernel under which the columns of a real-valued table (NaN where missing) have the largest marginal likelihood; `None` if no column is
/// smooth under either of them.
pub fn kernel(y: &Mat, dynamics: &Dynamics) -> Option<TimeKernel> {
    let count = y.cols().min(COLUMNS);
    let columns: Vec<Vec<f64>> = (0..count).filter_map(|i| standardised(&y.col(i * y.cols() / count))).collect();
    let shortest = (2.0 / y.rows() as f64).min(0.5);
    let length = |k: usize| shortest.powf(1.0 - k as f64 / (LENGTH_SCALES - 1) as f64);
    let of = |kernel: TimeKernel| -> f64 {
        let gains = par::map(columns.len(), LENGTH_SCALES * NOISE.len() * 50 * y.rows() * columns.len(), |i| {
            let r = &columns[i];
            let white: f64 = r.iter().filter(|v| !v.is_nan()).map(|v| -0.5 * v * v - LN_SQRT_2PI).sum();
            let tried = (0..LENGTH_SCALES).map(|k| {
                let path = dynamics.column_path(kernel, length(k));
                let seen = |noise: f64| {
                    let variance: Vec<f64> = r.iter().map(|v| if v.is_nan() { f64::INFINITY } else { noise }).collect();
                    path.through((1.0 - noise).sqrt(), &variance).ln_density(&zeroed(r))
                };
                NOISE.into_iter().map(seen).fold(f64::NEG_INFINITY, f64::max)
            });
            (tried.fold(f64::NEG_INFINITY, f64::max) - white).max(0.0)
        });
        gains.iter().sum()
    };
    let [rough, smooth] = KERNELS.map(of);
    let best = if smooth > rough { KERNELS[1] } else { KERNELS[0] };
    (rough.max(smooth) > 0.0).then_some(best)
}

/// The column with mean 0 and variance 1; `None` if it is constant.
fn standardised(column: &[f64]) -> Option<Vec<f64>> {
    let seen: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
    let mean = seen.iter().sum::<f64>() / seen.len() as f64;
    let variance = seen.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / seen.len() as f64;
    (variance > 0.0).then(|| column.iter().map(|v| (v - mean) / variance.sqrt()).collect())
}

/// Zero where missing.
fn zeroed(r: &[f64]) -> Vec<f64> {
    r.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::normals;
    use crate::model::latent::TimeSpec;
    use crate::observations::Times;
    use crate::rng::Stream;

    const ROWS: usize = 200;

    /// Columns of each kind, with noise and every seventh cell missing.
    fn table(column: impl Fn(&Dynamics, Stream) -> Vec<f64>) -> (Mat, Dynamics) {
        let times = Times::new((0..ROWS).map(|n| n as f64).collect());
        let dynamics = Dynamics::new(times, TimeSpec::default()).unwrap();
        let mut y = Mat::zeros(ROWS, 5);
        for j in 0..5 {
            let (values, noise) =
                (column(&dynamics, Stream::new(1).at(j)), normals(ROWS, &mut Stream::new(2).at(j).rng()));
            let cell = |n: usize| {
                if (n + j as usize).is_multiple_of(7) { f64::NAN } else { 100.0 * (values[n] + 0.05 * noise[n]) + 7.0 }
            };
            y.set_col(j as usize, &(0..ROWS).map(cell).collect::<Vec<_>>());
        }
        (y, dynamics)
    }

    #[test]
    fn rough_smooth_and_white_columns_are_told_apart() {
        for wanted in [TimeKernel::Matern12, TimeKernel::Matern32] {
            let (y, dynamics) =
                table(|dynamics, stream| dynamics.column_path(wanted, 0.1).draw(1.0, &mut stream.rng()));
            assert_eq!(kernel(&y, &dynamics), Some(wanted));
        }
        let (y, dynamics) =
            table(|dynamics, stream| dynamics.column_path(TimeKernel::RandomWalk, 0.1).draw(3.0, &mut stream.rng()));
        assert_eq!(kernel(&y, &dynamics), Some(TimeKernel::Matern12));
        let (y, dynamics) = table(|_, stream| normals(ROWS, &mut stream.rng()));
        assert_eq!(kernel(&y, &dynamics), None);
        let constant = Mat::from_fn(ROWS, 2, |_, _| 3.0);
        assert_eq!(kernel(&constant, &dynamics), None);
    }
}
