//! A run on disk: where every chain is, and how far its draws have come. Written whole or not at all; checked when read.
//!
//! ```text
//! "rflvm checkpoint\n", format (u32), length of the payload (u64) and its CRC-32 (u32), payload (postcard)
//! ```

use super::chain::Snapshot;
use crate::atomic;
use crate::draws::zarr::WriterState;
use crate::error::StoreError;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8] = b"rflvm checkpoint\n";
/// Changes whenever an older payload can no longer be read.
const FORMAT: u32 = 4;
const HEAD: usize = MAGIC.len() + 4 + 8 + 4;

/// A run that can be taken up again.
#[derive(Debug, Deserialize)]
pub struct Checkpoint {
    /// The version that wrote it.
    pub version: String,
    /// [`fingerprint`] of its model.
    pub fingerprint: u32,
    /// Each chain, and its draws.
    pub chains: Vec<(Snapshot, WriterState)>,
}

/// The same, borrowed from a run.
#[derive(Serialize)]
struct Borrowed<'a> {
    version: &'a str,
    fingerprint: u32,
    chains: Vec<(&'a Snapshot, &'a WriterState)>,
}

/// A number that almost surely differs between two tables, or two models of one.
pub fn fingerprint(model: &Model) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    let mut number = |v: f64| sum.update(&v.to_le_bytes());
    model.y().as_slice().iter().chain(model.offset()).for_each(|&v| number(v));
    let times = model.dynamics().map(|dynamics| dynamics.times());
    times.iter().flat_map(|t| t.at.iter().zip(&t.sequence)).for_each(|(&t, &s)| {
        number(t);
        number(s as f64);
    });
    model.units().iter().for_each(|u| {
        number(u.centre);
        number(u.scale);
    });
    model.names().iter().for_each(|name| sum.update(name.as_bytes()));
    model.blocks().iter().for_each(|b| sum.update(format!("{:?} {:?}", b.columns, b.family).as_bytes()));
    sum.update(format!("{:?}", model.spec()).as_bytes());
    sum.finalize()
}

/// Writes a checkpoint in place of the one that is there.
pub fn save(path: &Path, model: &Model, chains: Vec<(&Snapshot, &WriterState)>) -> Result<(), StoreError> {
    let payload = Borrowed { version: env!("CARGO_PKG_VERSION"), fingerprint: fingerprint(model), chains };
    let fill = |file: &mut io::BufWriter<File>| {
        file.write_all(&[0; HEAD])?;
        let mut summed = Summed { to: file, sum: crc32fast::Hasher::new(), length: 0 };
        postcard::to_io(&payload, &mut summed).map_err(io::Error::other)?;
        let (length, sum) = (summed.length, summed.sum.finalize());
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
            "the checkpoint has format {format}, and this version of rflvm (format {FORMAT}) cannot go on with it; use the version that began the run"
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

/// Counts and sums what goes through.
struct Summed<'a> {
    to: &'a mut io::BufWriter<File>,
    sum: crc32fast::Hasher,
    length: u64,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.sum.update(&bytes[..written]);
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
