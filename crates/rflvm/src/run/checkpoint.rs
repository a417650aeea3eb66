//! A run on disk: the state of every chain, and the progress of its draws. Written atomically; verified when read.
//!
//! ```text
//! "rflvm checkpoint\n", format (u32), length of the payload (u64) and its CRC-32 (u32), payload (postcard),
//! the tables of each chain (F as f64, then sums of F as f32, row by row), their CRC-32 (u32)
//! ```
//!
//! Tables lie outside of the payload, so that they are written as they come from the processes that share their columns, and each process reads
//! only its own columns of them.

use super::chain::{Held, Snapshot};
use crate::atomic;
use crate::checksum::Summed;
use crate::draws::zarr::WriterState;
use crate::encode;
use crate::error::StoreError;
use crate::identity::Identity;
use crate::model::Model;
use crate::regular;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"rflvm checkpoint\n";
/// Changes whenever an older payload can no longer be read.
const FORMAT: u32 = 11;
const HEAD: usize = MAGIC.len() + 4 + 8 + 4;

/// A run that can be resumed; the tables of its chains are still on disk.
#[derive(Debug)]
pub struct Checkpoint {
    /// The version that wrote it.
    pub version: String,
    /// Which run it belongs to.
    pub identity: Identity,
    /// Each chain without its tables, and its draws.
    pub chains: Vec<(Snapshot, WriterState)>,
    tables: Tables,
}

/// The tables of a checkpoint.
#[derive(Debug)]
struct Tables {
    path: PathBuf,
    /// Where they begin.
    start: u64,
    /// What each chain has.
    held: Vec<Held>,
    /// Rows and columns.
    shape: (usize, usize),
}

#[derive(Deserialize)]
struct Payload {
    version: String,
    identity: Identity,
    chains: Vec<(Snapshot, WriterState)>,
    held: Vec<Held>,
    shape: (usize, usize),
}

/// The same, borrowed from a run.
#[derive(Serialize)]
struct Borrowed<'a> {
    version: &'a str,
    identity: &'a Identity,
    chains: Vec<(Snapshot, &'a WriterState)>,
    held: Vec<Held>,
    shape: (usize, usize),
}

impl Checkpoint {
    /// Number of draws of the chain that has most.
    pub fn draws(&self) -> u64 {
        self.chains.iter().map(|(_, writer)| writer.draws()).max().unwrap_or(0)
    }

    /// Verifies the tables, which are read piece by piece.
    pub fn check_tables(&self) -> Result<(), StoreError> {
        let Tables { path, start, .. } = &self.tables;
        let summed = || -> io::Result<(u32, u32)> {
            let mut file = regular::open(path)?;
            file.seek(SeekFrom::Start(*start))?;
            let (mut left, mut sum) = (self.tables.size(), crc32fast::Hasher::new());
            let mut piece = vec![0; 1 << 16];
            while left > 0 {
                let some = &mut piece[..left.min(1 << 16) as usize];
                file.read_exact(some)?;
                sum.update(some);
                left -= some.len() as u64;
            }
            let mut written = [0; 4];
            file.read_exact(&mut written)?;
            Ok((sum.finalize(), u32::from_le_bytes(written)))
        };
        let (found, written) = summed().map_err(|error| unreadable(path, &error))?;
        if found == written { Ok(()) } else { Err(damaged(path, CHANGED)) }
    }

    /// The columns of a process of every chain, with its draws.
    pub fn own_of(self, model: &Model) -> Result<Vec<(Snapshot, WriterState)>, StoreError> {
        let Checkpoint { chains, tables, .. } = self;
        let own = model.chunks().own_columns();
        if tables.shape != (model.rows(), model.all_columns()) {
            return Err(damaged(&tables.path, "its tables do not have the shape of the table; restore it from a copy"));
        }
        let mut file = BufReader::with_capacity(
            1 << 16,
            regular::open(&tables.path).map_err(|error| unreadable(&tables.path, &error))?,
        );
        let mut at = tables.start;
        let mut complete = Vec::with_capacity(chains.len());
        for ((snapshot, writer), held) in chains.into_iter().zip(&tables.held) {
            let mut snapshot = snapshot.own_of(model);
            let mut columns = |size: u64| {
                let read = tables.columns(&mut file, at, size, &own);
                at += tables.cells() * size;
                read.map_err(|error| unreadable(&tables.path, &error))
            };
            let f = if held.f { columns(8)? } else { Vec::new() };
            let sums = if held.sums { columns(4)? } else { Vec::new() };
            let f = f.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
            let sums = sums.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap_or_default())).collect();
            snapshot.put_tables(model, *held, f, sums);
            complete.push((snapshot, writer));
        }
        Ok(complete)
    }
}

impl Tables {
    /// Cells of a table.
    fn cells(&self) -> u64 {
        (self.shape.0 as u64).saturating_mul(self.shape.1 as u64)
    }

    /// Bytes of all tables.
    fn size(&self) -> u64 {
        let bytes = |held: &Held| if held.f { 8 } else { 0 } + if held.sums { 4 } else { 0 };
        let of_chain = |held: &Held| self.cells().saturating_mul(bytes(held));
        self.held.iter().map(of_chain).fold(0, u64::saturating_add)
    }

    /// The bytes of some columns of the table that begins at `at`, whose numbers have `size` bytes.
    fn columns(&self, file: &mut BufReader<File>, at: u64, size: u64, own: &Range<usize>) -> io::Result<Vec<u8>> {
        let ((rows, width), own_bytes) = (self.shape, own.len() * size as usize);
        let mut bytes = vec![0; rows * own_bytes];
        for (n, row) in bytes.chunks_exact_mut(own_bytes.max(1)).enumerate() {
            // Within the buffer, nothing is read again.
            let place = at + (n * width + own.start) as u64 * size;
            let now = file.stream_position()?;
            file.seek_relative(place as i64 - now as i64)?;
            file.read_exact(row)?;
        }
        Ok(bytes)
    }
}

/// Writes a checkpoint, replacing the previous one. Where processes share the columns, all call it with their parts, and the first writes.
pub fn save(
    path: &Path,
    identity: &Identity,
    model: &Model,
    chains: &[(&Snapshot, &WriterState)],
) -> Result<(), StoreError> {
    let held: Vec<Held> = chains.iter().map(|(snapshot, _)| snapshot.held()).collect();
    // All processes take part in collecting all chains.
    let lean: Vec<Option<Snapshot>> = chains.iter().map(|(snapshot, _)| snapshot.collect(model)).collect();
    let Some(lean) = lean.into_iter().collect::<Option<Vec<Snapshot>>>() else {
        let seen = send_tables(model, chains, |_| Ok::<(), io::Error>(()));
        return seen.map_err(|error| refused(path, &error));
    };
    let payload = Borrowed {
        version: env!("CARGO_PKG_VERSION"),
        identity,
        chains: lean.into_iter().zip(chains).map(|(snapshot, (_, writer))| (snapshot, *writer)).collect(),
        held,
        shape: (model.rows(), model.all_columns()),
    };
    let fill = |file: &mut BufWriter<File>| {
        file.write_all(&[0; HEAD])?;
        let mut summed = Summed::new(&mut *file);
        postcard::to_io(&payload, &mut summed).map_err(io::Error::other)?;
        let (length, sum) = summed.finish();
        let mut summed = Summed::new(&mut *file);
        send_tables(model, chains, |piece| summed.write_all(piece))?;
        let (_, sum_of_tables) = summed.finish();
        file.write_all(&sum_of_tables.to_le_bytes())?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(MAGIC)?;
        file.write_all(&FORMAT.to_le_bytes())?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(&sum.to_le_bytes())
    };
    atomic::write_with(path, fill).map_err(|error| refused(path, &error))
}

/// Shows the first process the bytes of the tables of all chains, some rows at a time.
fn send_tables(
    model: &Model,
    chains: &[(&Snapshot, &WriterState)],
    mut see: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (rows, width) = (model.rows(), model.columns());
    for (snapshot, _) in chains {
        let Held { f, sums } = snapshot.held();
        if f {
            let own = |some: Range<usize>| snapshot.table().as_slice()[some.start * width..some.end * width].to_vec();
            model.chunks().collect_rows(rows, own, |table| see(&encode::floats(table)))?;
        }
        if sums {
            let own = |some: Range<usize>| {
                snapshot.sums()[some.start * width..some.end * width].iter().map(|&f| f64::from(f)).collect()
            };
            model.chunks().collect_rows(rows, own, |table| see(&encode::singles(table)))?;
        }
    }
    Ok(())
}

const CHANGED: &str = "the checkpoint is not what was written (its checksum differs); restore it from a copy";

/// Reads a checkpoint, except for the tables of its chains.
pub fn load(path: &Path) -> Result<Checkpoint, StoreError> {
    let mut file = regular::open(path).map_err(|error| unreadable(path, &error))?;
    let size = file.metadata().map_err(|error| unreadable(path, &error))?.len();
    let mut head = [0; HEAD];
    let read = file.read_exact(&mut head);
    if read.is_err() || !head.starts_with(MAGIC) {
        return Err(damaged(path, "the file is not a checkpoint of rflvm"));
    }
    let number = |from: usize, size: usize| {
        head[MAGIC.len() + from..][..size].iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte))
    };
    let (format, length, sum) = (number(0, 4), number(4, 8), number(12, 4));
    if format != u64::from(FORMAT) {
        return Err(damaged(
            path,
            &format!(
                "the checkpoint has format {format}, and this version of rflvm (format {FORMAT}) cannot resume from it; use the version that started the run"
            ),
        ));
    }
    let cut = |found: u64, needed: u64| {
        damaged(path, &format!("the checkpoint was cut short ({found} bytes of {needed}); restore it from a copy"))
    };
    let start = HEAD as u64 + length;
    if size < start {
        return Err(cut(size.saturating_sub(HEAD as u64), length));
    }
    let mut payload = vec![0; length as usize];
    file.read_exact(&mut payload).map_err(|error| unreadable(path, &error))?;
    if u64::from(crc32fast::hash(&payload)) != sum {
        return Err(damaged(path, CHANGED));
    }
    let unknown = |error| damaged(path, &format!("the checkpoint cannot be read ({error}); restore it from a copy"));
    let Payload { version, identity, chains, held, shape } = postcard::from_bytes(&payload).map_err(unknown)?;
    let tables = Tables { path: path.to_path_buf(), start, held, shape };
    let needed = start.saturating_add(tables.size()).saturating_add(4);
    if size != needed {
        return Err(cut(size, needed));
    }
    Ok(Checkpoint { version, identity, chains, tables })
}

fn refused(path: &Path, error: &io::Error) -> StoreError {
    StoreError::unwritten(path, error)
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Read { path: path.display().to_string(), reason: atomic::plain_reason(error) }
}

fn damaged(path: &Path, problem: &str) -> StoreError {
    StoreError::Damaged { path: path.display().to_string(), problem: problem.into() }
}
