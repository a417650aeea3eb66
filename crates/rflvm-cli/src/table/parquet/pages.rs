//! Pages of a Parquet file, each checked before it is unpacked.
//!
//! The crate makes room for as many bytes and values as the header of a page declares, gigabytes for a file of a hundred
//! bytes. Headers begin with the numbers that matter, in a fixed order, so these are looked at here first.

use std::fs::File;
use std::io::{BufRead, BufReader};

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};

use super::thrift::{NUMBER, RECORD, Thrift};

/// Larger pages than this must have been packed less than `UNPACKED` times; writers aim at 1 MB.
const SMALL: u64 = 64 << 20;
const UNPACKED: u64 = 4096;

const DICTIONARY: u64 = 2;

pub(super) struct Pages {
    file: File,
    size: u64,
    /// Rows in the file, the most values that a page can have.
    rows: u64,
}

impl Pages {
    pub fn new(file: File, size: u64, rows: u64) -> Self {
        Pages { file, size, rows }
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    /// Only called where the header of a page begins.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = self.file.get_read(start)?;
        let header = Header::parse(reader.fill_buf()?);
        let header = header.ok_or_else(|| ParquetError::General("a page has no proper header".to_string()))?;
        let values = if header.kind == DICTIONARY { header.unpacked } else { self.rows };
        if header.unpacked > SMALL.max(header.packed.saturating_mul(UNPACKED)) || header.values > values {
            return Err(ParquetError::General("a page declares more than it can hold".to_string()));
        }
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.size) {
            return Err(ParquetError::EOF("the file is cut short".to_string()));
        }
        self.file.get_bytes(start, length)
    }
}

/// The first fields of a page's header.
struct Header {
    kind: u64,
    unpacked: u64,
    packed: u64,
    values: u64,
}

impl Header {
    /// Type, unpacked size, packed size, maybe a checksum, then one of three records that begin with the number of values.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut thrift = Thrift(bytes);
        let mut number = |field: i64| {
            (thrift.field(field - 1)? == (field, NUMBER)).then_some(())?;
            u64::try_from(thrift.number()?).ok()
        };
        let (kind, unpacked, packed) = (number(1)?, number(2)?, number(3)?);
        let mut next = thrift.field(3)?;
        if next == (4, NUMBER) {
            thrift.number()?;
            next = thrift.field(4)?;
        }
        let values = match (next.1, thrift.field(0)?) {
            (RECORD, (1, NUMBER)) => u64::try_from(thrift.number()?).ok()?,
            _ => return None,
        };
        Some(Header { kind, unpacked, packed, values })
    }
}
