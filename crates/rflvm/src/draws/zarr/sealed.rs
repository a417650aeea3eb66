//! Chunk files: a CRC-32 followed by the bytes, as written by numcodecs' codec `crc32`. All readers verify it, including
//! zarr-python and xarray.

use crate::atomic::{self, plain_reason};
use crate::checksum::Summed;
use crate::error::StoreError;
use crate::regular;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The codec's name in the metadata.
pub const CODEC: &str = "crc32";
/// Bytes before the values.
const HEAD: usize = 4;

/// Writes a file atomically; `fill` writes its values.
pub fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut Summed<&mut BufWriter<File>>) -> io::Result<()>,
) -> Result<(), StoreError> {
    let sealed = |file: &mut BufWriter<File>| {
        file.write_all(&[0; HEAD])?;
        let mut summed = Summed::new(&mut *file);
        fill(&mut summed)?;
        let (_, sum) = summed.finish();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&sum.to_le_bytes())
    };
    atomic::write_with(path, sealed).map_err(|error| StoreError::unwritten(path, &error))
}

/// A file being read value by value.
pub struct Sealed {
    path: PathBuf,
    file: BufReader<File>,
    expected: u32,
    sum: crc32fast::Hasher,
}

impl Sealed {
    /// Opens a file whose values take `size` bytes.
    pub fn open(path: PathBuf, size: usize) -> Result<Self, StoreError> {
        let mut file = regular::open(&path).map_err(|error| unreadable(&path, &error))?;
        let length = file.metadata().map_err(|error| unreadable(&path, &error))?.len();
        if length != (size + HEAD) as u64 {
            let problem = format!("the file has {length} bytes instead of {}; restore it from a copy", size + HEAD);
            return Err(StoreError::Damaged { path: path.display().to_string(), problem });
        }
        let mut head = [0; HEAD];
        file.read_exact(&mut head).map_err(|error| unreadable(&path, &error))?;
        Ok(Sealed { file: BufReader::new(file), path, expected: u32::from_le_bytes(head), sum: Default::default() })
    }

    /// Reads the next bytes.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<(), StoreError> {
        self.file.read_exact(bytes).map_err(|error| unreadable(&self.path, &error))?;
        self.sum.update(bytes);
        Ok(())
    }

    /// Verifies the checksum; call it after the last byte, and use no values before.
    pub fn check(self) -> Result<(), StoreError> {
        if self.sum.finalize() == self.expected {
            return Ok(());
        }
        let problem = "the file is damaged (its checksum differs from what was written); restore it from a copy";
        Err(StoreError::Damaged { path: self.path.display().to_string(), problem: problem.into() })
    }
}

/// All bytes of a file, verified.
pub fn read(path: PathBuf, size: usize) -> Result<Vec<u8>, StoreError> {
    let mut sealed = Sealed::open(path, size)?;
    let mut bytes = vec![0; size];
    sealed.read(&mut bytes)?;
    sealed.check()?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Read { path: path.display().to_string(), reason: plain_reason(error) }
}
