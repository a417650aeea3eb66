//! How a text table seems to be written.

use super::dialect::{Decimal, Separator};
use crate::message::with_value;

/// How a table seems to be written, where that differs from what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Its separator.
    pub separator: Option<Separator>,
    /// Its decimal mark.
    pub decimal: Option<Decimal>,
}

impl Written {
    /// How it looks, in words.
    pub fn words(self) -> String {
        match (self.separator, self.decimal) {
            (Some(separator), None) => format!("the cells seem to be separated by {}", separator.plural()),
            (Some(separator), Some(_)) => {
                format!("the cells seem to be separated by {} with decimal commas", separator.plural())
            }
            (None, _) => "its numbers seem to have decimal commas".into(),
        }
    }

    /// The settings for it.
    pub fn settings(self) -> String {
        let separator = self.separator.map(|separator| with_value("separator", &separator.to_string()));
        let decimal = self.decimal.map(|_| with_value("decimal", ","));
        separator.into_iter().chain(decimal).collect::<Vec<_>>().join(" ")
    }
}
