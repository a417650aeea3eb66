//! Findings of the fuzzer: small files on which the crates for Parquet and Arrow (versions 60.1) panicked or aborted.

use super::{load, options, plain};

/// A format, what is wrong, and the file.
const FOUND: &[(&str, &str, &[u8])] = &[
    (
        "parquet",
        "fewer bits than values",
        b"PAR1\x15\0\x15\x0e\x15\x0e,\x15\x06\x15\0\x15\x06\x15\x06\0\0\x02\0\0\0\x01\x05\x15\x02\x19,H\x0carrow_s\
         chema\x15\x02\0\x15\0%\x02\x18\x01a\0\x16\x06\x19\x1c\x19\x1c&\0\x1c\x15\0\x19%\0\x06\x19\x18\x01a\x15\0\
         \x16\x06\x160\x160&\x08I\x1c\x15\0\x15\0\x15\x02\0\0\0\x160\x16\x06&\x08\x160\x14\0\0(\0\x19\x1c\x1c\0\0\
         \0X\0\0\0PAR1",
    ),
    (
        "parquet",
        "a page of the second version shorter than its levels",
        b"PAR1\x15\x06\x15\x10\x15\0\\\x15\x06\x15\0\x15\x06\x15\x06\x15\x04\x15\0\x12\0\0\x06\x01\x02\0\0\0\x03\
         \x05\x15\x04\x19,H\x0carrow_schema\x15\x02\0\x15\0%\x02\x18\x01a\0\x16\x06\x19\x1c\x19\x1c&\0\x1c\x15\0\
         \x19\x15\x06\x19\x18\x01a\x15\0\x16\x06\x16<\x16<&\x08I\x1c\x15\x06\x15\x06\x15\x02\0\0\0\x16<\x16\x06&\
         \x08\x16<\x14\0\0(\0\x19\x1c\x1c\0\0\0W\0\0\0PAR1",
    ),
    (
        "parquet",
        "a missing dictionary",
        b"PAR1\x15\0\x15\x0e\x15\x0e,\x15\x06\x15\x10\x15\x06\x15\x06\0\0\x02\0\0\0\x06\x01\x05\x15\x02\x19,H\x0ca\
         rrow_schema\x15\x02\0\x15\0%\x02\x18\x01a\0\x16\x06\x19\x1c\x19\x1c&\0\x1c\x15\0\x19%\0\x06\x19\x18\x01a\
         \x15\0\x16\x06\x160\x160&\x08I\x1c\x15\0\x15\0\x15\x02\0\0\0\x160\x16\x06&\x08\x160\x14\0\0(\0\x19\x1c\
         \x1c\0\0\0X\0\0\0PAR1",
    ),
    (
        "parquet",
        "packed differences cut short",
        b"PAR1\x15\0\x15\x20\x15\x20,\x15\x06\x15\x0a\x15\x06\x15\x06\0\0\x02\0\0\0\x03\x05\x80\x01\x04\0\x15\x02\
         \x19,H\x0carrow_schema\x15\x02\0\x15\x02%\x02\x18\x01a\0\x16\x06\x19\x1c\x19\x1c&\0\x1c\x15\x02\x19%\x06\
         \x0a\x19\x18\x01a\x15\0\x16\x06\x16B\x16B&\x08I\x1c\x15\0\x15\x0a\x15\x02\0\0\0\x16B\x16\x06&\x08\x16B\
         \x14\0\0(\0\x19\x1c\x1c\0\0\0X\0\0\0PAR1",
    ),
    (
        "parquet",
        "a missing dictionary",
        b"PAR1\x15\0\x15\x1c\x15\x1c,\x15\x06\x15\x12\x15\x06\x15\x06\0\0\x02\0\0\0\x06\x15\x06\x15\x04\x15\0\x19,\
         H\x0carrow_schema\x15\x02\0\x15\x02%\x02\x18\x01a\0\x16\x06\x19\x1c\x19\x1c&\0\x1c\x15\x02\x19%\x06\x12\
         \x19\x18\x01a\x15\0\x16\x06\x16>\x16>&\x08I\x1c\x15\0\x15\x12\x15\x02\0\0\0\x16>\x16\x06&\x08\x16>\x14\0\
         \0(\0\x19\x1c\x1c\0\0\0X\0\0\0PAR1",
    ),
    (
        "parquet",
        "a column of negative length",
        b"PAR1\x15\0\0\x07\x18\x02\0\0\0\x06\x01\x05\x15\x02\x19,H\x0carrow_schema\x15\x02\0\x15\0%\x02\x18\x01a\0\
         \x16\x06\x19\x1c\x19\x1c&\0\x1c\x15\0\x19%\0\x06\x19\x18\x01a\x15\x02\x16\x06\x160\x163&\x08I\x1c\x15\0\
         \x15\0\x15\x02\0\0\0\x160\x16\x06&\x08\x164\x14\0\0(\0\x19\x1c\x1c\0\0\0X\0\0\0PAR1",
    ),
    (
        "parquet",
        "a group with 2147483647 children, an abort rather than a panic",
        b"PAR1\x15\0\x15\x0e\x15\x0e,\x15\x06\x15\0\x15\x06\x15\x06\0\0a\x15\x02\x16\x06\x16D\x16D&\x08I\x1c\x15\
         \x06\x15\x0a\x15,H\x0carrow_schema\x15\x02\0\x15\0%\x02\x18\x01a\x15\xfe\xff\xff\xff\x0f\x1c&\0\x1c\x15\
         \0\x19%\0\x06\x19\x18\x01a\x15\0\x16\x06\x160\x160&\x08I\x1c\x15\0\x15\0\x15\x02\0\0\0\x160\x16\x06&\x08\
         \x160\x14\0\0(\0\x19\x1c\x1c\0\0\0X\0\0\0PAR1",
    ),
    (
        "arrow",
        "a buffer beyond its message",
        b"\xff\xff\xff\xffx\0\0\0\x10\0\0\0\0\0\x0a\0\x0c\0\x0a\0\x09\0\x04\0\x0a\0\0\0\x10\0\0\0\0\x01\x04\0\x08\
         \0\x08\0\0\0\x04\0\x08\0\0\0\x04\0\0\0\x01\0\0\0\x14\0\0\0\x10\0\x16\0\x10\0\x0e\0\x0f\0\x04\0\0\0\x08\0\
         \x10\0\0\0\x18\0\0\0\x1c\0\0\0\0\0\x01\x03\x18\0\0\0\0\0\x06\0\x08\0\x06\0\x06\0\0\0\0\0\x02\0\0\0\0\0\
         \x01\0\0\0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xb8\0\0\0\x10\0\0\0\x0c\0\x1a\0\x18\0\x17\0\x04\0\x08\0\x0c\0\
         \0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\x04\0\x0a\0\x18\0\x0c\0\x08\0\x04\0\x0a\0\0\0,\0\0\0\
         \x10\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\
         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    ),
    (
        "arrow",
        "offsets of text out of step with memory",
        b"\xff\xff\xff\xffx\0\0\0\x10\0\0\0\0\0\x0a\0\x0c\0\x0a\0\x09\0\x04\0\x0a\0\0\0\x10\0\0\0\0\x01\x04\0\x08\
         \0\x08\0\0\0\x04\0\x08\0\0\0\x04\0\0\0\x01\0\0\0\x14\0\0\0\x10\0\x14\0\x10\0\x0e\0\x0f\0\x04\0\0\0\x08\0\
         \x10\0\0\0\x18\0\0\0\x0c\0\0\0\0\0\x01\x05\x10\0\0\0\0\0\0\0\x04\0\x04\0\x04\0\0\0\x01\0\0\0a\0\0\0\0\0\
         \0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xb8\0\0\0\x10\0\0\0\x0c\0\x1a\0\x18\0\x17\0\x04\0\x08\0\x0c\0\0\0\
         \x20\0\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\x04\0\x0a\0\x18\0\x0c\0\x08\0\x04\0\x0a\0\0\0,\0\0\0\x10\
         \0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\
         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x15\0\0\0\0\0\0\0@\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
         \0999999\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\0\0\0\0\0\0\0\0\0\0aba\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
         \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\
         \0\0",
    ),
];

#[test]
fn files_that_broke_other_readers_end_in_a_clear_error() {
    for (extension, what, bytes) in FOUND {
        for outcome in [plain(extension, bytes), load(extension, bytes, &options("a", "-", "-"))] {
            let sentence = outcome.unwrap_err();
            let expected = ["the file cannot be read as ", "the column `a` holds text"];
            assert!(expected.iter().any(|e| sentence.starts_with(e)), "{what}: {sentence}");
        }
    }
}
