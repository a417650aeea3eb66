//! Mean and variance, Σ(v − v̄)²/(n − 1), of a series.

/// The mean, corrected by the mean residual: for equal values it is that value to the last bit, so that a chain
/// that does not move has variance zero rather than rounding error.
pub fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let rough = values.iter().sum::<f64>() / n;
    rough + values.iter().map(|v| v - rough).sum::<f64>() / n
}

/// The unbiased variance.
pub fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}
