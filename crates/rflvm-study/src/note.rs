//! What there is to say about a fit besides its results.

/// A remark, which whoever runs the fit shows to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Whether it may spoil the results.
    pub is_warning: bool,
    /// One sentence.
    pub text: String,
}

impl Note {
    /// A remark.
    pub fn say(text: String) -> Self {
        Note { is_warning: false, text }
    }

    /// A warning.
    pub fn warn(text: String) -> Self {
        Note { is_warning: true, text }
    }
}
