//! Pages of a Parquet file, each checked before it is unpacked.
//!
//! The crate allocates as many bytes and values as the header of a page declares: gigabytes for a file of a hundred
//! bytes. Headers begin with the relevant numbers, in a fixed order, so they are checked here first.

use std::fs::File;
use std::io::{BufRead, BufReader};

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};

use super::thrift::{NUMBER, RECORD, Thrift};

/// Pages larger than this must have a compression ratio below `UNPACKED`; writers aim at 1 MB.
const SMALL: u64 = 64 << 20;
const UNPACKED: u64 = 4096;

const DICTIONARY: u64 = 2;

pub(super) struct Pages {
    file: File,
    size: u64,
    /// Rows in the file, the largest number of values in a page.
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

    /// Only called at the start of a page header.
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
    /// Type, unpacked size, packed size, an optional checksum, then one of three records that begin with the number of values.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn page(header: &[u8]) -> Result<BufReader<File>> {
        let path = std::env::temp_dir().join(format!("rflvm-page-{}", std::process::id()));
        std::fs::write(&path, header).unwrap();
        let read = Pages::new(File::open(&path).unwrap(), header.len() as u64, 3).get_read(0);
        std::fs::remove_file(&path).unwrap();
        read
    }

    #[test]
    fn pages_cannot_declare_more_than_they_hold() {
        // Type, unpacked 7, packed 7, a record with 3 values.
        assert!(page(b"\x15\x00\x15\x0e\x15\x0e\x2c\x15\x06\x00").is_ok());
        assert!(page(b"\x15\x00\x15\x0e\x15\x0e\x15\x01\x1c\x15\x06\x00").is_ok(), "with a checksum");
        assert!(page(b"\x15\x00\x15\xfe\xff\xff\xff\x0f\x15\x0e\x2c\x15\x06\x00").is_err(), "2 GB unpacked");
        assert!(page(b"\x15\x00\x15\x0e\x15\x0e\x2c\x15\x08\x00").is_err(), "more values than rows");
        assert!(page(b"\x15\x04\x15\x0e\x15\x0e\x4c\x15\x0e\x00").is_ok(), "a dictionary");
        assert!(page(b"\x15\x04\x15\x0e\x15\x0e\x4c\x15\x10\x00").is_err(), "more words than bytes");
        assert!(page(b"\x15\x00\x15\x0d\x15\x0e\x2c\x15\x06\x00").is_err(), "a negative size");
        assert!(page(b"\x15\x00\x19\x0e").is_err());
    }
}
