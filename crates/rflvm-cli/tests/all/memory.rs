//! Large tables need little more memory than their values: they are read under a limit without space for a second copy.
#![cfg(target_os = "linux")]

use crate::common::scratch;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::Command;

/// Memory of the program itself, in addition to the values.
const OWN: usize = 48 << 20;

/// Writes a table whose last entry is wrong, so that the program refuses it after reading all of it; runs the program within `limit` bytes,
/// and returns the sentence.
fn refusal(name: &str, limit: usize, write: impl FnOnce(&mut BufWriter<File>)) -> String {
    let folder = scratch().join("memory");
    fs::create_dir_all(&folder).unwrap();
    let path: PathBuf = folder.join(name);
    let mut out = BufWriter::new(File::create(&path).unwrap());
    write(&mut out);
    out.flush().unwrap();
    let script = format!("ulimit -v {}; exec \"$0\" fit \"$1\" --likelihood poisson --out \"$1.fit\"", limit >> 10);
    let output = Command::new("bash").args(["-c", &script, env!("CARGO_BIN_EXE_rflvm")]).arg(&path).output().unwrap();
    fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    // It ran, and was not killed.
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.starts_with("rflvm: ") && text.contains(name), "{text}");
    text
}

/// 100,000 × 100 cells, or 20,000 × 500: 80 MB as numbers.
const VALUES: usize = 80_000_000;

fn csv(out: &mut BufWriter<File>) {
    writeln!(out, "{}", (0..100).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",")).unwrap();
    for n in 0..100_000 {
        let last = if n == 99_999 { "oops" } else { "4" };
        writeln!(out, "{}{last}", "12,".repeat(99)).unwrap();
    }
}

fn mtx(out: &mut BufWriter<File>) {
    writeln!(out, "%%MatrixMarket matrix coordinate integer general\n20000 500 500000").unwrap();
    for k in 0..500_000_u32 {
        let row = if k == 499_999 { 20_001 } else { k / 25 + 1 };
        writeln!(out, "{row} {} {}", k % 25 * 20 + 1, 1 + k % 9).unwrap();
    }
}

#[test]
fn a_table_is_not_held_in_memory_twice() {
    let text = refusal("large.csv", VALUES + VALUES / 4 + OWN, csv);
    assert!(text.contains("row 100000") && text.contains("oops"), "{text}");
    let text = refusal("large.mtx", VALUES + VALUES / 4 + OWN, mtx);
    assert!(text.contains("20001"), "{text}");
}

/// An endless line, an unclosed cell, and an endless entry of a matrix: 200 MB of zeros in 200 kB.
#[test]
fn an_endless_line_is_not_held_in_memory() {
    let endless = |start: &'static str| {
        move |out: &mut BufWriter<File>| {
            let mut packed = GzEncoder::new(out, Compression::fast());
            packed.write_all(start.as_bytes()).unwrap();
            let zeros = vec![b'0'; 1 << 20];
            (0..200).for_each(|_| packed.write_all(&zeros).unwrap());
            packed.finish().unwrap();
        }
    };
    let limit = (100 << 20) + OWN;
    let text = refusal("endless.csv.gz", limit, endless("a,b\n1,2\n"));
    assert!(text.contains("longer than 32 MiB"), "{text}");
    let text = refusal("quoted.csv.gz", limit, endless("a,b\n1,\""));
    assert!(text.contains("longer than 32 MiB"), "{text}");
    let text = refusal("endless.mtx.gz", limit, endless("%%MatrixMarket matrix array real general\n2 2\n"));
    assert!(text.contains("longer than a million characters"), "{text}");
}

/// Half the memory is too little, so the limit of the tests above is effective.
#[test]
fn the_limit_is_effective() {
    let text = refusal("small.csv", VALUES / 2 + OWN, csv);
    assert!(text.contains("the system does not grant it") && !text.contains("oops"), "{text}");
}
