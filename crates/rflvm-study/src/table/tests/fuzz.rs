//! Damaged files of every format: none may panic, take long, or yield an inconsistent table.
//!
//! `RFLVM_FUZZ` is the number of files per format, `RFLVM_FUZZ_SEED` the seed, `RFLVM_FUZZ_ONLY` the only extension.

use std::fs;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::gzip::gzip;
use super::mtx::Folder;
use super::seeds::{Format, formats};
use super::*;
use std::path::Path;

const DEFAULT_FILES: u64 = 4_000;
/// The most CPU time per file, in hundredths of a second.
const PATIENCE: u64 = 500;

/// CPU time of this thread so far, in hundredths of a second: unlike wall time, it does not depend on the load of the machine.
/// Only Linux reports it; elsewhere it is zero, and only a reader that never ends is noticed.
fn computed() -> u64 {
    let told = fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // User and system time, counted from the name of the program, which may contain spaces.
    let fields = told.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Tokens that are special in one of the formats, and numbers at the limits of types.
const TOKENS: [&[u8]; 34] = [
    b",",
    b"\"",
    b"\n",
    b"\r",
    b"\t",
    b"(",
    b"]",
    b"'",
    b"{",
    b"%",
    b"\0",
    b"\xff",
    b"1e999",
    b"-1",
    b"NaN",
    b"inf",
    b"999999",
    b"99999999999999999999",
    b"18446744073709551615",
    b"pattern",
    b"symmetric",
    b"array",
    b"\x93NUMPY",
    b"PAR1",
    b"ARROW1",
    b"PK\x01\x02",
    b"\x1f\x8b\x08",
    b"\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff",
    b"\0\0\0\x80",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\0\0\0\0\0\0\0\0",
    b"\x15\xfe\xff\xff\xff\x0f",
    b"\x80\x80\x80\x80\x80\x01",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as usize % bound.max(1)
    }
}

/// Damages one of the seeds in a few places.
fn damaged(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    let most = 1 + random.below(6);
    for _ in 0..=random.below(most) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 if random.below(4) == 0 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let copy = bytes[at..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                let piece = &other[from..(from + random.below(32)).min(other.len())];
                bytes.splice(at..end, piece.iter().copied());
            }
            6 => drop(bytes.splice(at..at, TOKENS[random.below(TOKENS.len())].iter().copied())),
            // Overwrites other bytes, so that formats with fixed offsets stay aligned.
            7 => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.iter_mut().skip(at).zip(token).for_each(|(byte, &new)| *byte = new);
            }
            _ if at < bytes.len() => bytes[at] = bytes[at].wrapping_add([1, 255, 128, 16][random.below(4)]),
            _ => {}
        }
    }
    bytes
}

fn choices() -> Vec<ReadOptions> {
    let aside = ReadOptions {
        offset: Some("y".into()),
        time: Some("at".into()),
        sequence: Some("b".into()),
        ..options("id", "-", "y")
    };
    let taken = ReadOptions { texts: Texts::Take, categories: vec!["b".into(), "1".into()], ..options("-", "-", "-") };
    let known = Like {
        columns: ["id", "b=u", "b=v", "y"].map(String::from).to_vec(),
        categories: vec![Category { name: "b".into(), levels: vec!["u".into(), "v".into()], first: 1, is_text: true }],
        named: true,
        chosen: false,
    };
    let like = ReadOptions { like: Some(known), ..options("-", "-", "-") };
    let written = ReadOptions {
        separator: Some(Separator(b';')),
        decimal: Some(Decimal::Comma),
        na: vec!["-1".into()],
        texts: Texts::Take,
        ..options("-", "-", "-")
    };
    vec![
        options("-", "-", "-"),
        options("id", "b", "-"),
        options("-", "-", "y"),
        options("-", "-", "1,2"),
        aside,
        taken,
        like,
        written,
    ]
}

/// Whether a table was read; it must be consistent.
fn attempt(path: &Path, options: &ReadOptions) -> bool {
    if let Ok(Look { table, .. }) = look(path, options) {
        assert_eq!(table.values.len(), table.rows * table.columns.len());
    }
    match read(path, options) {
        Ok(table) => {
            assert!(table.rows > 0 && !table.columns.is_empty());
            assert_eq!(table.values.len(), table.rows * table.columns.len());
            assert!(!table.values.iter().any(|v| v.is_infinite()));
            assert_eq!(table.ids.len(), table.rows);
            for texts in [&table.labels, &table.time, &table.sequence].into_iter().flatten() {
                assert_eq!(texts.len(), table.rows);
            }
            for category in &table.categories {
                assert!(category.levels.len() > 1 && category.columns().end <= table.columns.len());
            }
            let offset = table.offset.iter();
            offset.for_each(|o| assert!(o.len() == table.rows && o.iter().all(|v| v.is_finite())));
            true
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.contains('\n') && sentence.len() < 900, "{sentence}");
            false
        }
    }
}

fn storm(format: &Format, files: u64, seed: u64) -> u64 {
    let choices = choices();
    let mut random = Random(seed ^ 0x9E37_79B9_7F4A_7C15);
    let mut good = 0;
    let file = Scratch::new(format.extension, b"");
    let mut writer = fs::File::options().write(true).open(&file.0).unwrap();
    for number in 0..files {
        let bytes = damaged(&mut random, &format.seeds);
        let bytes = if format.packed { gzip(bytes) } else { bytes };
        // Half of the time without options, which suits most of the files.
        let choice = &choices[random.below(2 * choices.len()).saturating_sub(choices.len())];
        // Truncated after writing: some file systems wait for the disk when a file is emptied and written again.
        writer
            .rewind()
            .and_then(|()| writer.write_all(&bytes))
            .and_then(|()| writer.set_len(bytes.len() as u64))
            .unwrap();
        let before = computed();
        let outcome = catch_unwind(AssertUnwindSafe(|| u64::from(attempt(&file.0, choice))));
        let taken = computed() - before;
        match outcome {
            Ok(yes) if taken < PATIENCE => good += yes,
            _ => {
                panic!(".{} file {number} of seed {seed}, {taken} hundredths of a second: {bytes:?}", format.extension)
            }
        }
    }
    good
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

#[cfg(target_os = "linux")]
#[test]
fn computing_is_noticed() {
    let before = computed();
    let mut random = Random(1);
    while computed() < before + 2 {
        std::hint::black_box((0..100_000).map(|_| random.below(7)).sum::<usize>());
    }
}

#[test]
fn damaged_files_never_panic() {
    let files = number("RFLVM_FUZZ").unwrap_or(DEFAULT_FILES);
    let only = std::env::var("RFLVM_FUZZ_ONLY").ok();
    for format in formats().iter().filter(|f| only.as_ref().is_none_or(|o| o == f.extension)) {
        let good = storm(format, files, number("RFLVM_FUZZ_SEED").unwrap_or(1));
        let when = if format.packed { "damaged, then compressed" } else { "damaged" };
        println!(".{} {when}: {files} files, {good} still tables", format.extension);
    }
}

#[test]
fn damaged_names_next_to_a_matrix_never_panic() {
    let matrix = "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 0.5\n3 2 -2\n";
    let mut contents = [("matrix.mtx", matrix), ("features.tsv", "e1\tg\nE2\tg\te\ne3\n"), ("barcodes.tsv", "a\nb\n")]
        .map(|(name, text)| (name, text.as_bytes().to_vec()));
    let folder = Folder::new(&contents.each_ref().map(|(name, bytes)| (*name, &bytes[..])));
    let mut random = Random(number("RFLVM_FUZZ_SEED").unwrap_or(1));
    let files = number("RFLVM_FUZZ").unwrap_or(DEFAULT_FILES);
    let mut good = 0;
    for _ in 0..files {
        let which = random.below(3);
        let bytes = damaged(&mut random, &[contents[which].1.clone()]);
        let whole = std::mem::replace(&mut contents[which].1, bytes);
        folder.write(&contents[which]);
        good += u64::from(attempt(&folder.0, &ReadOptions::default()));
        contents[which].1 = whole;
        folder.write(&contents[which]);
    }
    println!("folders: {files}, {good} still tables");
}
