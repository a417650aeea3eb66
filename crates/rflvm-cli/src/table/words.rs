//! Words for messages: texts cut short, lists of names, the name that was probably meant.

const NAMES_SHOWN: usize = 8;

/// A text fit for a one-line message: control characters are written out, and at most `limit` characters are shown.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// The first few names, and how many more there are.
pub(super) fn list(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|n| format!("`{}`", shorten(n.as_ref(), 24))).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The name that was probably meant by `wanted`.
pub(super) fn closest<'a>(wanted: &str, names: &'a [impl AsRef<str>]) -> Option<&'a str> {
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

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn suggests_only_near_names() {
        let columns = names("species weight Height");
        assert_eq!(closest("specis", &columns), Some("species"));
        assert_eq!(closest("height", &columns), Some("Height"));
        assert_eq!(closest("country", &columns), None);
        assert_eq!(closest("x", &names("y z")), None);
        assert_eq!(closest("", &names("y")), None);
    }

    #[test]
    fn lists_and_shortens() {
        assert_eq!(list(&names("a b")), "`a`, `b`");
        assert!(list(&names("a b c d e f g h i j")).ends_with("`h` and 2 more"));
        assert_eq!(shorten("ab\ncd", 4), "ab\\nc…");
        assert_eq!(shorten("abcd", 4), "abcd");
    }
}
