//! A run on disk: the state of every chain, and the progress of its draws. Written atomically; verified when read.
//!
//! ```text
//! "rflvm checkpoint\n", format (u32), length of the payload (u64) and its CRC-32 (u32), payload (postcard)
//! ```

use super::chain::Snapshot;
use crate::atomic;
use crate::checksum::Summed;
use crate::draws::zarr::WriterState;
use crate::error::StoreError;
use crate::identity::Identity;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8] = b"rflvm checkpoint\n";
/// Changes whenever an older payload can no longer be read.
const FORMAT: u32 = 8;
const HEAD: usize = MAGIC.len() + 4 + 8 + 4;

/// A run that can be resumed.
#[derive(Debug, Deserialize)]
pub struct Checkpoint {
    /// The version that wrote it.
    pub version: String,
    /// Which run it belongs to.
    pub identity: Identity,
    /// Each chain, and its draws.
    pub chains: Vec<(Snapshot, WriterState)>,
}

impl Checkpoint {
    /// Number of draws of the chain that has most.
    pub fn draws(&self) -> u64 {
        self.chains.iter().map(|(_, writer)| writer.draws()).max().unwrap_or(0)
    }
}

/// The same, borrowed from a run.
#[derive(Serialize)]
struct Borrowed<'a> {
    version: &'a str,
    identity: &'a Identity,
    chains: Vec<(&'a Snapshot, &'a WriterState)>,
}

/// Writes a checkpoint, replacing the previous one.
pub fn save(path: &Path, identity: &Identity, chains: Vec<(&Snapshot, &WriterState)>) -> Result<(), StoreError> {
    let payload = Borrowed { version: env!("CARGO_PKG_VERSION"), identity, chains };
    let fill = |file: &mut io::BufWriter<File>| {
        file.write_all(&[0; HEAD])?;
        let mut summed = Summed::new(&mut *file);
        postcard::to_io(&payload, &mut summed).map_err(io::Error::other)?;
        let (length, sum) = summed.finish();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(MAGIC)?;
        file.write_all(&FORMAT.to_le_bytes())?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(&sum.to_le_bytes())
    };
    let reason = |error| StoreError::Write { path: path.display().to_string(), reason: atomic::plain_reason(&error) };
    atomic::write_with(path, fill).map_err(reason)
}

/// Reads a checkpoint.
pub fn load(path: &Path) -> Result<Checkpoint, StoreError> {
    let name = || path.display().to_string();
    let bytes =
        fs::read(path).map_err(|error| StoreError::Read { path: name(), reason: atomic::plain_reason(&error) })?;
    decode(&bytes).map_err(|problem| StoreError::Damaged { path: name(), problem })
}

fn decode(bytes: &[u8]) -> Result<Checkpoint, String> {
    let head =
        bytes.get(..HEAD).filter(|head| head.starts_with(MAGIC)).ok_or("the file is not a checkpoint of rflvm")?;
    let number = |from: usize, size: usize| {
        head[MAGIC.len() + from..][..size].iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte))
    };
    let (format, length, sum) = (number(0, 4), number(4, 8), number(12, 4));
    if format != u64::from(FORMAT) {
        return Err(format!(
            "the checkpoint has format {format}, and this version of rflvm (format {FORMAT}) cannot resume from it; use the version that started the run"
        ));
    }
    let payload = &bytes[HEAD..];
    if payload.len() as u64 != length {
        let found = payload.len();
        return Err(format!("the checkpoint was cut short ({found} bytes of {length}); restore it from a copy"));
    }
    if u64::from(crc32fast::hash(payload)) != sum {
        return Err("the checkpoint is not what was written (its checksum differs); restore it from a copy".into());
    }
    postcard::from_bytes(payload)
        .map_err(|error| format!("the checkpoint cannot be read ({error}); restore it from a copy"))
}
