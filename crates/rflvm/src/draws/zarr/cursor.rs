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
    pub(super) fn new(store: &'a Reader, name: &str, array: Drawn) -> Self {
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
