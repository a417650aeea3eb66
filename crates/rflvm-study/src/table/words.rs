//! Words for messages: shortened texts, lists of names.

const NAMES_SHOWN: usize = 8;

/// A text for a one-line message: control characters are escaped, and at most `limit` characters are shown.
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

/// The first few names, and the number of others.
pub(super) fn list(names: &[impl AsRef<str>]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|n| format!("`{}`", shorten(n.as_ref(), 24))).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn lists_and_shortens() {
        assert_eq!(list(&names("a b")), "`a`, `b`");
        assert!(list(&names("a b c d e f g h i j")).ends_with("`h` and 2 more"));
        assert_eq!(shorten("ab\ncd", 4), "ab\\nc…");
        assert_eq!(shorten("abcd", 4), "abcd");
    }
}
