//! Running moments of positions.

use crate::linalg::Mat;
use crate::posterior::align::Embedding;

/// Running mean and covariance of each row (Welford 1962), over draws that count by weights (West 1979).
pub struct RowMoments {
    /// Σ w of each row.
    total: Vec<f64>,
    mean: Mat,
    /// Σ w (x − mean)(x − mean)ᵀ of each row.
    second: Vec<Mat>,
}

impl RowMoments {
    pub fn new(rows: usize, dim: usize) -> Self {
        RowMoments { total: vec![0.0; rows], mean: Mat::zeros(rows, dim), second: vec![Mat::zeros(dim, dim); rows] }
    }

    /// A draw, with its weight for each row.
    pub fn add(&mut self, x: &Mat, weight: impl Fn(usize) -> f64) {
        for (n, (second, total)) in self.second.iter_mut().zip(&mut self.total).enumerate() {
            let weight = weight(n);
            if weight <= 0.0 {
                continue;
            }
            *total += weight;
            let share = weight / *total;
            let before: Vec<f64> = x.row(n).iter().zip(self.mean.row(n)).map(|(x, m)| x - m).collect();
            self.mean.row_mut(n).iter_mut().zip(&before).for_each(|(m, b)| *m += share * b);
            for d in 0..before.len() {
                (0..before.len()).for_each(|e| second[(d, e)] += weight * (1.0 - share) * before[d] * before[e]);
            }
        }
    }

    pub fn embedding(mut self) -> Embedding {
        for (second, total) in self.second.iter_mut().zip(&self.total).filter(|(_, total)| **total > 0.0) {
            second.as_mut_slice().iter_mut().for_each(|v| *v /= total);
        }
        Embedding { mean: self.mean, covariance: self.second, between_modes: Vec::new() }
    }
}
