//! The stochastic differential equation of a Matérn path: its stationary covariance, its solution over a gap, and small matrices.

use super::kernel::TimeKernel;

/// Maximum state dimension: three for Matérn 5/2 plus the slope of the trend.
pub(super) const MOST: usize = 4;

/// A state.
pub(super) type Coordinates = [f64; MOST];
/// A matrix that acts on states.
pub(super) type Square = [[f64; MOST]; MOST];

/// Number of coordinates and their stationary covariance: the path and its derivatives, each in units of λ = √(2ν)/ℓ.
pub(super) fn stationary(kernel: TimeKernel) -> (usize, Square) {
    let mut p = [[0.0; MOST]; MOST];
    match kernel {
        TimeKernel::Matern32 => (p[0][0], p[1][1]) = (1.0, 1.0),
        TimeKernel::Matern52 => {
            (p[0][0], p[1][1], p[2][2]) = (1.0, 1.0 / 3.0, 1.0);
            (p[0][2], p[2][0]) = (-1.0 / 3.0, -1.0 / 3.0);
        }
        _ => p[0][0] = 1.0,
    }
    let size = match kernel {
        TimeKernel::Matern32 => 2,
        TimeKernel::Matern52 => 3,
        _ => 1,
    };
    (size, p)
}

/// The matrix exponential of the equation over a gap, measured in length-scales.
pub(super) fn transition(kernel: TimeKernel, gap: f64) -> Square {
    let mut f = [[0.0; MOST]; MOST];
    match kernel {
        TimeKernel::Matern32 => {
            let r = 3_f64.sqrt() * gap;
            f[0][..2].copy_from_slice(&[1.0 + r, r]);
            f[1][..2].copy_from_slice(&[-r, 1.0 - r]);
            scaled(&f, (-r).exp())
        }
        TimeKernel::Matern52 => {
            let r = 5_f64.sqrt() * gap;
            let r2 = r * r;
            f[0][..3].copy_from_slice(&[1.0 + r + 0.5 * r2, r + r2, 0.5 * r2]);
            f[1][..3].copy_from_slice(&[-0.5 * r2, 1.0 + r - r2, r - 0.5 * r2]);
            f[2][..3].copy_from_slice(&[0.5 * r2 - r, r2 - 3.0 * r, 1.0 - 2.0 * r + 0.5 * r2]);
            scaled(&f, (-r).exp())
        }
        _ => {
            f[0][0] = (-gap).exp();
            f
        }
    }
}

pub(super) fn scaled(a: &Square, by: f64) -> Square {
    a.map(|row| row.map(|v| by * v))
}

pub(super) fn plus(a: &Square, b: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] + b[i][j]))
}

pub(super) fn minus(a: &Square, b: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] - b[i][j]))
}

/// FPFᵀ of the first `size` coordinates.
pub(super) fn sandwich(f: &Square, p: &Square, size: usize) -> Square {
    let mut fp = [[0.0; MOST]; MOST];
    for i in 0..size {
        for j in 0..size {
            fp[i][j] = (0..size).map(|k| f[i][k] * p[k][j]).sum();
        }
    }
    let mut to = [[0.0; MOST]; MOST];
    for i in 0..size {
        for j in 0..size {
            to[i][j] = (0..size).map(|k| fp[i][k] * f[j][k]).sum();
        }
    }
    to
}
