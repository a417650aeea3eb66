//! Helpers shared by families of counts.

use super::parts::Seen;

/// ln of the mean exposure-adjusted count, bounded below for columns of zeros.
pub(super) fn ln_rate(seen: &[Seen]) -> f64 {
    let total: f64 = seen.iter().map(|s| s.1).sum();
    let exposure: f64 = seen.iter().map(|s| s.2.exp()).sum();
    (total.max(0.5) / exposure).ln()
}

/// Describes a value that is not a count.
pub(super) fn not_a_count(y: f64) -> Option<String> {
    if y < 0.0 {
        Some("is negative, but this family models counts; choose gaussian or student-t for this column".into())
    } else if y.fract() != 0.0 {
        Some("is not a whole number, but this family models counts; round it, or choose gaussian or student-t".into())
    } else if y > 1e15 {
        Some("is too large for a count; rescale the column or choose gaussian".into())
    } else {
        None
    }
}
