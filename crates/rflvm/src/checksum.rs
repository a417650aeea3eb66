//! CRC-32 checksums, computed while writing.

use std::io::{self, Write};

/// A writer that counts and checksums everything written through it.
pub(crate) struct Summed<W> {
    to: W,
    sum: crc32fast::Hasher,
    length: u64,
}

impl<W: Write> Summed<W> {
    pub fn new(to: W) -> Self {
        Summed { to, sum: crc32fast::Hasher::new(), length: 0 }
    }

    /// Number of bytes written, and their checksum.
    pub fn finish(self) -> (u64, u32) {
        (self.length, self.sum.finalize())
    }
}

impl<W: Write> Write for Summed<W> {
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
