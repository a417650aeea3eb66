//! Numbers for JSON: five significant digits are more than a screen shows.

use serde_json::{Value, json};

/// A number; null if it is not finite, which JSON cannot hold.
pub fn number(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    // Parsing what was written rounds to the nearest double, whose shortest form is short.
    format!("{value:.4e}").parse::<f64>().map_or(Value::Null, |short| json!(short))
}

/// A list of numbers.
pub fn numbers<'a>(values: impl IntoIterator<Item = &'a f64>) -> Value {
    values.into_iter().map(|&value| number(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_invalid() {
        let values = [1.0 / 3.0, -123_456.789, 0.0, f64::NAN, f64::INFINITY, 7.0, 1e-300];
        assert_eq!(numbers(&values).to_string(), "[0.33333,-123460.0,0.0,null,null,7.0,1e-300]");
    }
}
