//! Text files, decompressed while reading if their name ends in .gz.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::TableError;

const BUFFER: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub(super) fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"))
}

/// Opens a file and skips a byte-order mark.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>, TableError> {
    let file = BufReader::with_capacity(BUFFER, File::open(path).map_err(|e| failed(path, &e))?);
    let mut text: Box<dyn BufRead> = if is_gzip(path) {
        // Concatenated files, and all bgzip files, have several members.
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    };
    let mut start = Vec::new();
    text.by_ref().take(4).read_to_end(&mut start).map_err(|e| failed(path, &e))?;
    if let Some((kind, remedy)) = disguised(&start) {
        return Err(TableError::Disguised { file: path.to_path_buf(), kind, remedy });
    }
    if start.starts_with(BYTE_ORDER_MARK) {
        start.drain(..BYTE_ORDER_MARK.len());
    }
    Ok(Box::new(Cursor::new(start).chain(text)))
}

/// What a file is that has the name of a text but begins like something else, and what to do.
fn disguised(start: &[u8]) -> Option<(&'static str, &'static str)> {
    Some(match start {
        [0x1f, 0x8b, ..] => ("compressed by gzip", "append .gz to its name"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..] => {
            ("text in UTF-16 or UTF-32", "save it with UTF-8 encoding")
        }
        b"PK\x03\x04" => ("a zip archive or an Excel workbook", "unpack it, or save the sheet as .csv"),
        b"PAR1" => ("Parquet", "let its name end in .parquet"),
        _ => return None,
    })
}

/// The error for a failed read.
pub(super) fn failed(path: &Path, error: &io::Error) -> TableError {
    use io::ErrorKind::{InvalidData, InvalidInput, IsADirectory, NotFound, UnexpectedEof};
    let file = path.to_path_buf();
    match error.kind() {
        NotFound => TableError::Missing { file },
        IsADirectory => TableError::Folder { file },
        InvalidData | InvalidInput | UnexpectedEof if is_gzip(path) => {
            TableError::Gzip { file, reason: error.to_string() }
        }
        _ => TableError::Unreadable { file, reason: rflvm::internal::atomic::plain_reason(error) },
    }
}

/// Lines of a file with their numbers, without line ends.
pub(super) struct Lines<'a> {
    path: &'a Path,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    /// Number of the line returned last, from 1.
    pub number: usize,
}

impl<'a> Lines<'a> {
    /// The longest line, in bytes: a file without line ends must not be held as one line.
    const LIMIT: u64 = 1 << 20;

    pub fn open(path: &'a Path) -> Result<Self, TableError> {
        Ok(Lines { path, reader: open(path)?, line: Vec::new(), number: 0 })
    }

    /// The next line that is not blank.
    pub fn next(&mut self) -> Result<Option<&str>, TableError> {
        loop {
            self.line.clear();
            let read = self.reader.by_ref().take(Self::LIMIT).read_until(b'\n', &mut self.line);
            match read.map_err(|e| failed(self.path, &e))? {
                0 => return Ok(None),
                _ => self.number += 1,
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        if self.line.len() as u64 == Self::LIMIT {
            return Err(TableError::Damaged {
                file: self.path.to_path_buf(),
                kind: "lines of text",
                reason: format!("line {} is longer than a million characters", self.number),
            });
        }
        std::str::from_utf8(&self.line).map(|l| Some(l.trim_end_matches(['\n', '\r']))).map_err(|_| {
            TableError::NotUtf8 {
                file: self.path.to_path_buf(),
                place: format!("line {}", self.number),
                text: super::words::shorten(&String::from_utf8_lossy(&self.line), 32),
            }
        })
    }
}
