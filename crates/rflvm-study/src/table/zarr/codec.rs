//! Compressors of chunks.

use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use super::blosc;

/// How the bytes of a chunk were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Blosc,
    Gzip,
    Zlib,
    Zstd,
    /// A block of LZ4 after its length.
    Lz4,
    /// A checksum (CRC-32C) after the bytes.
    Crc32c,
}

impl Codec {
    pub fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "blosc" => Codec::Blosc,
            "gzip" => Codec::Gzip,
            "zlib" => Codec::Zlib,
            "zstd" | "numcodecs.zstd" => Codec::Zstd,
            "lz4" => Codec::Lz4,
            "crc32c" => Codec::Crc32c,
            "sharding_indexed" => return Err("its chunks are packed into shards; write it without shards".into()),
            other => return Err(format!("its codec {other} is not supported; use zstd, gzip, zlib or blosc")),
        })
    }

    /// The bytes before this codec; `whole` is the number of bytes of a chunk, if known.
    pub fn decode(self, bytes: Vec<u8>, whole: Option<usize>) -> Result<Vec<u8>, String> {
        // Texts are of unknown length: nothing is read beyond a plausible ratio to the packed size.
        let most = whole.unwrap_or_else(|| bytes.len().saturating_mul(1024).saturating_add(1 << 16));
        match self {
            Codec::Blosc => blosc::decode(&bytes, most),
            Codec::Gzip => unpacked(MultiGzDecoder::new(&bytes[..]), most),
            Codec::Zlib => unpacked(ZlibDecoder::new(&bytes[..]), most),
            Codec::Zstd => unpacked(zstd::stream::read::Decoder::new(&bytes[..]).map_err(|e| e.to_string())?, most),
            Codec::Lz4 => {
                let (length, block) = bytes.split_first_chunk::<4>().ok_or("it is cut short")?;
                let length = u32::from_le_bytes(*length) as usize;
                if length > most {
                    return Err("it is larger than a chunk".into());
                }
                lz4_flex::block::decompress(block, length).map_err(|error| error.to_string())
            }
            Codec::Crc32c => {
                let (rest, sum) = bytes.split_last_chunk::<4>().ok_or("it is cut short")?;
                if crc32c(rest) != u32::from_le_bytes(*sum) {
                    return Err("its checksum differs from what was written".into());
                }
                Ok(rest.to_vec())
            }
        }
    }
}

/// Castagnoli's checksum. By hand: the other readers need only the usual one.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let (mut table, mut i) = ([0; 256], 0);
        while i < 256 {
            let (mut sum, mut bit) = (i as u32, 0);
            while bit < 8 {
                sum = if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
                bit += 1;
            }
            table[i] = sum;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(u32::MAX, |sum, &byte| TABLE[(sum as u8 ^ byte) as usize] ^ sum >> 8)
}

/// Everything that a reader gives; an error beyond `most` bytes.
fn unpacked(reader: impl Read, most: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    reader.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > most { Err("it is larger than a chunk".into()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }
}
