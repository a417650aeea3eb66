//! Slices and maxima of many columns side by side.

use crate::maximize_1d::Maximizer;
use crate::rng::StreamRng;
use crate::slice::Interval;

/// Univariate slices from `from`, one per generator, with log densities `ln(points, values)` of all columns at once; a column that has landed is
/// evaluated at its last point. Returns the new points.
pub(super) fn univariate(
    rngs: &mut [StreamRng],
    from: &[f64],
    width: f64,
    mut ln: impl FnMut(&[f64], &mut [f64]),
) -> Vec<f64> {
    let mut values = vec![0.0; from.len()];
    ln(from, &mut values);
    let start = rngs.iter_mut().zip(from).zip(&values);
    let mut slices: Vec<Interval> = start.map(|((rng, x), value)| Interval::new(rng, *x, *value, width)).collect();
    let mut landed: Vec<Option<f64>> = vec![None; from.len()];
    while landed.iter().any(Option::is_none) {
        let points: Vec<f64> = slices.iter().zip(&landed).map(|(s, x)| x.unwrap_or(s.candidate())).collect();
        ln(&points, &mut values);
        for (((slice, rng), value), landed) in slices.iter_mut().zip(&mut *rngs).zip(&values).zip(&mut landed) {
            if landed.is_none() {
                *landed = slice.judge(rng, *value).map(|(x, _)| x);
            }
        }
    }
    landed.into_iter().flatten().collect()
}

/// Maxima near zero, one per column, of log densities `ln(points, values)` of all columns at once.
pub(super) fn maximize_each(count: usize, step: f64, mut ln: impl FnMut(&[f64], &mut [f64])) -> Vec<f64> {
    let mut searches = vec![Maximizer::new(0.0, step); count];
    let (mut found, mut values) = (vec![None; count], vec![0.0; count]);
    while found.iter().any(Option::is_none) {
        let points: Vec<f64> = searches.iter().zip(&found).map(|(s, x)| x.unwrap_or(s.candidate())).collect();
        ln(&points, &mut values);
        for ((search, value), found) in searches.iter_mut().zip(&values).zip(&mut found) {
            if found.is_none() {
                *found = search.judge(*value);
            }
        }
    }
    found.into_iter().flatten().collect()
}
