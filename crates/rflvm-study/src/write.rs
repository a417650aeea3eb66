//! Files that are written completely or not at all.

use crate::error::Error;
use rflvm::internal::atomic;
use rflvm::internal::encode;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a text.
pub fn text(path: &Path, contents: &str) -> Result<(), Error> {
    atomic::write(path, contents.as_bytes()).map_err(|error| failed(path, &error))
}

/// Writes an array in NumPy's format.
pub fn npy(path: &Path, shape: &[usize], numbers: &[f64]) -> Result<(), Error> {
    with(path, |file| {
        file.write_all(&npy_header(shape))?;
        numbers.chunks(4096).try_for_each(|some| file.write_all(&encode::floats(some)))
    })
}

/// Writes a file piece by piece.
pub fn with(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Error> {
    atomic::write_with(path, fill).map_err(|error| failed(path, &error))
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::unwritten(path, error)
}

/// The header of an .npy file of doubles, in C order.
pub fn npy_header(shape: &[usize]) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(|l| format!("{l},")).collect();
    let mut text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", lengths.join(" "));
    // Ten bytes precede the text; the header ends at a multiple of 64 with a line feed.
    let padding = (10 + text.len() + 1).next_multiple_of(64) - (10 + text.len() + 1);
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::npy_header;

    #[test]
    fn the_header_ends_at_a_multiple_of_64() {
        for shape in [&[2, 3][..], &[1], &[100, 2000, 30000, 4]] {
            assert_eq!(npy_header(shape).len() % 64, 0);
        }
    }
}
