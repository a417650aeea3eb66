//! Messages about a fit, in addition to its results.

/// A message for the user, shown by whoever runs the fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Whether the results may be affected.
    pub is_warning: bool,
    /// One sentence.
    pub text: String,
}

impl Note {
    /// A plain note.
    pub fn say(text: String) -> Self {
        Note { is_warning: false, text }
    }

    /// A warning.
    pub fn warn(text: String) -> Self {
        Note { is_warning: true, text }
    }
}
