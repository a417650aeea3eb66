//! Draws of a chain that runs elsewhere, on their way to the store.

use super::array::Array;
use crate::draws::moments::Moments;
use crate::draws::quantity::{Kept, Quantity, quantities};
use crate::draws::traced::Traced;
use crate::draws::{Draw, Draws};
use crate::error::StoreError;
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// Some draws, as bytes of the store's arrays, and the running moments after them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    pub(super) draws: u64,
    pub(super) arrays: Vec<Vec<u8>>,
    pub(super) moments: Moments,
}

impl Batch {
    /// Whether it has draws of the arrays of this store.
    pub(super) fn is_for(&self, store: &[(Quantity, Array)]) -> bool {
        let bytes = |array: &Array| (array.chunk_bytes() / array.chunk[1]) as u64 * self.draws;
        self.arrays.len() == store.len()
            && self.arrays.iter().zip(store).all(|(own, (_, array))| own.len() as u64 == bytes(array))
    }
}

/// Fills a batch.
#[derive(Debug)]
pub struct Packer {
    quantities: Vec<Quantity>,
    traced: Traced,
    batch: Batch,
}

impl Packer {
    /// Continues from the moments of earlier draws.
    pub fn new(model: &Model, keep: &[Kept], moments: Moments) -> Self {
        let quantities: Vec<Quantity> = quantities(model, keep).into_iter().map(|d| d.quantity).collect();
        let arrays = vec![Vec::new(); quantities.len()];
        Packer { quantities, traced: Traced::of(model), batch: Batch { draws: 0, arrays, moments } }
    }

    /// The batch.
    pub fn finish(self) -> Batch {
        self.batch
    }
}

impl Draws for Packer {
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
        self.batch.moments.add(draw);
        self.batch.draws += 1;
        for (quantity, bytes) in self.quantities.iter().zip(&mut self.batch.arrays) {
            quantity.write(draw, &self.traced, bytes);
        }
        Ok(())
    }
}
