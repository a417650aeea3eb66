//! The types that a setting can have: each is parsed from what a user types, and described for help texts and checks.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

/// What kind of value a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// true or false.
    Truth,
    /// Free text, or a number or one of some words.
    Text,
    /// A file or folder.
    Path,
    /// One of a few words.
    Choice,
    /// Several texts, separated by commas.
    Names,
}

impl Kind {
    /// Its name, for other languages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Whole => "whole",
            Kind::Number => "number",
            Kind::Truth => "truth",
            Kind::Text => "text",
            Kind::Path => "path",
            Kind::Choice => "choice",
            Kind::Names => "names",
        }
    }
}

/// A type that a setting can have.
pub trait Value: Sized {
    /// What kind of value it is.
    const KIND: Kind;
    /// The allowed words, each with its meaning; empty for other types.
    const CHOICES: &'static [(&'static str, &'static str)] = &[];

    /// Parses what a user typed. Only paths need not be UTF-8.
    fn parse(text: &OsStr) -> Result<Self, String>;
}

macro_rules! parsed {
    ($($type:ty: $kind:ident),*) => {
        $(impl Value for $type {
            const KIND: Kind = Kind::$kind;

            fn parse(text: &OsStr) -> Result<Self, String> {
                utf8(text)?.parse().map_err(|error: <$type as FromStr>::Err| error.to_string())
            }
        })*
    };
}
parsed!(usize: Whole, u64: Whole, f64: Number, bool: Truth, String: Text, Names: Names);
parsed!(crate::latent_dim::LatentDim: Text, crate::table::Separator: Text, crate::table::Decimal: Text);

impl Value for PathBuf {
    const KIND: Kind = Kind::Path;

    fn parse(text: &OsStr) -> Result<Self, String> {
        Ok(text.into())
    }
}

/// The typed value as text.
pub(crate) fn utf8(text: &OsStr) -> Result<&str, String> {
    text.to_str().ok_or_else(|| "it is not valid UTF-8".to_string())
}

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
