//! The ingredients of the covariance of one axis of one sequence.

use super::axis::Axis;
use super::kernel::TimeKernel;

/// The ingredients of the covariance of one axis of one sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem<'a> {
    pub kernel: TimeKernel,
    /// The period of a season, in the unit of the times; NaN without one.
    pub period: f64,
    /// In order; a path begins at the first.
    pub times: &'a [f64],
    /// The linear trend, which has a standard normal slope.
    pub trend: Option<&'a [f64]>,
    pub axis: Axis,
    pub extra: Option<&'a [f64]>,
}

impl Problem<'_> {
    /// (1 − ρ) k between two times.
    pub fn kernel(&self, a: f64, b: f64) -> f64 {
        let start = self.times[0];
        (1.0 - self.axis.noise) * self.kernel.between(a - start, b - start, self.axis.length_scale, self.period)
    }

    /// (1 − ρ) k between one time and many others, with memory for their differences.
    pub fn kernels(&self, from: f64, to: &[f64], deltas: &mut Vec<f64>, out: &mut [f64]) {
        if !self.kernel.is_plain() {
            out.iter_mut().zip(to).for_each(|(out, &to)| *out = self.kernel(from, to));
            return;
        }
        deltas.clear();
        deltas.extend(to.iter().map(|to| to - from));
        self.kernel.fill(deltas, self.axis.length_scale, 1.0 - self.axis.noise, out);
    }

    /// Variance of row n besides that of the path.
    pub fn noise(&self, n: usize) -> f64 {
        self.axis.noise + self.extra.map_or(0.0, |extra| extra[n])
    }

    /// The trend's value at row n.
    pub fn line(&self, n: usize) -> f64 {
        self.trend.map_or(0.0, |line| line[n])
    }
}
