//! What the covariance of one axis of one sequence is made of.

use super::axis::Axis;
use super::kernel::TimeKernel;

/// One axis of one sequence: what its covariance is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem<'a> {
    pub kernel: TimeKernel,
    pub times: &'a [f64],
    /// The straight line that is added with a standard normal slope.
    pub trend: Option<&'a [f64]>,
    pub axis: Axis,
    pub extra: Option<&'a [f64]>,
}

impl Problem<'_> {
    /// (1 − ρ) k between two times.
    pub fn kernel(&self, a: f64, b: f64) -> f64 {
        (1.0 - self.axis.noise) * self.kernel.at(a - b, self.axis.length_scale)
    }

    /// (1 − ρ) k of many differences of times, which it uses up.
    pub fn kernels(&self, deltas: &mut [f64], out: &mut [f64]) {
        self.kernel.fill(deltas, self.axis.length_scale, 1.0 - self.axis.noise, out);
    }

    /// Variance of row n beyond the path's.
    pub fn noise(&self, n: usize) -> f64 {
        self.axis.noise + self.extra.map_or(0.0, |extra| extra[n])
    }

    /// The line's value at row n.
    pub fn line(&self, n: usize) -> f64 {
        self.trend.map_or(0.0, |line| line[n])
    }
}
