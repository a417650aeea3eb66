//! How much memory a table may take, checked before it is allocated.
//!
//! A header can promise any number of rows and columns, and a compressed file can unpack to any size, so every reader asks
//! here before it allocates.

use std::path::{Path, PathBuf};

use super::TableError;
use crate::bytes::{free, in_words};

/// Always granted, so that small files stay quick to read and strange ones harmless.
const SMALL: u128 = 64 << 20;
/// The largest plausible ratio of unpacked to packed size: gzip ends near 1000, sparse matrices and Parquet go further.
const UNPACKED: u128 = 4096;
/// Memory per row in addition to its cells: at least its id.
const ROW: u128 = 48;

/// The memory that the file at `path` may request.
#[derive(Debug, Clone)]
pub(super) struct Allowance {
    pub path: PathBuf,
    /// Size of the file, in bytes.
    pub size: u64,
}

impl Allowance {
    pub fn new(path: &Path, size: u64) -> Self {
        Allowance { path: path.to_path_buf(), size }
    }

    /// Checks that `rows` × `columns` cells may be held.
    pub fn cells(&self, rows: u64, columns: u64) -> Result<(), TableError> {
        let (r, c) = (u128::from(rows), u128::from(columns));
        let bytes = r.saturating_mul(c).saturating_mul(8).saturating_add(r.saturating_mul(ROW));
        self.bytes(bytes, || format!("{rows} rows × {columns} columns"))
    }

    /// Checks that `bytes` may be held; `what` describes their purpose.
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
