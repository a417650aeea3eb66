//! Length-scales of the paths over time, in the user's unit.

use crate::config::Config;
use rflvm::internal::draws::Source;
use rflvm::internal::draws::zarr::Reader;
use rflvm::internal::error::StoreError;
use rflvm::internal::model::latent::TimeKernel;
use serde_json::{Value, json};
use std::path::Path;

/// The axes of X, sorted in each draw by decreasing length-scale, since the order of the axes is arbitrary.
pub struct TimeScales {
    unit: String,
    /// Whether the kernel has a length-scale; a random walk has none.
    has_scale: bool,
    /// Mean and standard deviation of the length-scale and of the noise share.
    axes: Vec<[(f64, f64); 2]>,
}

impl TimeScales {
    /// The length-scales of a fit with times.
    pub fn of(dir: &Path, store: &Reader, used: &[usize]) -> Result<Option<Self>, StoreError> {
        let (length_scale, noise) = ("posterior/length_scale", "posterior/noise_share");
        if !store.is_drawn(length_scale) || store.size()?.1 == 0 {
            return Ok(None);
        }
        let config = Config::read(&dir.join("config.toml")).unwrap_or_default();
        let kernel = config.paths.time_kernel.and_then(|kernel| TimeKernel::named(&kernel.to_string()).ok());
        let has_scale = kernel.is_none_or(TimeKernel::has_length_scale);
        let dim = store.numbers(length_scale)?.max(1);
        let mut axes = vec![[Vec::new(), Vec::new()]; dim];
        for &chain in used {
            let (scales, shares) = (store.all(length_scale, chain)?, store.all(noise, chain)?);
            for (scales, shares) in scales.chunks(dim).zip(shares.chunks(dim)) {
                let mut pairs: Vec<(f64, f64)> = scales.iter().copied().zip(shares.iter().copied()).collect();
                pairs.sort_by(|a, b| if has_scale { b.0.total_cmp(&a.0) } else { a.1.total_cmp(&b.1) });
                for (axis, (scale, share)) in axes.iter_mut().zip(pairs) {
                    axis[0].push(scale);
                    axis[1].push(share);
                }
            }
        }
        let axes = axes.iter().map(|axis| [mean_and_sd(&axis[0]), mean_and_sd(&axis[1])]).collect();
        Ok(Some(TimeScales { unit: unit(&config, store), has_scale, axes }))
    }

    /// One line that reports them.
    pub fn line(&self) -> String {
        let of = |i: usize, digits: &dyn Fn(f64) -> String| {
            let word = |axis: &[(f64, f64); 2]| format!("{} ± {}", digits(axis[i].0), digits(axis[i].1));
            self.axes.iter().map(word).collect::<Vec<_>>().join(", ")
        };
        let (scales, shares) = (of(0, &three_digits), of(1, &|v| format!("{v:.3}")));
        if !self.has_scale {
            return format!("noise shares of the axes, smallest first: {shares} (a random walk has no length-scale)");
        }
        format!("length-scales of the axes, longest first: {scales} {}; noise shares: {shares}", self.unit)
    }

    /// The length-scales as JSON.
    pub fn as_json(&self) -> Value {
        let axis = |[scale, share]: &[(f64, f64); 2]| {
            let of_scale = |value: f64| self.has_scale.then_some(value);
            json!({ "mean": of_scale(scale.0), "sd": of_scale(scale.1), "noise_share": share.0, "noise_share_sd": share.1 })
        };
        json!({ "unit": self.unit, "axes": self.axes.iter().map(axis).collect::<Vec<_>>() })
    }
}

/// The unit of the length-scales.
fn unit(config: &Config, store: &Reader) -> String {
    if store.units("posterior/time").is_some_and(|units| units.starts_with("days ")) {
        return "days".into();
    }
    let column = config.time.as_ref();
    column.map_or("units of time".into(), |column| format!("units of {column}"))
}

/// Three significant digits, without an exponent where possible.
fn three_digits(value: f64) -> String {
    let size = value.abs().log10().floor();
    match size {
        s if (-4.0..3.0).contains(&s) => format!("{value:.*}", (2.0 - s) as usize),
        s if (3.0..9.0).contains(&s) => format!("{value:.0}"),
        _ if value == 0.0 => "0".into(),
        _ => format!("{value:.2e}"),
    }
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::three_digits;

    #[test]
    fn numbers_have_three_significant_digits() {
        let written = [1234.5, 12.345, 0.012345, 1.2e-7, 0.0, 999.99].map(three_digits);
        assert_eq!(written, ["1234", "12.3", "0.0123", "1.20e-7", "0", "1000"].map(String::from));
    }
}
