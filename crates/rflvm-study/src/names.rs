//! Names in a list that a user types.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Several texts, separated by commas; one that contains a comma is in double quotes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Names(pub Vec<String>);

/// A text in double quotes, in which two are one, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inside = text.trim_start().strip_prefix('"')?;
    let mut from = 0;
    loop {
        let end = from + inside[from..].find('"')?;
        let after = &inside[end + 1..];
        if after.starts_with('"') {
            from = end + 2;
            continue;
        }
        let is_end = after.trim_start().is_empty() || after.trim_start().starts_with(',');
        return is_end.then(|| (inside[..end].replace("\"\"", "\""), after.trim_start()));
    }
}

impl FromStr for Names {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut names, mut rest) = (Vec::new(), text);
        loop {
            let end = rest.find(',').unwrap_or(rest.len());
            let (name, after) = quoted(rest).unwrap_or_else(|| (rest[..end].to_string(), &rest[end..]));
            names.push(name);
            match after.strip_prefix(',') {
                Some(more) => rest = more,
                None => return Ok(Names(names)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::listed;

    #[test]
    fn names_with_commas_are_typed_in_double_quotes() {
        for (text, names) in [
            ("a,b", &["a", "b"][..]),
            ("", &[""]),
            ("a,", &["a", ""]),
            ("\"a,b\", c", &["a,b", " c"]),
            ("x, \"say \"\"a, b\"\"\"", &["x", "say \"a, b\""]),
            ("5\" pipe,b", &["5\" pipe", "b"]),
            ("\"open,b", &["\"open", "b"]),
            ("\"a\"b,c", &["\"a\"b", "c"]),
        ] {
            let read: Names = text.parse().unwrap();
            assert_eq!(read.0, names, "{text}");
            let typed: Vec<String> = names.iter().map(|name| listed(name)).collect();
            assert_eq!(typed.join(",").parse::<Names>().unwrap().0, names, "{typed:?}");
        }
    }
}
