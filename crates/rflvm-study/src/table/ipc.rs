//! Arrow IPC files and streams, including Feather version 2: .arrow, .feather, .ipc.
//!
//! A file is a stream between two signatures, so both are read as streams. Messages are read here, with their lengths
//! checked against the file, because the crate trusts the unpacked length that a compressed buffer declares.

use std::fs::File;
use std::io::{BufReader, Read};

use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::ArrowError;

use super::allowance::Allowance;
use super::builder::TableBuilder;
use super::frame::{self, Error};
use super::guard::guarded;
use super::{ReadOptions, TableError, text};

const KIND: &str = "Arrow";
const CONTINUATION: [u8; 4] = [0xFF; 4];
const END_OF_STREAM: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

pub(super) fn read(allowance: Allowance, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let file = File::open(&allowance.path).map_err(|e| text::failed(&allowance.path, &e))?;
    guarded(&allowance, KIND, || {
        let mut frames = Frames { allowance: allowance.clone(), decoder: StreamDecoder::new(), builder: None };
        let failed = |failure| match failure {
            Error::Table(error) => error,
            Error::Arrow(error) => damaged(&allowance, error.to_string()),
        };
        frames.read_all(BufReader::new(file), options).map_err(failed)?;
        match (frames.builder, frames.decoder.schema()) {
            (Some(builder), _) => Ok(builder),
            (None, Some(_)) => Err(TableError::NoRows { file: allowance.path.clone() }),
            (None, None) => Err(damaged(&allowance, "it does not begin with a schema".to_string())),
        }
    })
}

fn damaged(allowance: &Allowance, reason: String) -> TableError {
    TableError::Damaged { file: allowance.path.clone(), kind: KIND, reason: super::words::shorten(&reason, 160) }
}

struct Frames {
    allowance: Allowance,
    decoder: StreamDecoder,
    builder: Option<TableBuilder>,
}

impl Frames {
    fn read_all(&mut self, mut reader: BufReader<File>, options: &ReadOptions) -> Result<(), Error> {
        let mut left = self.allowance.size;
        let mut word = [0; 8];
        let mut next = |word: &mut [u8; 8]| {
            left = left.checked_sub(8)?;
            reader.read_exact(word).ok()
        };
        let cut = || damaged(&self.allowance, "it is cut short".to_string());
        next(&mut word).ok_or_else(cut)?;
        if word.starts_with(b"FEA1") {
            let reason = "it is Feather version 1; write version 2, as pandas and pyarrow do today";
            return Err(damaged(&self.allowance, reason.to_string()).into());
        }
        // The signature is followed by zeros, up to a boundary that depends on the writer.
        while word.starts_with(b"ARROW1") || word == [0; 8] {
            next(&mut word).ok_or_else(cut)?;
        }
        reader.seek_relative(-8).map_err(ArrowError::from)?;
        left += 8;
        while let Some(message) = self.message(&mut reader, &mut left)? {
            self.decode(message, options)?;
        }
        // The decoder completes a message without body only when another follows.
        self.decode(Buffer::from(END_OF_STREAM), options)
    }

    /// The next message with its body, as stored in the file; `left` counts the bytes not yet read.
    fn message(&self, reader: &mut impl Read, left: &mut u64) -> Result<Option<Buffer>, Error> {
        let cut = || damaged(&self.allowance, "it is cut short".to_string());
        let mut take = |bytes: &mut [u8]| {
            *left = left.checked_sub(bytes.len() as u64).ok_or_else(cut)?;
            reader.read_exact(bytes).map_err(|e| text::failed(&self.allowance.path, &e))
        };
        let mut word = [0; 4];
        // A stream may end without an end marker.
        if take(&mut word).is_err() {
            return Ok(None);
        }
        // Old writers omit the marker.
        if word == CONTINUATION {
            take(&mut word)?;
        }
        let length = u32::from_le_bytes(word) as usize;
        if length == 0 {
            return Ok(None);
        }
        if length as u64 > self.allowance.size {
            return Err(cut().into());
        }
        let mut description = vec![0; length];
        take(&mut description)?;
        let message = root_as_message(&description).map_err(|e| ArrowError::ParseError(e.to_string()))?;
        let body =
            usize::try_from(message.bodyLength()).ok().filter(|&b| b as u64 <= self.allowance.size).ok_or_else(cut)?;

        let head = CONTINUATION.len() + word.len() + length;
        let mut bytes = MutableBuffer::with_capacity(head + body);
        bytes.extend_from_slice(&CONTINUATION);
        bytes.extend_from_slice(&word);
        bytes.extend_from_slice(&description);
        bytes.resize(head + body, 0);
        take(&mut bytes[head..])?;
        self.check_buffers(&message, &bytes[head..])?;
        Ok(Some(bytes.into()))
    }

    /// Rejects buffers outside the body, or that declare an impossible unpacked size.
    fn check_buffers(&self, message: &Message, body: &[u8]) -> Result<(), TableError> {
        let batch = match message.header_type() {
            MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|d| d.data()),
            _ => message.header_as_record_batch(),
        };
        let Some(batch) = batch else { return Ok(()) };
        let mut unpacked = 0;
        for buffer in batch.buffers().iter().flatten() {
            let bytes = usize::try_from(buffer.offset())
                .ok()
                .zip(usize::try_from(buffer.length()).ok())
                .and_then(|(offset, length)| body.get(offset..)?.get(..length))
                .ok_or_else(|| damaged(&self.allowance, "a buffer is outside its message".to_string()))?;
            let declared = bytes.first_chunk().map_or(0, |&length| i64::from_le_bytes(length));
            unpacked += u128::try_from(declared).unwrap_or(0);
        }
        match batch.compression() {
            Some(_) => self.allowance.bytes(unpacked, || "its unpacked buffers".to_string()),
            None => Ok(()),
        }
    }

    fn decode(&mut self, mut bytes: Buffer, options: &ReadOptions) -> Result<(), Error> {
        while !bytes.is_empty() {
            let Some(batch) = self.decoder.decode(&mut bytes)? else { continue };
            let builder = match &mut self.builder {
                Some(builder) => builder,
                none => none.insert(frame::builder(self.allowance.clone(), &batch.schema(), options)?),
            };
            let start = builder.rows;
            builder.reserve(batch.num_rows(), 0)?;
            builder.rows += batch.num_rows();
            builder.values.resize(builder.rows * builder.width(), f64::NAN);
            let positions: Vec<usize> = (0..batch.num_columns()).collect();
            frame::fill(builder, &batch, &positions, start)?;
        }
        Ok(())
    }
}
