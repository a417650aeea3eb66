//! Time and memory for large files, measured on request: `cargo test … large -- --ignored --nocapture`.

use std::fs;
use std::io::{BufWriter, Write};
use std::time::Instant;

use super::*;

/// Writes a file, reads it, and says what reading took; peak memory is that of the process so far.
fn measure(extension: &str, write: impl FnOnce(&mut dyn Write)) -> Table {
    let file = Scratch::new(extension, b"");
    let mut out = BufWriter::new(fs::File::create(&file.0).unwrap());
    write(&mut out);
    out.flush().unwrap();
    drop(out);
    let peak = || {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or("VmHWM unknown").to_string();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    let size = fs::metadata(&file.0).unwrap().len();
    let (before, start) = (peak(), Instant::now());
    let table = read(&file.0, &ReadOptions::default()).unwrap();
    println!(
        ".{extension}: {:.0} MB in the file, {} × {} cells = {:.0} MB of values, {:.2} s, peak {before} -> {}",
        size as f64 / 1e6,
        table.rows,
        table.columns.len(),
        table.values.len() as f64 * 8e-6,
        start.elapsed().as_secs_f64(),
        peak()
    );
    table
}

#[test]
#[ignore = "300 MB on disk"]
fn large_csv() {
    let table = measure("csv", |out| {
        writeln!(out, "{}", (0..50).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",")).unwrap();
        for i in 0..800_000_u64 {
            let row: Vec<String> = (0..50).map(|j| format!("{:.3}", ((i * 50 + j) % 9973) as f64 * 0.37)).collect();
            writeln!(out, "{}", row.join(",")).unwrap();
        }
    });
    assert_eq!(table.rows, 800_000);
}

#[test]
#[ignore = "300 MB on disk"]
fn large_wide_csv() {
    let table = measure("csv", |out| {
        writeln!(out, "{}", (0..20_000).map(|j| format!("gene{j}")).collect::<Vec<_>>().join(",")).unwrap();
        for i in 0..2_500_u64 {
            let row: Vec<String> = (0..20_000).map(|j| format!("{}", (i * 20_000 + j) * 7919 % 100_003)).collect();
            writeln!(out, "{}", row.join(",")).unwrap();
        }
    });
    assert_eq!(table.columns.len(), 20_000);
}

#[test]
#[ignore = "320 MB of values"]
fn large_mtx() {
    let table = measure("mtx", |out| {
        writeln!(out, "%%MatrixMarket matrix coordinate integer general\n20000 2000 2000000").unwrap();
        for column in 1..=2000 {
            (0..1000).for_each(|k| writeln!(out, "{} {column} {}", k * 20 + 1 + column % 20, 1 + k % 9).unwrap());
        }
    });
    assert_eq!(table.values.iter().filter(|&&v| v > 0.0).count(), 2_000_000);
}
