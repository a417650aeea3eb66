//! Draws for reading, array by array and draw by draw, on disk ([`super::zarr`]) or in memory.

use crate::error::StoreError;
use crate::model::Model;
use std::fmt::Debug;

/// Draws of all chains of a run. Arrays are named by group and quantity, for example `posterior/x`.
pub trait Source: Debug + Send + Sync {
    /// Number of chains, and of draws per chain.
    fn size(&self) -> Result<(usize, usize), StoreError>;

    /// Names of the quantities of a group, coordinates included.
    fn names(&self, group: &str) -> Vec<String>;

    /// Whether an array with this name exists.
    fn is_drawn(&self, name: &str) -> bool;

    /// An array, for reading draw by draw.
    fn cursor<'a>(&'a self, name: &str) -> Result<Box<dyn Cursor + 'a>, StoreError>;

    /// Whether the draws were made from this model's table.
    fn is_of(&self, model: &Model) -> Result<bool, StoreError>;

    /// The error for draws of a different model.
    fn foreign(&self) -> StoreError;

    /// Number of values in one draw of an array.
    fn numbers(&self, name: &str) -> Result<usize, StoreError> {
        Ok(self.cursor(name)?.shape().iter().product())
    }

    /// Passes the draws of a chain to `take`, in order.
    fn each(&self, name: &str, chain: usize, take: &mut dyn FnMut(&[f64])) -> Result<(), StoreError> {
        let mut cursor = self.cursor(name)?;
        (0..self.size()?.1).try_for_each(|draw| cursor.at(chain, draw).map(&mut *take))
    }

    /// All draws of a chain for an array with few values, draw after draw.
    fn all(&self, name: &str, chain: usize) -> Result<Vec<f64>, StoreError> {
        let mut all = Vec::new();
        self.each(name, chain, &mut |values| all.extend_from_slice(values))?;
        Ok(all)
    }
}

/// A reader of one array of draws.
pub trait Cursor: Debug {
    /// Length of each axis of one draw.
    fn shape(&self) -> &[usize];

    /// One draw of a chain; both are counted from 0.
    fn at(&mut self, chain: usize, draw: usize) -> Result<&[f64], StoreError>;
}
