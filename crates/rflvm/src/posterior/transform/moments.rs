//! Running moments of positions.

use crate::linalg::Mat;
use crate::posterior::align::Embedding;

/// Running mean and covariance of each row (Welford 1962).
pub struct RowMoments {
    count: f64,
    mean: Mat,
    /// Σ (x − mean)(x − mean)ᵀ of each row.
    second: Vec<Mat>,
}

impl RowMoments {
    pub fn new(rows: usize, dim: usize) -> Self {
        RowMoments { count: 0.0, mean: Mat::zeros(rows, dim), second: vec![Mat::zeros(dim, dim); rows] }
    }

    pub fn add(&mut self, x: &Mat) {
        self.count += 1.0;
        for (n, second) in self.second.iter_mut().enumerate() {
            let before: Vec<f64> = x.row(n).iter().zip(self.mean.row(n)).map(|(x, m)| x - m).collect();
            self.mean.row_mut(n).iter_mut().zip(&before).for_each(|(m, b)| *m += b / self.count);
            let shrink = 1.0 - 1.0 / self.count;
            for d in 0..before.len() {
                (0..before.len()).for_each(|e| second[(d, e)] += shrink * before[d] * before[e]);
            }
        }
    }

    pub fn embedding(mut self) -> Embedding {
        let count = self.count.max(1.0);
        self.second.iter_mut().for_each(|s| s.as_mut_slice().iter_mut().for_each(|v| *v /= count));
        Embedding { mean: self.mean, covariance: self.second, between_modes: Vec::new() }
    }
}
