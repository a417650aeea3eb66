//! One array of draws, read draw by draw. One chunk is held at a time, so that several arrays can be read together for any
//! number of draws.

use super::reader::{DrawShape, Reader};
use crate::draws::{Cursor, Source};
use crate::error::StoreError;
use crate::model::Model;

/// A reader of one array of draws.
#[derive(Debug)]
pub struct ChunkCursor<'a> {
    store: &'a Reader,
    name: String,
    array: DrawShape,
    /// Chain and index of the chunk that is held.
    held: Option<(usize, usize)>,
    values: Vec<f64>,
}

impl<'a> ChunkCursor<'a> {
    fn new(store: &'a Reader, name: &str, array: DrawShape) -> Self {
        ChunkCursor { store, name: name.into(), array, held: None, values: Vec::new() }
    }
}

impl Cursor for ChunkCursor<'_> {
    fn shape(&self) -> &[usize] {
        &self.array.shape[2..]
    }

    fn at(&mut self, chain: usize, draw: usize) -> Result<&[f64], StoreError> {
        assert!(chain < self.array.shape[0] && draw < self.array.shape[1], "the draw lies within the array");
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

impl Source for Reader {
    fn size(&self) -> Result<(usize, usize), StoreError> {
        let shape = self.drawn("sample_stats/lp")?.shape;
        Ok((shape[0], shape[1]))
    }

    fn names(&self, group: &str) -> Vec<String> {
        self.arrays(group)
    }

    fn is_drawn(&self, name: &str) -> bool {
        let dims = self.dims(name);
        dims.len() >= 2 && dims[..2] == ["chain", "draw"]
    }

    fn cursor<'a>(&'a self, name: &str) -> Result<Box<dyn Cursor + 'a>, StoreError> {
        Ok(Box::new(ChunkCursor::new(self, name, self.drawn(name)?)))
    }

    fn is_of(&self, model: &Model) -> Result<bool, StoreError> {
        // A model without its table is recognised by the digest of the run.
        let mut is_ours = (!model.has_table() || self.holds("observed_data/y", model.y().as_slice())?)
            && self.holds("constant_data/offset", model.offset())?;
        if !model.covariate_names().is_empty() {
            is_ours &= self.holds("constant_data/covariates", model.covariates().as_slice())?;
        }
        if let (true, Some(dynamics)) = (self.has("posterior/time"), model.dynamics()) {
            is_ours &= self.holds("posterior/time", &dynamics.times().at)?;
        }
        Ok(is_ours)
    }

    fn foreign(&self) -> StoreError {
        let problem = "the draws belong to another table or other settings; the table or config.toml was changed since the fit \
                       began, so put back what it was, or start a new fit";
        StoreError::Damaged { path: self.path().display().to_string(), problem: problem.into() }
    }
}
