//! Buffers of Blosc 1, the compressor of most Zarr files: blocks, each in one or several compressed streams, of which the bytes, or the bits, of
//! all elements are stored by their place within an element. Written by hand: the crates for it compile C and C++ libraries.

use std::io::Read;

use flate2::read::ZlibDecoder;

/// Bytes of the header.
const HEAD: usize = 16;
/// A block is split into one stream per byte of an element only if an element has at most this many.
const MOST_STREAMS: usize = 16;
/// And if each stream has at least this many bytes.
const LEAST_STREAM: usize = 128;

/// The bytes of a buffer, at most `most` of them.
pub(super) fn decode(bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let cut = || "its Blosc data are cut short".to_string();
    let number = |at: usize| -> Result<usize, String> {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).ok_or_else(cut)?;
        Ok(u32::from_le_bytes(word) as usize)
    };
    let [version, _, flags, size] = *bytes.first_chunk::<4>().ok_or_else(cut)?;
    if !(1..=2).contains(&version) {
        return Err(format!("its Blosc format {version} is not known"));
    }
    let (size, length, block) = (usize::from(size).max(1), number(4)?, number(8)?);
    if length > most {
        return Err("it is larger than a chunk".into());
    }
    if flags & 2 != 0 {
        return Ok(bytes.get(HEAD..HEAD + length).ok_or_else(cut)?.to_vec());
    }
    if length == 0 {
        return Ok(Vec::new());
    }
    if block == 0 || block > length {
        return Err("its Blosc data are damaged".into());
    }
    let mut decoded = Vec::with_capacity(length);
    let mut shuffled = Vec::new();
    for b in 0..length.div_ceil(block) {
        let len = block.min(length - b * block);
        let is_split = flags & 0x10 == 0 && size <= MOST_STREAMS && len / size >= LEAST_STREAM && len == block;
        let streams = if is_split { size } else { 1 };
        let (mut at, each) = (number(HEAD + 4 * b)?, len / streams);
        shuffled.clear();
        for _ in 0..streams {
            let packed = number(at)?;
            let stream = bytes.get(at + 4..(at + 4).checked_add(packed).ok_or_else(cut)?).ok_or_else(cut)?;
            if packed == each {
                shuffled.extend_from_slice(stream);
            } else {
                shuffled.extend(inflate(flags >> 5, stream, each)?);
            }
            at += 4 + packed;
        }
        if shuffled.len() != len {
            return Err("its Blosc data are damaged".into());
        }
        match flags & 5 {
            0 => decoded.extend_from_slice(&shuffled),
            1 => unshuffle(&shuffled, size, &mut decoded),
            _ => unshuffle_bits(&shuffled, size, &mut decoded),
        }
    }
    Ok(decoded)
}

/// One compressed stream of `length` bytes.
fn inflate(format: u8, stream: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let read = |reader: &mut dyn Read| {
        let mut bytes = Vec::with_capacity(length);
        reader.take(length as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    };
    match format {
        1 => lz4_flex::block::decompress(stream, length).map_err(|error| error.to_string()),
        3 => read(&mut ZlibDecoder::new(stream)),
        4 => read(&mut zstd::stream::read::Decoder::new(stream).map_err(|error| error.to_string())?),
        0 => Err("it was compressed by blosclz, which is not supported; use lz4, zstd or zlib".into()),
        _ => Err("it was compressed by snappy, which is not supported; use lz4, zstd or zlib".into()),
    }
}

/// First bytes of all elements, then second bytes, and so on; the bytes of an incomplete element come last.
fn unshuffle(bytes: &[u8], size: usize, to: &mut Vec<u8>) {
    let elements = bytes.len() / size;
    to.extend((0..elements * size).map(|i| bytes[i % size * elements + i / size]));
    to.extend_from_slice(&bytes[elements * size..]);
}

/// First bits of all elements, then second bits, and so on, of as many elements as fill whole bytes.
fn unshuffle_bits(bytes: &[u8], size: usize, to: &mut Vec<u8>) {
    let elements = bytes.len() / size / 8 * 8;
    let row = elements / 8;
    for i in 0..elements * size {
        let (element, place) = (i / size, i % size);
        let bit = |k: usize| (bytes[(8 * place + k) * row + element / 8] >> (element % 8) & 1) << k;
        to.push((0..8).map(bit).sum());
    }
    to.extend_from_slice(&bytes[elements * size..]);
}
