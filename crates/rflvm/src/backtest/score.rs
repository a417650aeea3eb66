//! Scores of the methods.

use super::{Backtest, Held};
use crate::posterior::outlook::Scores;

impl Backtest {
    /// The scores of each method over the cells that `keep` chooses, in units of their columns' standard deviations.
    pub fn scores(&self, keep: impl Fn(&Held) -> bool) -> Vec<Scores> {
        let chosen: Vec<&Held> = self.cells.iter().filter(|cell| keep(cell)).collect();
        let of = |method: usize| {
            let cell = |cell: &&Held| (cell.outlooks[method], cell.truth, self.units[cell.column]);
            Scores::of(&chosen.iter().map(cell).collect::<Vec<_>>())
        };
        (0..self.methods.len()).map(of).collect()
    }
}
