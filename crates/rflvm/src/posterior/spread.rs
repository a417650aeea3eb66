//! Mean and standard deviation of some numbers.

/// Mean and standard deviation, with the number of values as divisor.
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}
