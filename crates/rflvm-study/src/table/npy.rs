//! NumPy arrays with two axes: .npy.

mod element;
mod header;

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};

pub(super) use element::Element;
pub(super) use header::Header;

use super::allowance::Allowance;
use super::builder::TableBuilder;
use super::words::shorten;
use super::{ReadOptions, TableError, text};

/// Elements decoded at a time.
const CHUNK: usize = 8192;

pub(super) fn read(allowance: Allowance, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let file = File::open(&allowance.path).map_err(|e| text::failed(&allowance.path, &e))?;
    let size = allowance.size;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let header = Header::read(&allowance.path, &mut reader, size)?;
    read_array(allowance, &mut reader, &header, size, ".npy", options)
}

/// Reads an array after its header; `size` is the declared number of bytes, header included.
pub(super) fn read_array(
    allowance: Allowance,
    reader: &mut impl Read,
    header: &Header,
    size: u64,
    kind: &'static str,
    options: &ReadOptions,
) -> Result<TableBuilder, TableError> {
    let path = allowance.path.clone();
    let file = || path.clone();
    let element = Element::new(&header.descr).map_err(|kind| TableError::NpyType {
        file: file(),
        kind,
        dtype: shorten(header.descr.trim_matches('\''), 24),
    })?;
    let (rows, width) = two_axes(&allowance, header)?;
    // Checked against the available bytes before anything is allocated.
    let needed = u128::from(rows).checked_mul(u128::from(width)).and_then(|n| n.checked_mul(element.size as u128));
    let found = size.saturating_sub(header.length);
    let cut = |found: u64| TableError::NpyTruncated {
        file: file(),
        found,
        needed: needed.map_or("far more".to_string(), |n| n.to_string()),
        what: format!("the shape {}", header.shape_text()),
    };
    if needed.is_none_or(|n| n > u128::from(found)) {
        return Err(cut(found));
    }

    let mut builder = TableBuilder::numbered(allowance, width, kind, options)?;
    builder.fill_with_zeros(rows)?;
    if builder.width() == 0 {
        return Ok(builder);
    }
    let (rows, width) = (rows as usize, width as usize);
    // Columns of the file in order, each with its place among those that are wanted.
    let wanted: Vec<(usize, usize)> =
        builder.slots.iter().enumerate().filter_map(|(column, slot)| slot.map(|slot| (column, slot))).collect();
    let (outer, inner) = if header.fortran { (width, rows) } else { (rows, width) };
    // The usual case, in which the file is laid out as the table is.
    let is_whole = !header.fortran && wanted.len() == width && wanted.iter().all(|(column, slot)| column == slot);
    let mut bytes = vec![0; CHUNK.min(inner) * element.size];
    let mut done = 0;
    for o in 0..outer {
        for start in (0..inner).step_by(CHUNK) {
            let bytes = &mut bytes[..CHUNK.min(inner - start) * element.size];
            reader.read_exact(bytes).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => cut(done),
                _ => TableError::Damaged { file: file(), kind, reason: error.to_string() },
            })?;
            done += bytes.len() as u64;
            let refused = |(row, column): (usize, usize), value: f64| {
                let place = format!("row {}, column {}", row + 1, column + 1);
                match value.is_infinite() {
                    true => TableError::Infinite { file: file(), place, text: value.to_string() },
                    false => TableError::Rounded { file: file(), place, text: value.to_string() },
                }
            };
            let is_bad = |value: &f64| value.is_infinite() || element.may_be_rounded(*value);
            if is_whole {
                let to = &mut builder.values[o * width + start..][..bytes.len() / element.size];
                element.decode_all(bytes, to);
                match to.iter().position(is_bad) {
                    Some(i) => return Err(refused((o, start + i), to[i])),
                    None => continue,
                }
            }
            let mut put = |(row, column): (usize, usize), slot: usize, bytes: &[u8]| {
                let value = element.decode(bytes);
                if is_bad(&value) {
                    return Err(refused((row, column), value));
                }
                let at = row * builder.numeric.len() + slot;
                builder.values[at] = value;
                Ok(())
            };
            let cells = bytes.chunks_exact(element.size);
            if header.fortran {
                let Some(slot) = builder.slots[o] else { continue };
                (start..).zip(cells).try_for_each(|(row, bytes)| put((row, o), slot, bytes))?;
            } else {
                let [first, last] = [start, start + cells.len()].map(|at| wanted.partition_point(|(c, _)| *c < at));
                for &(column, slot) in &wanted[first..last] {
                    put((o, column), slot, &bytes[(column - start) * element.size..][..element.size])?;
                }
            }
        }
    }
    Ok(builder)
}

fn two_axes(allowance: &Allowance, header: &Header) -> Result<(u64, u64), TableError> {
    let (file, shape) = (allowance.path.clone(), header.shape_text());
    match header.shape[..] {
        [_, 0] | [0, _] => Err(TableError::NpyEmpty { file, shape }),
        [rows, width] => Ok((rows, width)),
        _ => Err(TableError::NpyAxes {
            file,
            shape,
            remedy: match header.shape.len() {
                0 => "save a whole array rather than a single number",
                1 => "save array.reshape(-1, 1) for one column or array.reshape(1, -1) for one row",
                _ => "save array.reshape(len(array), -1) to put all but the first axis side by side",
            },
        }),
    }
}
