//! A fit to be queried: the draws in a store, their model, and which of them to use.
//!
//! Each query has its own file next to this one, as methods of [`Fitted`].

use super::parameters::evenly;
use crate::draws::Source;
use crate::error::StoreError;
use crate::model::Model;
use crate::rng::Stream;

/// Default number of draws visited: quantiles near the ends are then known to about one percentage point.
pub const DRAWS: usize = 1000;
/// Values held at once: cells of a batch of rows × draws. More cells take more passes over the store.
pub(super) const HELD: usize = 1 << 25;

/// A fit, and which of its draws to use.
#[derive(Debug, Clone, Copy)]
pub struct Fitted<'a> {
    /// The draws.
    pub store: &'a dyn Source,
    /// Their model.
    pub model: &'a Model,
    /// The chains to use.
    pub used: &'a [usize],
    /// Random stream of the answers.
    pub stream: Stream,
}

impl Fitted<'_> {
    /// Chain and index of at most `most` draws, evenly spaced.
    pub(super) fn visited(&self, most: usize) -> Result<Vec<(usize, usize)>, StoreError> {
        Ok(evenly(self.used, self.store.size()?.1, most))
    }
}
