//! A reader that stops at a record that is too long.
//!
//! A gigabyte of zeros compresses to a megabyte, and an unclosed quotation mark turns the rest of a file into one cell. The CSV
//! reader would hold either in memory.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The longest record, in bytes: enough for one or two million columns.
pub(super) const LIMIT: u64 = 32 << 20;

/// How far records have been read, reported by the reader of records.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark(Rc<Cell<u64>>);

impl Mark {
    /// Everything before this byte belongs to complete records.
    pub fn set(&self, reached: u64) {
        self.0.set(reached);
    }
}

/// Passes on what `inner` reads, as long as no record is longer than `limit`.
pub(super) struct Bounded<R> {
    inner: R,
    given: u64,
    mark: Mark,
    limit: u64,
}

impl<R: Read> Bounded<R> {
    pub fn new(inner: R, mark: Mark, limit: u64) -> Self {
        Bounded { inner, given: 0, mark, limit }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given - self.mark.0.get() > self.limit {
            return Err(io::Error::other(TooLong));
        }
        let read = self.inner.read(buffer)?;
        self.given += read as u64;
        Ok(read)
    }
}

/// Why a [`Bounded`] reader stops.
#[derive(Debug, thiserror::Error)]
#[error("a record is too long")]
pub(super) struct TooLong;

/// Whether an error is that of a record that is too long.
pub(super) fn is_too_long(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<TooLong>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_may_be_as_long_as_the_limit_and_no_longer() {
        let mark = Mark::default();
        let mut reader = Bounded::new(io::repeat(b'0'), mark.clone(), 100);
        let mut buffer = [0; 50];
        for _ in 0..3 {
            assert_eq!(reader.read(&mut buffer).unwrap(), 50);
        }
        assert!(is_too_long(&reader.read(&mut buffer).unwrap_err()));
        mark.set(140);
        assert_eq!(reader.read(&mut buffer).unwrap(), 50);
    }
}
