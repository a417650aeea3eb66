//! Paths at times without a row, given the rest of the path and its hyperparameters.

use super::axis::Axis;
use super::dynamics::Dynamics;
use super::path::Path;
use super::window::Conditional;
use crate::error::NumericalError;
use crate::linalg::Mat;
use crate::rng::Stream;

/// New times handled together where they need not be drawn jointly.
const TOGETHER: usize = 256;

/// The times of a sequence's rows and new times, in order.
pub(super) struct Joined<'a> {
    dynamics: &'a Dynamics,
    /// The times of the rows.
    at: &'a [f64],
    rows: &'a [usize],
    moments: Vec<f64>,
    hidden: Vec<bool>,
    /// Origin of each time: index among the rows of the sequence, or among the new times.
    places: Vec<Result<usize, usize>>,
}

impl<'a> Joined<'a> {
    pub fn new(dynamics: &'a Dynamics, sequence: usize, times: &[f64]) -> Self {
        let known = dynamics.sequences.iter().find(|s| dynamics.times().sequence[s.rows[0]] == sequence);
        let (rows, at) = known.map_or((&[][..], &[][..]), |s| (&s.rows, &s.times));
        let mut all: Vec<(f64, Result<usize, usize>)> = at.iter().enumerate().map(|(i, &t)| (t, Ok(i))).collect();
        all.extend(times.iter().enumerate().map(|(i, &t)| (dynamics.scaled(t), Err(i))));
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (moments, places): (Vec<f64>, Vec<_>) = all.into_iter().unzip();
        let hidden = places.iter().map(Result::is_err).collect();
        Joined { dynamics, at, rows, moments, hidden, places }
    }

    /// The prior of one axis at all of these times.
    fn path(&self, axis: &Axis) -> Result<Path, NumericalError> {
        let anchors = if self.at.is_empty() { &self.moments } else { self.at };
        self.dynamics.path_with(&self.moments, anchors, axis, None)
    }

    /// Axis d of X at all of these times, zero at new ones.
    fn values(&self, x: &Mat, d: usize) -> Vec<f64> {
        self.values_of(|n| x[(n, d)])
    }

    /// A function of the row at all of these times, zero at new ones.
    pub fn values_of(&self, of: impl Fn(usize) -> f64) -> Vec<f64> {
        self.places.iter().map(|place| place.map_or(0.0, |i| of(self.rows[i]))).collect()
    }

    /// All times, in units of the span.
    pub fn moments(&self) -> &[f64] {
        &self.moments
    }

    /// Which of them are new.
    pub fn hidden(&self) -> &[bool] {
        &self.hidden
    }

    /// Positions of the new times among all times, and among the new ones.
    pub fn new_ones(&self) -> impl Iterator<Item = (usize, usize)> {
        self.places.iter().enumerate().filter_map(|(n, place)| place.err().map(|i| (n, i)))
    }
}

impl Dynamics {
    /// A draw of X at new times of one sequence, given X at the rows; times in the user's units, in any order.
    /// `sequence` is as in [`crate::observations::Times`]; a sequence without rows has its own path.
    pub fn ahead(
        &self,
        axes: &[Axis],
        x: &Mat,
        sequence: usize,
        times: &[f64],
        stream: Stream,
    ) -> Result<Mat, NumericalError> {
        let joined = Joined::new(self, sequence, times);
        let mut drawn = Mat::zeros(times.len(), axes.len());
        for (d, axis) in axes.iter().enumerate() {
            let mut values = joined.values(x, d);
            joined.path(axis)?.fill(&joined.hidden, &mut values, &mut stream.at(d as u64).rng())?;
            joined.new_ones().for_each(|(n, i)| drawn[(i, d)] = values[n]);
        }
        Ok(drawn)
    }

    /// Mean and standard deviation of X at new times of one sequence, given X at the rows; each new time separately.
    pub fn expected(
        &self,
        axes: &[Axis],
        x: &Mat,
        sequence: usize,
        times: &[f64],
    ) -> Result<(Mat, Mat), NumericalError> {
        let (mut mean, mut sd) = (Mat::zeros(times.len(), axes.len()), Mat::zeros(times.len(), axes.len()));
        for (k, some) in times.chunks(TOGETHER).enumerate() {
            let joined = Joined::new(self, sequence, some);
            for (d, axis) in axes.iter().enumerate() {
                let marginals = joined.path(axis)?.marginals(&joined.hidden, &joined.values(x, d))?;
                for ((_, i), Conditional { mean: m, variance }) in joined.new_ones().zip(marginals) {
                    (mean[(k * TOGETHER + i, d)], sd[(k * TOGETHER + i, d)]) = (m, variance.max(0.0).sqrt());
                }
            }
        }
        Ok((mean, sd))
    }
}
