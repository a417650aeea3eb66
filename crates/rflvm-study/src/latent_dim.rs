//! The number of latent axes: given, or learned from the data.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Axes that `auto` begins with by default.
const MOST: usize = 6;

/// The latent dimension, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum LatentDim {
    /// This many axes.
    Fixed(usize),
    /// As many as are in use, of at most this many; `auto`, or `auto:8`.
    Auto(usize),
}

impl LatentDim {
    /// D of the model, for a table with this many columns. A given number is checked with the model.
    pub fn axes(self, columns: usize) -> usize {
        match self {
            LatentDim::Fixed(dim) => dim,
            LatentDim::Auto(most) => most.min(columns),
        }
    }
}

impl Default for LatentDim {
    fn default() -> Self {
        LatentDim::Fixed(2)
    }
}

impl FromStr for LatentDim {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || format!("'{text}' is not a number of axes, auto, or auto with a maximum such as auto:8");
        let number = |text: &str| text.parse().map_err(|_| problem());
        match text.split_once(':') {
            None if text == "auto" => Ok(LatentDim::Auto(MOST)),
            None => number(text).map(LatentDim::Fixed),
            Some(("auto", most)) => match number(most)? {
                0 => Err(problem()),
                most => Ok(LatentDim::Auto(most)),
            },
            Some(_) => Err(problem()),
        }
    }
}

impl fmt::Display for LatentDim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LatentDim::Fixed(dim) => write!(f, "{dim}"),
            LatentDim::Auto(most) => write!(f, "auto:{most}"),
        }
    }
}

/// In a file: a number, or a word.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(usize),
    Word(String),
}

impl TryFrom<Written> for LatentDim {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Number(dim) => Ok(LatentDim::Fixed(dim)),
            Written::Word(word) => word.parse(),
        }
    }
}

impl From<LatentDim> for Written {
    fn from(dim: LatentDim) -> Self {
        match dim {
            LatentDim::Fixed(dim) => Written::Number(dim),
            LatentDim::Auto(_) => Written::Word(dim.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_auto_with_a_maximum() {
        assert_eq!("3".parse(), Ok(LatentDim::Fixed(3)));
        assert_eq!("auto".parse(), Ok(LatentDim::Auto(MOST)));
        assert_eq!("auto:9".parse::<LatentDim>().map(|d| d.axes(4)), Ok(4));
        for bad in ["", "auto:0", "auto:", "many", "-1", "2:3", "1.5"] {
            assert!(bad.parse::<LatentDim>().is_err(), "{bad}");
        }
    }
}
