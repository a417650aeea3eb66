//! The header of an array.
//!
//! Read here because npyz 0.9 multiplies the axes of the header without a check (a panic, or a length of
//! zero), and 20 kB of brackets keep its Python parser busy for more than a minute. Only what `numpy.save` writes is
//! accepted.

use std::io::{self, Read};
use std::path::Path;

use crate::table::TableError;

/// `numpy.load` has the same limit, for the same reason.
const LIMIT: u64 = 10_000;

/// The three entries of the header, with `descr` unparsed.
pub(in crate::table) struct Header {
    pub descr: String,
    pub fortran: bool,
    pub shape: Vec<u64>,
    /// Offset of the data, in bytes.
    pub length: u64,
}

impl Header {
    /// Reads everything before the data; `size` is the number of bytes in all.
    pub fn read(path: &Path, reader: &mut impl Read, size: u64) -> Result<Self, TableError> {
        let file = || path.to_path_buf();
        let cut = |needed: u64| {
            let what = "the header".to_string();
            TableError::NpyTruncated { file: file(), found: size, needed: needed.to_string(), what }
        };
        let mut take = |bytes: &mut [u8], needed: u64| {
            reader.read_exact(bytes).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => cut(needed),
                _ => TableError::Unreadable { file: file(), reason: rflvm::internal::atomic::plain_reason(&error) },
            })
        };
        let mut magic = [0; 6];
        take(&mut magic, 10)
            .and_then(|()| (magic == *b"\x93NUMPY").then_some(()).ok_or(TableError::NpyMagic { file: file() }))?;
        let mut version = [0; 2];
        take(&mut version, 10)?;
        let (start, length) = match version {
            [1, 0] => {
                let mut length = [0; 2];
                take(&mut length, 10)?;
                (10, u64::from(u16::from_le_bytes(length)))
            }
            [2 | 3, 0] => {
                let mut length = [0; 4];
                take(&mut length, 12)?;
                (12, u64::from(u32::from_le_bytes(length)))
            }
            [major, minor] => return Err(TableError::NpyVersion { file: file(), major, minor }),
        };
        if length > LIMIT {
            return Err(TableError::NpyHeader { file: file(), reason: "it is longer than 10000 bytes" });
        }
        let mut text = vec![0; length as usize];
        take(&mut text, start + length)?;
        Self::parse(&text, start + length).map_err(|reason| TableError::NpyHeader { file: file(), reason })
    }

    fn parse(text: &[u8], length: u64) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(text).map_err(|_| "it is not text")?;
        let mut rest =
            text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}')).ok_or("it is not a dictionary")?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = rest.split_once(':').ok_or("an entry has no value")?;
            let (value, after) = value(after.trim())?;
            match key.trim().trim_matches(['\'', '"']) {
                "descr" => descr = Some(value),
                "fortran_order" => fortran = Some(value),
                "shape" => shape = Some(value),
                _ => return Err("it has an unknown entry"),
            }
            rest = after.strip_prefix(',').unwrap_or(after).trim();
        }
        Ok(Header {
            length,
            descr: descr.ok_or("the entry descr is missing")?.to_string(),
            fortran: match fortran {
                Some("True") => true,
                Some("False") => false,
                _ => return Err("the entry fortran_order is neither True nor False"),
            },
            shape: axes(shape.ok_or("the entry shape is missing")?)?,
        })
    }

    pub fn shape_text(&self) -> String {
        // Many axes would make the message unreadable.
        let shown: Vec<String> = self.shape.iter().take(8).map(u64::to_string).collect();
        match self.shape.len() {
            1 => format!("({},)", shown[0]),
            0..=8 => format!("({})", shown.join(", ")),
            _ => format!("({}, …)", shown.join(", ")),
        }
    }
}

/// Takes one value, up to the next comma outside brackets and quotes.
fn value(text: &str) -> Result<(&str, &str), &'static str> {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => {
                depth = depth.checked_sub(1).ok_or("its brackets do not match")?;
            }
            (None, ',') if depth == 0 => return Ok((text[..at].trim(), text[at..].trim())),
            _ => {}
        }
    }
    if depth > 0 || quote.is_some() {
        return Err("its brackets do not match");
    }
    Ok((text.trim(), ""))
}

fn axes(text: &str) -> Result<Vec<u64>, &'static str> {
    let inner =
        text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).ok_or("the entry shape is not a tuple")?.trim();
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    inner
        .split(',')
        // Python 2 wrote long integers with an L.
        .map(|axis| axis.trim().trim_end_matches('L').parse::<u64>())
        .collect::<Result<_, _>>()
        .map_err(|_| "the entry shape is not a tuple of whole numbers")
}
