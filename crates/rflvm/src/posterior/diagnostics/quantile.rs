//! Quantile of a sample: linear between the order statistics about place (n − 1)p (Hyndman & Fan 1996, type 7), as NumPy.

/// The `p`-quantile of values in ascending order; not a number for none.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = last as f64 * p.clamp(0.0, 1.0);
    let below = place.floor();
    let (from, to) = (sorted[below as usize], sorted[last.min(below as usize + 1)]);
    // From the nearer end, so that both ends are met to the last bit: draws are counted up to the quantile, itself included.
    let part = place - below;
    if part < 0.5 { from + (to - from) * part } else { to - (to - from) * (1.0 - part) }
}
