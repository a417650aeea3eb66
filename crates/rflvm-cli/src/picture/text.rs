//! Text in pictures: escaped, and shortened to the available space.
//!
//! There are no font metrics here: widths are generous guesses for the common sans-serif fonts.

use std::fmt::Write;

/// Appends to a picture; formatting into a string cannot fail.
pub(super) fn put(out: &mut String, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}

/// A text for XML. Characters that XML 1.0 does not allow, mainly control characters, become spaces.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Upper bound on the width of a text, in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size / 12.0
}

/// The beginning of a text that fits into this many pixels, escaped.
pub(super) fn cut(text: &str, room: f64, size: f64) -> String {
    escape(&beginning(text, room, size))
}

/// The beginning of a text that fits into this many pixels.
pub(super) fn beginning(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.into();
    }
    let kept = fitting(text.chars(), room - width("…", size), size);
    format!("{}…", text.chars().take(kept).collect::<String>())
}

/// Both ends of a text that fit into this many pixels, escaped: similar names often differ in their last letters.
pub(super) fn cut_middle(text: &str, room: f64, size: f64) -> String {
    escape(&ends(text, room, size))
}

/// Both ends of a text that fit into this many pixels.
pub(super) fn ends(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.into();
    }
    let half = (room - width("…", size)) / 2.0;
    let (head, tail) = (fitting(text.chars(), half, size), fitting(text.chars().rev(), half, size));
    let all: Vec<char> = text.chars().collect();
    all[..head].iter().chain(&['…']).chain(&all[all.len() - tail..]).collect()
}

/// Names that fit into this many pixels, escaped. Those that would look the same when shortened are cut where they begin to differ.
pub(super) fn cut_apart(names: &[&str], room: f64, size: f64) -> Vec<String> {
    let cuts: Vec<String> = names.iter().map(|name| cut_middle(name, room, size)).collect();
    let apart = |i: usize| {
        let alike = || (0..names.len()).filter(|&j| j != i && cuts[j] == cuts[i] && names[j] != names[i]);
        let common = |j: usize| names[i].chars().zip(names[j].chars()).take_while(|(a, b)| a == b).count();
        // A few characters before the first difference.
        alike().map(common).min().map(|place| names[i].chars().skip(place.saturating_sub(8)).collect::<String>())
    };
    (0..names.len())
        .map(|i| apart(i).map_or_else(|| cuts[i].clone(), |end| cut(&format!("…{end}"), room, size)))
        .collect()
}

/// How many characters fit.
fn fitting(characters: impl Iterator<Item = char>, room: f64, size: f64) -> usize {
    let mut left = room * 12.0 / size;
    characters
        .take_while(|&c| {
            left -= advance(c);
            left >= 0.0
        })
        .count()
}

/// Width of a character at 12 pixels.
fn advance(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 4.4,
        'r' | 't' | 'f' | '(' | ')' | '[' | ']' | '/' | '-' => 5.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 12.0,
        'A'..='Z' => 8.8,
        c if c < '\u{1100}' => 7.6,
        _ => 12.6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_within_their_space() {
        let long = "a very long name that ends in its number 17";
        let room = 120.0;
        assert!(cut(long, room, 12.0).ends_with('…') && width(&cut(long, room, 12.0), 12.0) <= room);
        let both = cut_middle(long, room, 12.0);
        assert!(both.starts_with("a ve") && both.ends_with("r 17") && width(&both, 12.0) <= room, "{both}");
        assert_eq!(cut("a<b", room, 12.0), "a&lt;b");
        assert_eq!(cut_middle("面".repeat(3).as_str(), room, 12.0), "面面面");
        let names = [
            "T cells, activated, batch 1 of the second cohort",
            "T cells, activated, batch 2 of the second cohort",
            "B",
        ];
        let cuts = cut_apart(&names, room, 12.0);
        assert!(cuts[0].contains("batch 1") && cuts[1].contains("batch 2") && cuts[2] == "B", "{cuts:?}");
        assert!(cuts.iter().all(|cut| width(cut, 12.0) <= room));
        assert_eq!((cut(long, 0.0, 12.0), cut_middle(long, 0.0, 12.0)), ("…".into(), "…".into()));
    }
}
