//! Draws to read, array by array and draw by draw, wherever they lie: on disk ([`super::zarr`]) or in memory.

use crate::error::StoreError;
use crate::model::Model;
use std::fmt::Debug;

/// Draws of all chains of a run. Arrays are named by group and quantity, such as `posterior/x`.
pub trait Source: Debug + Send + Sync {
    /// Chains, and draws of each.
    fn size(&self) -> Result<(usize, usize), StoreError>;

    /// Names of the quantities of a group, coordinates included.
    fn names(&self, group: &str) -> Vec<String>;

    /// Whether there are draws of this name.
    fn is_drawn(&self, name: &str) -> bool;

    /// An array to be read draw by draw.
    fn cursor<'a>(&'a self, name: &str) -> Result<Box<dyn Cursor + 'a>, StoreError>;

    /// Whether the draws are of this model's table.
    fn is_of(&self, model: &Model) -> Result<bool, StoreError>;

    /// What is wrong with draws of another model than the one at hand.
    fn foreign(&self) -> StoreError;

    /// Numbers in one draw of an array.
    fn numbers(&self, name: &str) -> Result<usize, StoreError> {
        Ok(self.cursor(name)?.shape().iter().product())
    }

    /// Hands the draws of a chain to `take`, in order.
    fn each(&self, name: &str, chain: usize, take: &mut dyn FnMut(&[f64])) -> Result<(), StoreError> {
        let mut cursor = self.cursor(name)?;
        (0..self.size()?.1).try_for_each(|draw| cursor.at(chain, draw).map(&mut *take))
    }

    /// All draws of a chain of an array that has few numbers: draw after draw.
    fn all(&self, name: &str, chain: usize) -> Result<Vec<f64>, StoreError> {
        let mut all = Vec::new();
        self.each(name, chain, &mut |values| all.extend_from_slice(values))?;
        Ok(all)
    }
}

/// A place in an array of draws.
pub trait Cursor: Debug {
    /// Length of each axis of one draw.
    fn shape(&self) -> &[usize];

    /// One draw of a chain, both counted from 0.
    fn at(&mut self, chain: usize, draw: usize) -> Result<&[f64], StoreError>;
}
