//! A fit to draw conclusions from: the draws in a store, the model they are of, and which of them count.
//!
//! Each question that a fit can be asked is a file of its own beside this one, as methods of [`Fitted`].

use super::parameters::evenly;
use crate::draws::Source;
use crate::error::StoreError;
use crate::model::Model;
use crate::rng::Stream;

/// Draws that are visited unless asked otherwise: quantiles near the ends are then known to a percent or so.
pub const DRAWS: usize = 1000;
/// Numbers held at once: cells of a batch of rows × draws. More cells take more passes over the store.
pub(super) const HELD: usize = 1 << 25;

/// A fit, and which of its draws to use.
#[derive(Debug, Clone, Copy)]
pub struct Fitted<'a> {
    /// The draws.
    pub store: &'a dyn Source,
    /// The model that they are of.
    pub model: &'a Model,
    /// The chains to use.
    pub used: &'a [usize],
    /// Where the randomness of answers comes from.
    pub stream: Stream,
}

impl Fitted<'_> {
    /// Chain and number of at most `most` draws, evenly spaced.
    pub(super) fn visited(&self, most: usize) -> Result<Vec<(usize, usize)>, StoreError> {
        Ok(evenly(self.used, self.store.size()?.1, most))
    }
}
