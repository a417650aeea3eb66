//! Quantile of a sample: linear between the order statistics around position (n − 1)p (Hyndman & Fan 1996, type 7), as in NumPy.

/// The `p`-quantile of values in ascending order; NaN if there are none.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = last as f64 * p.clamp(0.0, 1.0);
    let below = place.floor();
    let (from, to) = (sorted[below as usize], sorted[last.min(below as usize + 1)]);
    // Interpolated from the nearer end, so that both ends are exact to the last bit: draws up to and including the quantile are counted.
    let part = place - below;
    if part < 0.5 { from + (to - from) * part } else { to - (to - from) * (1.0 - part) }
}
