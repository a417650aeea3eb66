//! How much of a latent axis a picture shows: all rows with their errors, but for a few so far out that the others would be a dot.

use super::span::{Span, range, usable};

/// A few rows are left out of the frame when it would be so many times as wide with them.
const WORTH: f64 = 2.5;
/// One row in so many is a few, and never more than ten.
const FEW: usize = 200;
/// Below this number of rows none is left out.
const LEAST: usize = 10;

/// The numbers along an axis of these means and standard deviations.
pub(super) fn span(axis: &[(f64, f64)]) -> Span {
    let mut rows: Vec<(f64, f64)> = axis.iter().filter(|(mean, _)| usable(*mean)).map(|&row| ends(row)).collect();
    let all = || rows.iter().flat_map(|&(low, high)| [low, high]);
    let full = Span::around(all(), MARGIN);
    if rows.len() < LEAST {
        return full;
    }
    let mut middles: Vec<f64> = rows.iter().map(|(low, high)| low + (high - low) / 2.0).collect();
    middles.sort_by(f64::total_cmp);
    let middle = middles[middles.len() / 2];
    let distance = |&(low, high): &(f64, f64)| (middle - low).max(high - middle);
    rows.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let few = (rows.len() / FEW).clamp(1, 10);
    let near = distance(&rows[rows.len() - 1 - few]);
    // Rows that are little farther out than their neighbours stay.
    let inner = range(rows.iter().filter(|row| distance(row) <= 1.5 * near).flat_map(|&(low, high)| [low, high]));
    match inner {
        Some((low, high)) if high > low && full.width() > WORTH * (high - low) => {
            Span::around([low, high].into_iter(), MARGIN)
        }
        _ => full,
    }
}

/// Room around the outermost marks, as a share of what they span.
const MARGIN: f64 = 0.04;

/// What a row's cross covers; its point alone where its error is not known.
pub(super) fn ends((mean, sd): (f64, f64)) -> (f64, f64) {
    let sd = if usable(sd) { sd.abs() } else { 0.0 };
    (mean - sd, mean + sd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Vec<(f64, f64)> {
        (0..count).map(|n| ((n as f64).sin(), 0.1)).collect()
    }

    #[test]
    fn errors_are_inside_and_a_far_row_is_not() {
        let mut axis = rows(100);
        axis.push((0.0, 1.4));
        let around = span(&axis);
        assert!(around.low < -1.4 && around.high > 1.4, "{around:?}");
        axis.push((50.0, 0.1));
        assert!(!span(&axis).contains(50.0) && span(&axis).contains(1.05));
        // Several such rows are a group, and few rows are all there is.
        axis.extend([(50.0, 0.1), (51.0, 0.1)]);
        assert!(span(&axis).contains(51.0));
        assert!(span(&[rows(5), vec![(50.0, 0.1)]].concat()).contains(50.0));
    }

    #[test]
    fn odd_axes_have_a_span() {
        for axis in [vec![], vec![(f64::NAN, 1.0)], vec![(1.0, f64::INFINITY); 20], vec![(1e99, 1e99); 12]] {
            let span = span(&axis);
            assert!(span.width() > 0.0 && span.width().is_finite(), "{span:?}");
        }
    }
}
