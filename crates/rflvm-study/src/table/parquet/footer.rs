//! The footer of a Parquet file, with its schema checked before it is used.
//!
//! The crate allocates as many children as a group of columns declares, and recurses into nested groups without limit.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::thrift::{BYTE, LIST, NUMBER, RECORD, TEXT, Thrift};

/// Length and signature at the very end.
const TAIL: u64 = 8;
/// Allowed nesting of groups; a table has none.
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
    check(&footer).ok_or_else(|| wrong("its schema is invalid"))?;
    ParquetMetaDataReader::decode_metadata(&footer)
}

/// The footer begins with a version, followed by the schema, a tree in which each group is followed by as many children as it
/// declares; the crate ignores later schemas.
fn check(footer: &[u8]) -> Option<()> {
    let mut thrift = Thrift(footer);
    (thrift.field(0)? == (1, NUMBER)).then(|| thrift.number())??;
    let (2, LIST) = thrift.field(1)? else { return None };
    let (length, RECORD) = thrift.list()? else { return None };
    let mut open: Vec<u64> = Vec::new();
    for _ in 0..length {
        let mut children = 0;
        walk(&mut thrift, ELEMENT, &mut children)?;
        let children = u64::try_from(children).ok().filter(|&n| n < length)?;
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

/// The type of a field.
#[derive(Clone, Copy)]
enum Shape {
    Is(u8),
    Flag,
    Fields(&'static [(i64, Shape)]),
}

use Shape::{Fields, Flag, Is};

/// Fields that name a type of value and nothing else.
const PLAIN: Shape = Fields(&[]);
const TIME: Shape = Fields(&[(1, Flag), (2, Fields(&[(1, PLAIN), (2, PLAIN), (3, PLAIN)]))]);

/// An element of the schema. The crate reads each field as the type that its number implies, whatever type it declares; a
/// field with another type would end in different places here and there.
const ELEMENT: &[(i64, Shape)] = &[
    (1, Is(NUMBER)),
    (2, Is(NUMBER)),
    (3, Is(NUMBER)),
    (4, Is(TEXT)),
    (CHILDREN, Is(NUMBER)),
    (6, Is(NUMBER)),
    (7, Is(NUMBER)),
    (8, Is(NUMBER)),
    (9, Is(NUMBER)),
    (
        10,
        Fields(&[
            (1, PLAIN),
            (2, PLAIN),
            (3, PLAIN),
            (4, PLAIN),
            (5, Fields(&[(1, Is(NUMBER)), (2, Is(NUMBER))])),
            (6, PLAIN),
            (7, TIME),
            (8, TIME),
            (10, Fields(&[(1, Is(BYTE)), (2, Flag)])),
            (11, PLAIN),
            (12, PLAIN),
            (13, PLAIN),
            (14, PLAIN),
            (15, PLAIN),
            (16, Fields(&[(1, Is(BYTE))])),
            (17, Fields(&[(1, Is(TEXT))])),
            (18, Fields(&[(1, Is(TEXT)), (2, Is(NUMBER))])),
        ]),
    ),
];
const CHILDREN: i64 = 5;

/// Reads one record, and returns how many children it declares.
fn walk(thrift: &mut Thrift, fields: &[(i64, Shape)], children: &mut i64) -> Option<()> {
    let mut last = 0;
    loop {
        let (field, kind) = thrift.field(last)?;
        last = field;
        match (fields.iter().find(|(number, _)| *number == field).map(|(_, shape)| *shape), kind) {
            (_, 0) => return Some(()),
            (Some(Is(NUMBER)), NUMBER) if field == CHILDREN => *children = thrift.number()?,
            (Some(Is(wanted)), kind) if kind == wanted => thrift.skip(kind)?,
            (Some(Flag), 1 | 2) => {}
            (Some(Fields(fields)), RECORD) => walk(thrift, fields, children)?,
            (Some(_), _) => return None,
            (None, kind) => thrift.skip(kind)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_cannot_declare_more_children_than_there_are_elements() {
        let footer = |children: &[u8]| {
            [b"\x15\x02\x19\x2c\x48\x01a\x15", children, b"\x00\x15\x00\x25\x02\x18\x01b\x00\x00"].concat()
        };
        assert!(check(&footer(b"\x02")).is_some());
        assert!(check(&footer(b"\xfe\xff\xff\xff\x0f")).is_none());
        assert!(check(&footer(b"\x01")).is_none());
        assert!(check(b"\x15\x02\x15\x2c\x48\x01a").is_none(), "the schema must be a list");
    }

    #[test]
    fn groups_cannot_be_nested_without_limit() {
        let nested = |depth: u8| {
            let mut bytes = vec![0x15, 2, 0x19, 0xFC, depth];
            (0..depth).for_each(|_| bytes.extend(b"\x48\x01a\x15\x02\x00"));
            bytes
        };
        assert!(check(&nested(60)).is_some());
        assert!(check(&nested(100)).is_none());
    }
}
