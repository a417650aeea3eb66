//! Running mean and standard deviation over the draws of a chain, so that draws need not be revisited: of X aligned to the
//! first draw, and of F.

use super::Draw;
use crate::linalg::Mat;
use crate::placement::turn;
use serde::{Deserialize, Serialize};

/// Mean and sum of squared deviations (Welford) of several numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Running {
    count: u64,
    mean: Vec<f64>,
    square: Vec<f64>,
}

impl Running {
    /// Adds one value of each number.
    pub fn add(&mut self, values: impl Iterator<Item = f64>) {
        self.count += 1;
        let weight = 1.0 / self.count as f64;
        if self.count == 1 {
            self.mean = values.collect();
            self.square = vec![0.0; self.mean.len()];
            return;
        }
        for ((mean, square), value) in self.mean.iter_mut().zip(&mut self.square).zip(values) {
            let delta = value - *mean;
            *mean += weight * delta;
            *square += delta * (value - *mean);
        }
    }

    /// Number of values added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The means.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The standard deviations over the draws.
    pub fn sd(&self) -> Vec<f64> {
        self.square.iter().map(|s| (s / self.count as f64).sqrt()).collect()
    }
}

/// The running moments of a chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    first: Option<Mat>,
    /// Of X, aligned to the chain's first draw, N×D.
    pub x: Running,
    /// Of F, N×J in the model's order of columns; `None` if not requested.
    pub f: Running,
    has_f: bool,
}

impl Moments {
    /// With or without the moments of F, which take twice the memory of the table.
    pub fn new(has_f: bool) -> Self {
        Moments { has_f, ..Moments::default() }
    }

    /// Whether it has moments of F.
    pub fn has_f(&self) -> bool {
        self.has_f
    }

    /// Adds a draw.
    pub fn add(&mut self, draw: &Draw<'_>) {
        let state = draw.state;
        let first = self.first.get_or_insert_with(|| state.features.x().clone());
        self.x.add(turn(state.features.x(), first).as_slice().iter().copied());
        if self.has_f {
            self.f.add(state.f.as_slice().iter().copied());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_moments_are_those_of_all_values() {
        let values: Vec<f64> = (0..50).map(|i| (f64::from(i) * 1.7).sin() * 3.0 + 100.0).collect();
        let mut running = Running::default();
        values.iter().for_each(|&v| running.add([v, -v].into_iter()));
        let mean = values.iter().sum::<f64>() / 50.0;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 50.0).sqrt();
        assert_eq!(running.count(), 50);
        assert!((running.mean()[0] - mean).abs() < 1e-12 && (running.mean()[1] + mean).abs() < 1e-12);
        assert!((running.sd()[0] - sd).abs() < 1e-12);
    }
}
