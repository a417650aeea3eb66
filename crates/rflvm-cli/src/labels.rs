//! The labels of a table: names of classes, or numbers on a scale.

use crate::picture::colour::CLASSES;
use std::collections::HashSet;

/// The labels of the rows.
#[derive(Debug, PartialEq)]
pub enum Labels<'a> {
    /// Each row belongs to a class.
    Classes(&'a [String]),
    /// Each row has a number, or NaN.
    Numbers(Vec<f64>),
}

impl<'a> Labels<'a> {
    /// Numbers are a scale if they have more distinct values than there are colours for classes; if some are fractions, half as
    /// many are enough, since whole numbers are often cluster numbers.
    pub fn of(cells: &'a [String]) -> Self {
        let Some(numbers) = cells.iter().map(|cell| number(cell)).collect::<Option<Vec<f64>>>() else {
            return Labels::Classes(cells);
        };
        let known = || numbers.iter().filter(|v| !v.is_nan());
        let different = known().map(|v| v.to_bits()).collect::<HashSet<_>>().len();
        let are_whole = known().all(|v| v.fract() == 0.0);
        let few = if are_whole { CLASSES } else { CLASSES / 2 };
        if different > few { Labels::Numbers(numbers) } else { Labels::Classes(cells) }
    }
}

/// A number, or NaN for a missing value; `None` for other text.
fn number(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    let is_missing = ["", "na", "n/a", "nan", "null"].iter().any(|word| cell.eq_ignore_ascii_case(word));
    if is_missing { Some(f64::NAN) } else { cell.parse().ok().filter(|v: &f64| v.is_finite()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_scale(cells: impl Iterator<Item = String>) -> bool {
        matches!(Labels::of(&cells.collect::<Vec<_>>()), Labels::Numbers(_))
    }

    #[test]
    fn many_different_numbers_are_a_scale() {
        assert!(is_scale((0..13).map(|n| format!("{n}.5"))));
        assert!(is_scale((0..200).map(|n| (n % 25).to_string())));
        assert!(is_scale((0..50).map(|n| if n % 7 == 0 { "NA".into() } else { (f64::from(n) * 0.1).to_string() })));
        // Cluster numbers, doses, names, and one name among numbers.
        assert!(!is_scale((0..200).map(|n| (n % 24).to_string())));
        assert!(!is_scale((0..200).map(|n| ["0.1", "1", "10"][n % 3].into())));
        assert!(!is_scale((0..200).map(|n| format!("c{n}"))));
        assert!(!is_scale((0..200).map(|n| if n == 9 { "none".into() } else { n.to_string() })));
        assert!(!is_scale(std::iter::empty()));
    }
}
