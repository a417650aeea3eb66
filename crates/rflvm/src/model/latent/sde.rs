//! The stochastic differential equation of a path: the covariance of its state at the start, its solution over a gap, and small matrices.
//! The state of a sum holds those of its parts, one after the other.

use super::kernel::{BENDS, LASTING, TimeKernel};
use super::problem::Problem;
use std::f64::consts::TAU;

/// Maximum state dimension: three for Matérn 5/2, two for a season, and the slope of the trend.
pub(super) const MOST: usize = 6;

/// A state.
pub(super) type Coordinates = [f64; MOST];
/// A matrix that acts on states.
pub(super) type Square = [[f64; MOST]; MOST];

/// a_{n+1} = F a_n + noise of covariance Q.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transition {
    pub f: Square,
    pub q: Square,
}

/// The state of a path at its first time.
pub(super) struct Start {
    /// The number of coordinates.
    pub size: usize,
    /// Where the state of each part begins.
    pub heads: Vec<usize>,
    pub covariance: Square,
}

/// The state of a path at its first time.
pub(super) fn start(problem: &Problem<'_>) -> Start {
    let (mut size, mut heads, mut covariance) = (0, Vec::new(), [[0.0; MOST]; MOST]);
    for &part in problem.kernel.parts() {
        let (own, first) = stationary(part);
        put(&scaled(&first, share(problem)), own, size, &mut covariance);
        heads.push(size);
        size += own;
    }
    Start { size, heads, covariance }
}

/// The step of the state over a gap.
pub(super) fn step(problem: &Problem<'_>, gap: f64) -> Transition {
    let mut all = Transition { f: [[0.0; MOST]; MOST], q: [[0.0; MOST]; MOST] };
    let mut size = 0;
    for &part in problem.kernel.parts() {
        let (own, first) = stationary(part);
        let Transition { f, q } = step_of(part, &first, own, gap, problem);
        put(&f, own, size, &mut all.f);
        put(&scaled(&q, share(problem)), own, size, &mut all.q);
        size += own;
    }
    all
}

/// The variance of each part.
fn share(problem: &Problem<'_>) -> f64 {
    (1.0 - problem.axis.noise) / problem.kernel.parts().len() as f64
}

/// Copies the first `size` coordinates of one matrix to a place on the diagonal of another.
fn put(from: &Square, size: usize, place: usize, to: &mut Square) {
    (0..size).for_each(|i| to[place + i][place..place + size].copy_from_slice(&from[i][..size]));
}

/// The step of one part with unit variance.
fn step_of(part: TimeKernel, first: &Square, size: usize, gap: f64, problem: &Problem<'_>) -> Transition {
    let (mut f, mut q) = ([[0.0; MOST]; MOST], [[0.0; MOST]; MOST]);
    match part {
        TimeKernel::RandomWalk => (f[0][0], q[0][0]) = (1.0, gap),
        TimeKernel::IntegratedRandomWalk => {
            (f[0][0], f[0][1], f[1][1]) = (1.0, gap, 1.0);
            (q[0][0], q[1][1]) = (BENDS * gap.powi(3) / 3.0, BENDS * gap);
            (q[0][1], q[1][0]) = (BENDS * gap * gap / 2.0, BENDS * gap * gap / 2.0);
        }
        TimeKernel::Seasonal => {
            let rate = gap / (LASTING * problem.axis.length_scale);
            let (sin, cos) = (TAU * gap / problem.period).sin_cos();
            f[0][..2].copy_from_slice(&[cos, -sin]);
            f[1][..2].copy_from_slice(&[sin, cos]);
            f = scaled(&f, (-rate).exp());
            (q[0][0], q[1][1]) = (-(-2.0 * rate).exp_m1(), -(-2.0 * rate).exp_m1());
        }
        _ => {
            let gap = gap / problem.axis.length_scale;
            f = transition(part, gap);
            q = scattered(part, gap).unwrap_or_else(|| minus(first, &sandwich(&f, first, size)));
        }
    }
    Transition { f, q }
}

/// The covariance that a Matérn path gains over a short gap, measured in length-scales; `None` if the gap is long. It is stationary minus FPFᵀ, but as
/// small as r^2ν+1 for r = √(2ν) gap, and would be lost in the rounding of that difference: at a hundredth of a length-scale the variance of a Matérn-5/2
/// path is 10⁻⁹, and its slope has hardly moved. Instead it is ∫₀^r p(s) pᵀ(s) e^−2s ds, where e^−s p(s) is what a unit of noise has become after s.
fn scattered(kernel: TimeKernel, gap: f64) -> Option<Square> {
    let mut q = [[0.0; MOST]; MOST];
    match kernel {
        TimeKernel::Matern32 => {
            // p = (s, 1 − s), and noise of density 4.
            let [i0, i1, i2, ..] = moments(3_f64.sqrt() * gap)?;
            (q[0][0], q[0][1], q[1][1]) = (4.0 * i2, 4.0 * (i1 - i2), 4.0 * (i0 - 2.0 * i1 + i2));
        }
        TimeKernel::Matern52 => {
            // p = (s²/2, s − s²/2, 1 − 2s + s²/2), and noise of density 16/3.
            let [i0, i1, i2, i3, i4] = moments(5_f64.sqrt() * gap)?.map(|i| 16.0 / 3.0 * i);
            q[0][..3].copy_from_slice(&[0.25 * i4, 0.5 * i3 - 0.25 * i4, 0.5 * i2 - i3 + 0.25 * i4]);
            q[1][1..3].copy_from_slice(&[i2 - i3 + 0.25 * i4, i1 - 2.5 * i2 + 1.5 * i3 - 0.25 * i4]);
            q[2][2] = i0 - 4.0 * i1 + 5.0 * i2 - 2.0 * i3 + 0.25 * i4;
            (q[2][0], q[2][1]) = (q[0][2], q[1][2]);
        }
        _ => q[0][0] = -(-2.0 * gap).exp_m1(),
    }
    q[1][0] = q[0][1];
    Some(q)
}

/// ∫₀^r s^k e^−2s ds for k = 0 to 4, to the last digits; `None` unless r is small. The last one is a series, and each gives the one before:
/// k I_(k−1) = 2 I_k + r^k e^−2r, a sum of positive terms.
fn moments(r: f64) -> Option<[f64; 5]> {
    const SMALL: f64 = 0.5;
    const TERMS: usize = 18;
    if r > SMALL {
        return None;
    }
    let (mut term, mut sum) = (1.0, 0.0);
    for m in 0..TERMS {
        sum += term / (5 + m) as f64;
        term *= -2.0 * r / (m + 1) as f64;
    }
    let mut moments = [0.0; 5];
    moments[4] = r.powi(5) * sum;
    let decay = (-2.0 * r).exp();
    for k in (1..5).rev() {
        moments[k - 1] = (2.0 * moments[k] + r.powi(k as i32) * decay) / k as f64;
    }
    Some(moments)
}

/// Number of coordinates and their covariance: of a Matérn path, its value and its derivatives, each in units of λ = √(2ν)/ℓ, and their
/// stationary covariance; of an integrated walk, its value and its slope; of a season, both coordinates of the rotation.
pub(super) fn stationary(kernel: TimeKernel) -> (usize, Square) {
    let mut p = [[0.0; MOST]; MOST];
    match kernel {
        TimeKernel::Matern32 | TimeKernel::IntegratedRandomWalk | TimeKernel::Seasonal => {
            (p[0][0], p[1][1]) = (1.0, 1.0)
        }
        TimeKernel::Matern52 => {
            (p[0][0], p[1][1], p[2][2]) = (1.0, 1.0 / 3.0, 1.0);
            (p[0][2], p[2][0]) = (-1.0 / 3.0, -1.0 / 3.0);
        }
        _ => p[0][0] = 1.0,
    }
    let size = match kernel {
        TimeKernel::Matern32 | TimeKernel::IntegratedRandomWalk | TimeKernel::Seasonal => 2,
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

pub(super) fn minus(a: &Square, b: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] - b[i][j]))
}

pub(super) fn transposed(a: &Square) -> Square {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
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

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: [TimeKernel; 3] = [TimeKernel::Matern12, TimeKernel::Matern32, TimeKernel::Matern52];

    fn assert_close(a: &Square, b: &Square, size: usize, tolerance: f64, what: &str) {
        for i in 0..size {
            for j in 0..size {
                let scale = (a[i][i] * a[j][j]).sqrt();
                assert!(
                    (a[i][j] - b[i][j]).abs() <= tolerance * scale,
                    "{what} [{i}][{j}]: {} and {}",
                    a[i][j],
                    b[i][j]
                );
            }
        }
    }

    #[test]
    fn what_a_path_gains_is_what_it_lacks_to_be_stationary() {
        for kernel in KERNELS {
            let (size, first) = stationary(kernel);
            for gap in [0.1, 0.2] {
                let lacks = minus(&first, &sandwich(&transition(kernel, gap), &first, size));
                assert_close(&scattered(kernel, gap).unwrap(), &lacks, size, 1e-9, &format!("{kernel:?} {gap}"));
            }
        }
    }

    #[test]
    fn two_steps_are_one_however_short() {
        for kernel in KERNELS {
            let (size, _) = stationary(kernel);
            for gap in [1e-9, 1e-6, 1e-3, 0.1] {
                let (f, q) = (transition(kernel, gap), scattered(kernel, gap).unwrap());
                let twice = scattered(kernel, 2.0 * gap).unwrap();
                let carried = sandwich(&f, &q, size);
                let sum: Square = std::array::from_fn(|i| std::array::from_fn(|j| carried[i][j] + q[i][j]));
                assert_close(&twice, &sum, size, 1e-13, &format!("{kernel:?} {gap}"));
            }
        }
    }
}
