//! The name that was probably meant, for messages about an unknown name.

/// The name nearest to `wanted` by edit distance, if it is close enough to be a typo.
pub fn closest<'a>(wanted: &str, names: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(65).collect();
    // Short names are within a few edits of anything.
    let tolerance = (wanted.len() / 3).clamp(1, 3);
    names
        .iter()
        .map(AsRef::as_ref)
        .filter(|n| n.len() <= 256)
        .map(|n| (edits(&wanted, n), n))
        .filter(|(distance, n)| *distance <= tolerance && *distance < wanted.len().max(n.chars().count()))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein distance, ignoring case.
fn edits(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut current = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = previous[j] + usize::from(x != y);
            current.push(replaced.min(previous[j + 1] + 1).min(current[j] + 1));
        }
        previous = current;
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_near_names() {
        let columns = ["species", "weight", "Height"];
        assert_eq!(closest("specis", &columns), Some("species"));
        assert_eq!(closest("height", &columns), Some("Height"));
        assert_eq!(closest("country", &columns), None);
        assert_eq!(closest("x", &["y", "z"]), None);
        assert_eq!(closest("", &["y"]), None);
    }
}
