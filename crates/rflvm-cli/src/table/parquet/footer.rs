//! The footer of a Parquet file, with a look at its schema before it is believed.
//!
//! The crate makes room for as many children as a group of columns declares, and descends into groups as deep as they go.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::thrift::{LIST, NUMBER, RECORD, Thrift};

/// Length and signature at the very end.
const TAIL: u64 = 8;
/// Groups within groups; a table has none.
const DEPTH: usize = 64;

pub(super) fn read(mut file: &File, size: u64) -> Result<ParquetMetaData> {
    let wrong = |reason: &str| ParquetError::General(reason.to_string());
    let Some(before_tail) = size.checked_sub(TAIL) else { return Err(wrong("it is too short")) };
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(before_tail))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, signature @ ..] = tail;
    if signature != *b"PAR1" {
        let encrypted = signature == *b"PARE";
        return Err(wrong(if encrypted { "it is encrypted" } else { "it does not end with the Parquet signature" }));
    }
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(start) = before_tail.checked_sub(length) else { return Err(wrong("it is cut short")) };
    let mut footer = vec![0; length as usize];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut footer)?;
    check(&footer).ok_or_else(|| wrong("its schema makes no sense"))?;
    ParquetMetaDataReader::decode_metadata(&footer)
}

/// Goes through the schema, the list in the second field of the footer.
fn check(footer: &[u8]) -> Option<()> {
    let mut thrift = Thrift(footer);
    let mut last = 0;
    loop {
        match thrift.field(last)? {
            (_, 0) => return Some(()),
            (2, LIST) => {
                let (length, RECORD) = thrift.list()? else { return None };
                check_tree(&mut thrift, length)?;
                last = 2;
            }
            (field, kind) => {
                thrift.skip(kind)?;
                last = field;
            }
        }
    }
}

/// The elements are a tree, each group followed by as many children as its field 5 declares.
fn check_tree(thrift: &mut Thrift, length: u64) -> Option<()> {
    let mut open: Vec<u64> = Vec::new();
    for _ in 0..length {
        let (mut last, mut children) = (0, 0);
        loop {
            match thrift.field(last)? {
                (_, 0) => break,
                (5, NUMBER) => {
                    children = u64::try_from(thrift.number()?).ok().filter(|&n| n < length)?;
                    last = 5;
                }
                (field, kind) => {
                    thrift.skip(kind)?;
                    last = field;
                }
            }
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > 0 {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > DEPTH {
            return None;
        }
    }
    Some(())
}
