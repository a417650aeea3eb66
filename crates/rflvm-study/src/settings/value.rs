//! The types that a setting can have: each is parsed from what a user types, and described for help texts and checks.

use crate::names::Names;
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
