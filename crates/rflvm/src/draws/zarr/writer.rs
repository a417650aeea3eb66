//! Writes the draws of one chain to the store.

use super::array::Array;
use super::batch::Batch;
use super::sealed;
use super::store::Store;
use crate::draws::moments::Moments;
use crate::draws::quantity::Quantity;
use crate::draws::traced::Traced;
use crate::draws::{Draw, Draws};
use crate::error::StoreError;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Progress of a chain's draws: part of a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WriterState {
    draws: u64,
    /// CRC-32 of all bytes of each array so far, with which a resumed run verifies them.
    sums: Vec<u32>,
    moments: Moments,
}

impl WriterState {
    /// Number of draws taken so far.
    pub fn draws(&self) -> u64 {
        self.draws
    }
}

/// Appends the draws of a chain.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    chain: u64,
    drawn: Arc<Vec<(Quantity, Array)>>,
    traced: Traced,
    /// The draws in each array's last chunk.
    buffers: Vec<Vec<u8>>,
    sums: Vec<crc32fast::Hasher>,
    state: WriterState,
}

impl Writer {
    /// For chain `chain`; `has_f` says whether moments of F are kept.
    pub fn new(store: &Store, model: &Model, chain: usize, has_f: bool) -> Self {
        let drawn = store.drawn();
        Writer {
            path: store.path.clone(),
            chain: chain as u64,
            traced: Traced::of(model),
            buffers: drawn.iter().map(|_| Vec::new()).collect(),
            sums: drawn.iter().map(|_| crc32fast::Hasher::new()).collect(),
            state: WriterState { draws: 0, sums: vec![0; drawn.len()], moments: Moments::new(has_f) },
            drawn,
        }
    }

    /// For a process that does not write, with the progress of the one that does.
    pub fn of(store: &Store, model: &Model, chain: usize, state: WriterState) -> Self {
        Writer { state, ..Writer::new(store, model, chain, false) }
    }

    /// Continues from a checkpoint; later draws in the store are overwritten. Fails if the earlier draws are not those that
    /// were written.
    pub fn resume(store: &Store, model: &Model, chain: usize, state: WriterState) -> Result<Self, StoreError> {
        let mut writer = Writer::new(store, model, chain, false);
        for (i, (_, array)) in writer.drawn.clone().iter().enumerate() {
            let per_chunk = array.chunk[1] as u64;
            let bytes_per_draw = array.chunk_bytes() / array.chunk[1];
            let mut sum = crc32fast::Hasher::new();
            let chunks = state.draws.div_ceil(per_chunk);
            for chunk in 0..chunks {
                let draws = (state.draws - chunk * per_chunk).min(per_chunk) as usize;
                let file = array.file(&store.path, &writer.place(array, chunk));
                let mut bytes = sealed::read(file, array.chunk_bytes())?;
                bytes.truncate(draws * bytes_per_draw);
                sum.update(&bytes);
                if chunk + 1 == chunks && (draws as u64) < per_chunk {
                    writer.buffers[i] = bytes;
                }
            }
            if state.sums.get(i) != Some(&sum.clone().finalize()) {
                let path = array.folder(&store.path).display().to_string();
                let problem = "the draws are not those that were written (their checksum differs), so the run cannot go on; \
                               restore the folder from a copy or start a new fit";
                return Err(StoreError::Damaged { path, problem: problem.into() });
            }
            writer.sums[i] = sum;
        }
        writer.state = state;
        Ok(writer)
    }

    /// Number of draws taken so far.
    pub fn draws(&self) -> u64 {
        self.state.draws
    }

    /// The running moments.
    pub fn moments(&self) -> &Moments {
        &self.state.moments
    }

    /// Progress to record in a checkpoint, once the draws are on disk.
    pub fn state(&self) -> &WriterState {
        &self.state
    }

    /// Writes all draws to disk.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        for i in 0..self.drawn.len() {
            self.state.sums[i] = self.sums[i].clone().finalize();
            if !self.buffers[i].is_empty() {
                self.write_chunk(i, (self.state.draws - 1) / self.drawn[i].1.chunk[1] as u64)?;
            }
        }
        Ok(())
    }

    /// Appends draws that were made elsewhere, after those so far.
    pub fn append(&mut self, batch: Batch) -> Result<(), StoreError> {
        if !batch.is_for(&self.drawn) {
            let problem = "the draws that were made elsewhere do not have the arrays of this store; let all machines have the same \
                           version of rflvm";
            return Err(StoreError::Damaged { path: self.path.display().to_string(), problem: problem.into() });
        }
        for (i, bytes) in batch.arrays.into_iter().enumerate() {
            self.sums[i].update(&bytes);
            let (size, per_chunk) = (self.drawn[i].1.chunk_bytes(), self.drawn[i].1.chunk[1] as u64);
            let (mut chunk, mut bytes) = (self.state.draws / per_chunk, &bytes[..]);
            while !bytes.is_empty() {
                let (now, later) = bytes.split_at(bytes.len().min(size - self.buffers[i].len()));
                self.buffers[i].extend_from_slice(now);
                if self.buffers[i].len() == size {
                    self.write_chunk(i, chunk)?;
                    self.buffers[i].clear();
                    chunk += 1;
                }
                bytes = later;
            }
        }
        self.state.draws += batch.draws;
        self.state.moments = batch.moments;
        Ok(())
    }

    fn place(&self, array: &Array, chunk: u64) -> Vec<u64> {
        let mut place = vec![0; array.shape.len()];
        (place[0], place[1]) = (self.chain, chunk);
        place
    }

    /// Writes the buffer as this chunk, padded with the fill value.
    fn write_chunk(&mut self, i: usize, chunk: u64) -> Result<(), StoreError> {
        let array = &self.drawn[i].1;
        let file = array.file(&self.path, &self.place(array, chunk));
        let used = self.buffers[i].len();
        let fill = array.kind.fill();
        let missing = (array.chunk_bytes() - used) / fill.len();
        self.buffers[i].extend((0..missing).flat_map(|_| fill));
        let outcome = sealed::write_with(&file, |to| to.write_all(&self.buffers[i]));
        self.buffers[i].truncate(used);
        outcome
    }
}

impl Draws for Writer {
    fn needs_f(&self) -> bool {
        self.state.moments.has_f() || self.drawn.iter().any(|(quantity, _)| *quantity == Quantity::F)
    }

    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
        self.state.moments.add(draw);
        self.state.draws += 1;
        for i in 0..self.drawn.len() {
            let start = self.buffers[i].len();
            self.drawn[i].0.write(draw, &self.traced, &mut self.buffers[i]);
            self.sums[i].update(&self.buffers[i][start..]);
            let array = &self.drawn[i].1;
            if self.buffers[i].len() == array.chunk_bytes() {
                self.write_chunk(i, (self.state.draws - 1) / array.chunk[1] as u64)?;
                self.buffers[i].clear();
            }
        }
        Ok(())
    }
}
