//! The part of Thrift's compact protocol that is needed to check a header before the crate reads it.

/// Types of fields; integers of all lengths are encoded in the same way.
pub(super) const BYTE: u8 = 3;
pub(super) const NUMBER: u8 = 5;
pub(super) const TEXT: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const RECORD: u8 = 12;

/// Nothing in Parquet is nested more deeply.
const DEPTH: u8 = 32;

/// The bytes left to read; functions return `None` for invalid bytes.
pub(super) struct Thrift<'a>(pub &'a [u8]);

impl<'a> Thrift<'a> {
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    /// Seven bits per byte, the lowest first.
    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// The sign is in the lowest bit.
    pub fn number(&mut self) -> Option<i64> {
        self.unsigned().map(|folded| (folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// Number and type of the field of a record after the field `last`; zero and zero at its end.
    pub fn field(&mut self, last: i64) -> Option<(i64, u8)> {
        match self.byte()? {
            0 => Some((0, 0)),
            byte if byte >> 4 == 0 => Some((self.number()?, byte)),
            byte => Some((last.checked_add(i64::from(byte >> 4))?, byte & 0x0F)),
        }
    }

    /// Length of a list and type of its elements.
    pub fn list(&mut self) -> Option<(u64, u8)> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 { self.unsigned()? } else { u64::from(byte >> 4) };
        (length <= self.0.len() as u64).then_some((length, byte & 0x0F))
    }

    pub fn skip(&mut self, kind: u8) -> Option<()> {
        self.skip_within(kind, DEPTH)
    }

    fn skip_within(&mut self, kind: u8, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // As fields; true and false in a list take a byte, but Parquet has no such lists.
            1 | 2 => Some(()),
            BYTE => self.take(1).map(drop),
            4..=6 => self.unsigned().map(drop),
            7 => self.take(8).map(drop),
            TEXT => {
                let length = self.unsigned()?;
                self.take(length).map(drop)
            }
            LIST | 10 => {
                let (length, kind) = self.list()?;
                (0..length)
                    .try_for_each(|_| if kind <= 2 { self.take(1).map(drop) } else { self.skip_within(kind, depth) })
            }
            RECORD => {
                let mut last = 0;
                loop {
                    match self.field(last)? {
                        (_, 0) => return Some(()),
                        (field, kind) => {
                            self.skip_within(kind, depth)?;
                            last = field;
                        }
                    }
                }
            }
            _ => None,
        }
    }
}
