//! How much memory a table may take, decided before it is taken.
//!
//! A header can promise any number of rows and columns, and a compressed file can unpack to anything, so every reader asks
//! here with the numbers it was told.

use std::path::{Path, PathBuf};

use super::TableError;
use crate::memory::{free, in_words};

/// Granted without questions, so that small files stay quick to read and strange ones harmless.
const SMALL: u128 = 64 << 20;
/// The most that honest data unpack to: gzip ends near 1000, sparse matrices and Parquet go further.
const UNPACKED: u128 = 4096;
/// A row's share apart from its cells: its id, at least.
const ROW: u128 = 48;

/// What the file at `path` may ask for.
#[derive(Debug, Clone)]
pub(super) struct Room {
    pub path: PathBuf,
    /// Bytes in the file.
    pub size: u64,
}

impl Room {
    pub fn new(path: &Path, size: u64) -> Self {
        Room { path: path.to_path_buf(), size }
    }

    /// Whether `rows` × `columns` cells may be held.
    pub fn cells(&self, rows: u64, columns: u64) -> Result<(), TableError> {
        let (r, c) = (u128::from(rows), u128::from(columns));
        let bytes = r.saturating_mul(c).saturating_mul(8).saturating_add(r.saturating_mul(ROW));
        self.bytes(bytes, || format!("{rows} rows × {columns} columns"))
    }

    /// Whether `bytes` may be held for what `what` says.
    pub fn bytes(&self, bytes: u128, what: impl Fn() -> String) -> Result<(), TableError> {
        if bytes <= SMALL {
            return Ok(());
        }
        let why = if bytes > UNPACKED * u128::from(self.size) {
            format!("a file of {} cannot hold that much", in_words(self.size.into()))
        } else {
            match free() {
                Some(free) if bytes > free => format!("only {} is free", in_words(free)),
                _ => return Ok(()),
            }
        };
        Err(TableError::TooLarge { file: self.path.clone(), needed: in_words(bytes), what: what(), why })
    }
}
