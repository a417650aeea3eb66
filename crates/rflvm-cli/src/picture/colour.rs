//! Colours that can be distinguished with colour blindness and in greyscale.

use std::cmp::Ordering;
use std::collections::HashMap;

/// More colours than this cannot be distinguished.
const COLOURS: usize = 12;
/// Points of one colour are filled or hollow; further classes are grouped.
pub(crate) const CLASSES: usize = 2 * COLOURS;
pub(super) const GREY: &str = "#a3a8ae";
pub(super) const PLAIN: &str = "#0072b2";
pub(super) const MARK: &str = "#d55e00";

/// Okabe–Ito without its black and pale yellow, then five of Tol's muted colours.
pub(super) const PALETTE: [&str; COLOURS] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#332288", "#999933", "#882255", "#44aa99",
    "#ddcc77", "#117733",
];

const VIRIDIS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The colour at `t` in 0..=1, dark to light.
pub(super) fn viridis(t: f64) -> String {
    let place = t.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let share = place - below as f64;
    let mix = |channel: usize| {
        let (a, b) = (VIRIDIS[below][channel], VIRIDIS[below + 1][channel]);
        (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// One line of a legend.
pub(super) struct Class {
    pub name: String,
    pub colour: &'static str,
    /// Drawn hollow, or dashed: the second class of its colour.
    pub is_ring: bool,
    pub count: usize,
}

/// The legend, and for each label its line in it.
///
/// Sorted by name, so that a class keeps its colour when rows are shuffled. If there are more classes than can be distinguished,
/// the rarest are grouped, and the legend gives their number.
pub(super) fn classes(labels: &[String]) -> (Vec<Class>, Vec<usize>) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for label in labels {
        *counts.entry(label.as_str()).or_default() += 1;
    }
    let mut kept: Vec<(&str, usize)> = counts.into_iter().collect();
    kept.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| order(a.0, b.0)));
    let others = if kept.len() > CLASSES { kept.split_off(CLASSES - 1) } else { Vec::new() };
    kept.sort_by(|a, b| order(a.0, b.0));
    let lines: HashMap<&str, usize> = kept.iter().enumerate().map(|(i, k)| (k.0, i)).collect();
    let assigned = labels.iter().map(|label| lines.get(label.as_str()).copied().unwrap_or(kept.len())).collect();
    let mut legend: Vec<Class> = kept
        .iter()
        .enumerate()
        .map(|(line, &(name, count))| Class {
            name: match name.trim() {
                "" => "(no label)".to_string(),
                _ => name.to_string(),
            },
            colour: PALETTE[line % COLOURS],
            is_ring: line >= COLOURS,
            count,
        })
        .collect();
    if !others.is_empty() {
        let (name, count) = (format!("{} other classes", others.len()), others.iter().map(|(_, count)| count).sum());
        legend.push(Class { name, colour: GREY, is_ring: false, count });
    }
    (legend, assigned)
}

/// By name, but numbers by value and `class 2` before `class 10`.
fn order(a: &str, b: &str) -> Ordering {
    let key = |name: &str| {
        if let Ok(value) = name.parse::<f64>() {
            return (String::new(), value);
        }
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let tail = name[stem.len()..].parse().unwrap_or(-1.0);
        (stem.to_string(), tail)
    };
    let (a_key, b_key) = (key(a), key(b));
    a_key.0.cmp(&b_key.0).then(a_key.1.total_cmp(&b_key.1)).then(a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rare_classes_are_grouped() {
        let labels: Vec<String> = (0..40).flat_map(|c| vec![c.to_string(); 40 - c]).collect();
        let (legend, assigned) = classes(&labels);
        assert_eq!(legend.len(), CLASSES);
        assert_eq!(legend[2].name, "2");
        assert_eq!((legend[23].name.as_str(), legend[23].colour), ("17 other classes", GREY));
        assert_eq!(legend.iter().map(|c| c.count).sum::<usize>(), labels.len());
        assert_eq!(assigned.last(), Some(&23));
        let few: Vec<String> = (0..24).map(|c| c.to_string()).collect();
        assert!(classes(&few).0.iter().all(|c| !c.name.contains("other")));
    }

    #[test]
    fn no_two_classes_look_alike() {
        let labels: Vec<String> = (0..24).map(|c| c.to_string()).collect();
        let looks: HashSet<(&str, bool)> = classes(&labels).0.iter().map(|c| (c.colour, c.is_ring)).collect();
        assert_eq!(looks.len(), 24);
    }

    #[test]
    fn the_scale_has_the_right_ends() {
        assert_eq!(viridis(-1.0), "#440154");
        assert_eq!(viridis(1.0), "#fde725");
        assert_eq!(viridis(f64::NAN).len(), 7);
    }
}
