//! Ranges of numbers along an axis, and the round numbers in them.

use serde::Serialize;

/// A range of numbers along a side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Span {
    pub low: f64,
    pub high: f64,
}

impl Span {
    /// A range around all values that can be drawn, with a margin on both sides.
    pub fn around(values: impl Iterator<Item = f64>, margin: f64) -> Self {
        let (low, high) = range(values).unwrap_or((-1.0, 1.0));
        let middle = low + (high - low) / 2.0;
        // Wide enough that neighbouring ticks are different numbers.
        let least = (middle.abs() * 1e-6).max(1e-12);
        if high - low > least {
            let room = margin * (high - low);
            return Span { low: low - room, high: high + room };
        }
        let half = middle.abs().max(1.0) / 2.0;
        Span { low: middle - half, high: middle + half }
    }

    /// Its length.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// The same centre with another length.
    pub fn widened(&self, width: f64) -> Self {
        let middle = self.low + self.width() / 2.0;
        Span { low: middle - width / 2.0, high: middle + width / 2.0 }
    }

    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    pub fn share(&self, value: f64) -> f64 {
        (value - self.low) / self.width()
    }

    /// A round step that gives about this many ticks.
    pub fn step(&self, count: f64) -> f64 {
        nice_step(self.width() / count)
    }
}

/// Finite, and small enough that differences and squares are finite too.
pub(super) fn usable(value: f64) -> bool {
    value.abs() < 1e100
}

/// The smallest and the largest of the usable values.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| usable(*v)).fold(None, |seen, v| match seen {
        Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
        None => Some((v, v)),
    })
}

/// The number near `rough` that is 1, 2 or 5 times a power of ten.
pub(super) fn nice_step(rough: f64) -> f64 {
    if rough <= 0.0 || !rough.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    power
        * match rough / power {
            r if r < 1.5 => 1.0,
            r if r < 3.5 => 2.0,
            r if r < 7.5 => 5.0,
            _ => 10.0,
        }
}

/// Multiples of a step.
pub(super) fn ticks(span: &Span, step: f64) -> Vec<f64> {
    let first = (span.low / step - 1e-9).ceil();
    // Bounded, because rounding may swallow the step of a far-away range.
    (0..24).map(|k| (first + f64::from(k)) * step).take_while(|t| *t <= span.high + step * 1e-9).collect()
}

/// A tick as text.
pub(super) fn number(value: f64, step: f64) -> String {
    let places = (-step.log10().floor()).max(0.0) as usize;
    let largest = value.abs().max(step);
    let text = if largest >= 1e6 || places > 5 { format!("{value:.1e}") } else { format!("{:.places$}", value + 0.0) };
    text.replace('-', "−")
}
