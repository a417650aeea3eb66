//! One array of draws, read draw by draw: one chunk of it is held, so that several arrays can be read side by side in any
//! number of draws.

use super::reader::{Drawn, Reader};
use crate::error::StoreError;

/// A place in an array of draws.
#[derive(Debug)]
pub struct Cursor<'a> {
    store: &'a Reader,
    name: String,
    array: Drawn,
    /// Chain and number of the chunk that is held.
    held: Option<(usize, usize)>,
    values: Vec<f64>,
}

impl<'a> Cursor<'a> {
    fn new(store: &'a Reader, name: &str, array: Drawn) -> Self {
        Cursor { store, name: name.into(), array, held: None, values: Vec::new() }
    }

    /// Chains, and draws of each.
    pub fn size(&self) -> (usize, usize) {
        (self.array.shape[0], self.array.shape[1])
    }

    /// Length of each axis of one draw.
    pub fn shape(&self) -> &[usize] {
        &self.array.shape[2..]
    }

    /// One draw of a chain, both counted from 0.
    pub fn at(&mut self, chain: usize, draw: usize) -> Result<&[f64], StoreError> {
        assert!(chain < self.array.shape[0] && draw < self.array.shape[1], "a draw that the array has");
        let (numbers, per_chunk) = (self.shape().iter().product::<usize>(), self.array.chunk[1]);
        let (chunk, inside) = (draw / per_chunk, draw % per_chunk);
        if self.held != Some((chain, chunk)) {
            self.held = None;
            self.store.chunk(&self.name, &self.array, chain, chunk, &mut self.values)?;
            self.held = Some((chain, chunk));
        }
        Ok(&self.values[inside * numbers..][..numbers])
    }
}

impl Reader {
    /// Chains and draws.
    pub fn size(&self) -> Result<(usize, usize), StoreError> {
        Ok(self.cursor("sample_stats/lp")?.size())
    }

    /// An array to be read draw by draw.
    pub fn cursor(&self, name: &str) -> Result<Cursor<'_>, StoreError> {
        Ok(Cursor::new(self, name, self.drawn(name)?))
    }

    /// Hands the draws of a chain to `take`, in order.
    pub fn each(&self, name: &str, chain: usize, mut take: impl FnMut(&[f64])) -> Result<(), StoreError> {
        let mut cursor = self.cursor(name)?;
        (0..cursor.size().1).try_for_each(|draw| cursor.at(chain, draw).map(&mut take))
    }

    /// All draws of a chain of an array that has few numbers: draw after draw.
    pub fn all(&self, name: &str, chain: usize) -> Result<Vec<f64>, StoreError> {
        let mut all = Vec::new();
        self.each(name, chain, |values| all.extend_from_slice(values))?;
        Ok(all)
    }
}
