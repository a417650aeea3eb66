//! A fit to be queried: the draws in a store, their model, and which of them to use.
//!
//! Each query has its own file next to this one, as methods of [`Fitted`].

use super::parameters::evenly;
use super::predicted::Predicted;
use super::stacking::Weighted;
use crate::draws::Source;
use crate::error::StoreError;
use crate::model::Model;
use crate::model::family::Cells;
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
    /// The chains to use, all of the same mode: positions are never averaged over different modes.
    pub used: &'a [usize],
    /// All sampled modes with their weights, from which predictions are drawn; empty if the chains in use sample the only one.
    pub modes: &'a [Weighted],
    /// Whether the uncertainty of positions is that of all chains and not only of those in use: where chains began apart.
    pub is_pooled: bool,
    /// Random stream of the answers.
    pub stream: Stream,
}

impl Fitted<'_> {
    /// Chain and index of at most `most` draws for predictions, evenly spaced, from each mode in proportion to its weight.
    pub(super) fn visited(&self, most: usize) -> Result<Vec<(usize, usize)>, StoreError> {
        let draws = self.store.size()?.1;
        if self.modes.is_empty() {
            return Ok(evenly(self.used, draws, most));
        }
        let counts = Weighted::counts(self.modes, draws, most);
        Ok(self.modes.iter().zip(counts).flat_map(|(mode, count)| evenly(&mode.used, draws, count)).collect())
    }

    /// Chain and index of at most `most` draws for questions about positions: from the chains in use alone.
    pub(super) fn visited_in_map(&self, most: usize) -> Result<Vec<(usize, usize)>, StoreError> {
        Ok(evenly(self.used, self.store.size()?.1, most))
    }

    /// Whether the unseen cells of a column have a mean. Counts with column processes have none: s_j has a heavier tail than any normal, so that
    /// E exp(g_j) = E exp(s_j²/2) diverges. An observed cell has one: it bounds its own g. Log-normal cells have none, observed or not:
    /// E exp(σ_j²/2) diverges.
    pub(super) fn has_moments(&self, column: usize) -> bool {
        let block = self.model.blocks().iter().find(|block| block.columns.contains(&column));
        let is_count = block.and_then(|block| block.family.about()).is_some_and(|about| about.cells == Cells::Counts);
        (self.model.column_process().is_none() || !is_count) && !self.is_logarithmic(column)
    }

    fn is_logarithmic(&self, column: usize) -> bool {
        let mut blocks = self.model.blocks().iter();
        blocks.any(|block| block.columns.contains(&column) && block.family.is_logarithmic())
    }

    /// Removes means and standard deviations that do not exist from the cells of some rows (outer) and the columns of the model (inner).
    pub(super) fn drop_moments(&self, cells: &mut [Vec<Predicted>], is_unseen: impl Fn(usize, usize) -> bool) {
        for column in (0..self.model.columns()).filter(|&column| !self.has_moments(column)) {
            let has_none = |row: usize| self.is_logarithmic(column) || is_unseen(row, column);
            let unseen = cells.iter_mut().enumerate().filter(|(row, _)| has_none(*row));
            unseen.for_each(|(_, row)| row[column] = row[column].without_moments());
        }
    }
}
