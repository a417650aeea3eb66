//! The range of the latent axes in a picture: all rows with their errors, except for a few outliers that would squeeze the others into a dot.

use super::span::{Span, range, usable};
use std::collections::HashSet;

/// Outliers are left out of the frame if they would make it wider by this factor.
const WORTH: f64 = 2.5;
/// At most one row in this many is left out, and never more than ten.
const FEW: usize = 200;
/// With fewer rows than this, all are shown.
const LEAST: usize = 10;

/// The span of each axis, from means and standard deviations. A row that is left out is left out on all axes; otherwise the frame
/// would still include the space for it.
pub(super) fn spans(axes: &[Vec<(f64, f64)>]) -> Vec<Span> {
    let far: HashSet<usize> = axes.iter().flat_map(|axis| far(axis)).collect();
    let span = |axis: &Vec<(f64, f64)>| {
        let near = axis.iter().enumerate().filter(|(n, (mean, _))| usable(*mean) && !far.contains(n));
        Span::around(near.flat_map(|(_, &row)| <[f64; 2]>::from(ends(row))), MARGIN)
    };
    axes.iter().map(span).collect()
}

/// The few rows without which an axis is much shorter.
fn far(axis: &[(f64, f64)]) -> Vec<usize> {
    let mut rows: Vec<(usize, (f64, f64))> =
        axis.iter().enumerate().filter(|(_, (mean, _))| usable(*mean)).map(|(n, &row)| (n, ends(row))).collect();
    if rows.len() < LEAST {
        return Vec::new();
    }
    let mut means: Vec<f64> = rows.iter().map(|&(n, _)| axis[n].0).collect();
    means.sort_by(f64::total_cmp);
    let middle = means[means.len() / 2];
    let distance = |&(_, (low, high)): &(usize, (f64, f64))| (middle - low).max(high - middle);
    rows.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let few = (rows.len() / FEW).clamp(1, 10);
    // Rows only slightly farther out than their neighbours stay.
    let limit = 1.5 * distance(&rows[rows.len() - 1 - few]);
    let width = |rows: &[(usize, (f64, f64))]| {
        range(rows.iter().flat_map(|&(_, (low, high))| [low, high])).map_or(0.0, |(low, high)| high - low)
    };
    let (near, far) = rows.split_at(rows.partition_point(|row| distance(row) <= limit));
    let is_worth = width(near) > 0.0 && width(&rows) > WORTH * width(near);
    if is_worth { far.iter().map(|&(n, _)| n).collect() } else { Vec::new() }
}

/// Margin around the outermost marks, as a fraction of their span.
const MARGIN: f64 = 0.04;

/// The extent of a row's cross; only its point if its error is unknown.
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

    fn span(axis: &[(f64, f64)]) -> Span {
        spans(&[axis.to_vec()])[0]
    }

    #[test]
    fn errors_are_inside_and_a_far_row_is_not() {
        let mut axis = rows(100);
        axis.push((0.0, 1.4));
        let around = span(&axis);
        assert!(around.low < -1.4 && around.high > 1.4, "{around:?}");
        axis.push((50.0, 0.1));
        assert!(!span(&axis).contains(50.0) && span(&axis).contains(1.05));
        // Several such rows form a group, and small tables are shown in full.
        axis.extend([(50.0, 0.1), (51.0, 0.1)]);
        assert!(span(&axis).contains(51.0));
        assert!(span(&[rows(5), vec![(50.0, 0.1)]].concat()).contains(50.0));
    }

    /// Twice as far out as the others on one axis, and fifty times on the other.
    #[test]
    fn a_row_is_left_out_on_all_axes() {
        let axes = [[rows(100), vec![(50.0, 0.1)]].concat(), [rows(100), vec![(2.0, 0.1)]].concat()];
        let spans = spans(&axes);
        assert!(!spans[0].contains(50.0) && !spans[1].contains(2.0), "{spans:?}");
        assert!(span(&axes[1]).contains(2.0));
    }

    #[test]
    fn odd_axes_have_a_span() {
        for axis in [vec![], vec![(f64::NAN, 1.0)], vec![(1.0, f64::INFINITY); 20], vec![(1e99, 1e99); 12]] {
            let span = span(&axis);
            assert!(span.width() > 0.0 && span.width().is_finite(), "{span:?}");
        }
    }
}
