//! NumPy arrays with two axes: .npy.
//!
//! The header is read here and not by a crate: npyz 0.9 multiplies the axes of the header without
//! a check (a panic, or a length of zero), and 20 kB of brackets keep its Python parser busy for
//! more than a minute. Only what `numpy.save` writes is accepted.

use std::path::Path;

use super::error::shorten;
use super::{ReadOptions, Table, TableError, numbered, roles};

/// `numpy.load` has the same limit, for the same reason.
const HEADER_LIMIT: usize = 10_000;

pub(super) fn parse(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Table, TableError> {
    let file = || path.to_path_buf();
    for (value, option) in [(&options.id, "--id"), (&options.labels, "--labels")] {
        if value.is_some() {
            return Err(TableError::NpyOption { file: file(), option });
        }
    }
    let (text, data) = split(path, bytes)?;
    let header = Header::parse(text).map_err(|reason| TableError::NpyHeader { file: file(), reason })?;
    let element = Element::new(header.descr).map_err(|kind| TableError::NpyType {
        file: file(),
        kind,
        dtype: shorten(header.descr.trim_matches('\''), 24),
    })?;
    let shape = header.shape_text();
    let (rows, width) = match header.shape[..] {
        [_, 0] | [0, _] => {
            return Err(TableError::NpyEmpty { file: file(), shape });
        }
        [rows, width] => (rows, width),
        _ => {
            return Err(TableError::NpyAxes {
                file: file(),
                shape,
                remedy: match header.shape.len() {
                    0 => "save a whole array and not a single number",
                    1 => "save array.reshape(-1, 1) for one column or array.reshape(1, -1) for one row",
                    _ => "save array.reshape(len(array), -1) to put all but the first axis side by side",
                },
            });
        }
    };
    // Checked against the bytes at hand before anything is allocated.
    let needed = u128::from(rows).checked_mul(u128::from(width)).and_then(|n| n.checked_mul(element.size as u128));
    let fits = needed.is_some_and(|n| n <= data.len() as u128);
    let (Ok(rows), Ok(width), true) = (usize::try_from(rows), usize::try_from(width), fits) else {
        return Err(TableError::NpyTruncated {
            file: file(),
            found: data.len(),
            needed: needed.map_or("far more".to_string(), |n| n.to_string()),
            what: format!("the shape {shape}"),
        });
    };

    let columns = numbered(width);
    let roles = roles(path, &columns, false, false, options)?;
    let mut values = Vec::with_capacity(rows * roles.numeric.len());
    for row in 0..rows {
        for &column in &roles.numeric {
            let index = if header.fortran { column * rows + row } else { row * width + column };
            let value = element.decode(&data[index * element.size..][..element.size]);
            if value.is_infinite() {
                return Err(TableError::NpyInfinite { file: file(), row: row + 1, column: column + 1, value });
            }
            values.push(value);
        }
    }
    Ok(Table {
        path: file(),
        columns: roles.numeric.iter().map(|&p| columns[p].clone()).collect(),
        ids: numbered(rows),
        labels: None,
        rows,
        values,
        named: false,
    })
}

/// Separates the text of the header from the data.
fn split<'a>(path: &Path, bytes: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), TableError> {
    let file = || path.to_path_buf();
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or_else(|| TableError::NpyMagic { file: file() })?;
    let cut = |needed: usize| TableError::NpyTruncated {
        file: file(),
        found: bytes.len(),
        needed: needed.to_string(),
        what: "the header".to_string(),
    };
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or_else(|| cut(10))?;
    let (length, rest) = match (major, minor) {
        (1, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(|| cut(10))?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        (2 | 3, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(|| cut(12))?;
            let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
            (length, rest)
        }
        _ => {
            return Err(TableError::NpyVersion { file: file(), major, minor });
        }
    };
    if length > HEADER_LIMIT {
        return Err(TableError::NpyHeader { file: file(), reason: "it is longer than 10000 bytes" });
    }
    rest.split_at_checked(length).ok_or_else(|| cut(bytes.len() - rest.len() + length))
}

/// The three entries of the header, `descr` as it stands there.
struct Header<'a> {
    descr: &'a str,
    fortran: bool,
    shape: Vec<u64>,
}

impl<'a> Header<'a> {
    fn parse(text: &'a [u8]) -> Result<Self, &'static str> {
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
            descr: descr.ok_or("the entry descr is missing")?,
            fortran: match fortran {
                Some("True") => true,
                Some("False") => false,
                _ => return Err("the entry fortran_order is neither True nor False"),
            },
            shape: axes(shape.ok_or("the entry shape is missing")?)?,
        })
    }

    fn shape_text(&self) -> String {
        // Many axes would make the sentence unreadable.
        let shown: Vec<String> = self.shape.iter().take(8).map(u64::to_string).collect();
        match self.shape.len() {
            1 => format!("({},)", shown[0]),
            0..=8 => format!("({})", shown.join(", ")),
            _ => format!("({}, …)", shown.join(", ")),
        }
    }
}

/// Takes one value, up to the comma that follows it outside brackets and quotes.
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

/// How the bytes of one element become a number.
struct Element {
    kind: char,
    size: usize,
    big: bool,
}

impl Element {
    /// The error names what the array holds instead of numbers.
    fn new(descr: &str) -> Result<Self, &'static str> {
        let code = descr.strip_prefix(['\'', '"']).and_then(|d| d.strip_suffix(['\'', '"']));
        let Some(code) = code else {
            return Err("records");
        };
        let big = code.starts_with('>');
        let code = code.trim_start_matches(['<', '>', '|', '=']);
        let kind = code.chars().next().unwrap_or(' ');
        let size = code.get(kind.len_utf8()..).and_then(|s| s.parse().ok());
        match (kind, size) {
            ('f', Some(size @ (2 | 4 | 8))) | ('i' | 'u', Some(size @ (1 | 2 | 4 | 8))) | ('b', Some(size @ 1)) => {
                Ok(Element { kind, size, big })
            }
            ('f', _) => Err("floating-point numbers of unusual size"),
            ('c', _) => Err("complex numbers"),
            ('S' | 'U' | 'a', _) => Err("text"),
            ('O', _) => Err("Python objects"),
            ('M' | 'm', _) => Err("dates or durations"),
            ('V', _) => Err("records"),
            _ => Err("values of an unknown kind"),
        }
    }

    fn decode(&self, bytes: &[u8]) -> f64 {
        let bits = if self.big {
            bytes.iter().fold(0, |all, &b| all << 8 | u64::from(b))
        } else {
            bytes.iter().rev().fold(0, |all, &b| all << 8 | u64::from(b))
        };
        // Whole numbers beyond 2^53 are rounded, as NumPy itself does on the way to float.
        match (self.kind, self.size) {
            ('f', 8) => f64::from_bits(bits),
            ('f', 4) => f64::from(f32::from_bits(bits as u32)),
            ('f', _) => half(bits as u16),
            ('i', size) => {
                let unused = 64 - 8 * size as u32;
                ((bits << unused) as i64 >> unused) as f64
            }
            ('b', _) => f64::from(u8::from(bits != 0)),
            _ => bits as f64,
        }
    }
}

fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    let magnitude = match bits >> 10 & 0x1f {
        0 => fraction * 2_f64.powi(-14),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1.0 + fraction) * 2_f64.powi(i32::from(exponent) - 15),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}
