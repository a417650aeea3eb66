//! A fit that version 0.2 wrote, with forecasts and draws that it exported: read, repeated and resumed, by its names and by today's.

use crate::common::{folder, good, rflvm, text};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Unpacks the files of a tar archive: a header of 512 bytes before each, with its name and its size in octal digits.
fn unpack(dir: &Path) {
    let mut bytes = Vec::new();
    GzDecoder::new(&include_bytes!("../version-0.2.tar.gz")[..]).read_to_end(&mut bytes).unwrap();
    let mut rest = &bytes[..];
    while rest[0] != 0 {
        let field = |from: usize, to: usize| str::from_utf8(&rest[from..to]).unwrap().trim_end_matches(['\0', ' ']);
        let (path, size) = (dir.join(field(0, 100)), usize::from_str_radix(field(124, 136), 8).unwrap());
        if rest[156] == b'5' {
            fs::create_dir_all(&path).unwrap();
        } else {
            fs::write(&path, &rest[512..][..size]).unwrap();
        }
        rest = &rest[512 + size.next_multiple_of(512)..];
    }
}

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap()
}

/// Exports a quantity; returns the file and what was said.
fn export(dir: &Path, fit: &str, what: &str) -> (String, String) {
    let out = format!("exported-{what}.csv");
    let output = good(dir, &["export", fit, "--what", what, "--out", &out]);
    (read(dir, &out), text(&output.stderr))
}

#[test]
fn a_fit_of_version_0_2_is_read_under_its_names_and_todays() {
    let dir = folder("read");
    unpack(&dir);
    let summary: Value = serde_json::from_slice(&good(&dir, &["summary", "fit", "--json"]).stdout).unwrap();
    assert_eq!(summary["modes"]["found"][0]["replaced"].as_array().unwrap().len(), 2);
    let scales = read(&dir, "residual_scale.csv");
    let (now, said) = export(&dir, "fit", "column_process_scale");
    assert_eq!(now, scales.replace("residual_scale", "column_process_scale"));
    assert!(!said.contains("warning"), "{said}");
    let (before, said) = export(&dir, "fit", "residual_scale");
    assert_eq!(before, now);
    assert!(said.contains("`residual_scale` is called `column_process_scale` now"), "{said}");
    // The processes themselves, which are stored for counts.
    good(&dir, &["forecast", "fit", "--horizon", "1", "--out", "again.csv"]);
    assert_eq!(read(&dir, "again.csv"), read(&dir, "forecast.csv"));
}

#[test]
fn a_fit_of_version_0_2_is_repeated_from_its_settings() {
    let dir = folder("repeated");
    unpack(&dir);
    good(&dir, &["fit", "--config", "fit/config.toml", "--no-report", "-q", "--out", "again"]);
    assert_eq!(export(&dir, "again", "x").0, read(&dir, "x.csv"));
    assert!(read(&dir, "again/config.toml").contains("\ncolumn-process = \"matern12\"\n"));
    // The flag by its earlier name.
    let flags =
        "fit t.csv --time t --likelihood poisson --features 2 --chains 1 --warmup 1 --draws 1 --no-report -q --seed 1";
    let earlier =
        rflvm(&dir, &[&flags.split(' ').collect::<Vec<_>>()[..], &["--residual", "none", "--out", "e"]].concat());
    assert!(
        text(&earlier.stderr).contains("warning: --residual is called --column-process now"),
        "{}",
        text(&earlier.stderr)
    );
    assert!(read(&dir, "e/config.toml").contains("\ncolumn-process = \"none\"\n"));
    let both = rflvm(
        &dir,
        &[&flags.split(' ').collect::<Vec<_>>()[..], &["--residual", "none", "--column-process", "none", "--out", "b"]]
            .concat(),
    );
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_fit_of_version_0_2_is_resumed_and_has_todays_names_from_then_on() {
    let dir = folder("resumed");
    unpack(&dir);
    good(&dir, &["resume", "fit", "--draws", "4", "--no-report", "-q"]);
    let there = |file: &str| dir.join("fit").join(file).exists();
    assert!(there("modes.json") && !there("maps.json"));
    let arrays = ["column_process", "column_process_scale", "column_process_length_scale"];
    assert!(arrays.iter().all(|name| there(&format!("draws.zarr/posterior/{name}"))));
    assert!(["residual", "residual_scale"].iter().all(|name| !there(&format!("draws.zarr/posterior/{name}"))));
    let lines = |text: &str| text.lines().skip(1).map(String::from).collect::<Vec<_>>();
    let (all, first) =
        (lines(&export(&dir, "fit", "column_process_scale").0), lines(&read(&dir, "residual_scale.csv")));
    assert_eq!(all.len(), 2 * first.len());
    assert!(first.iter().all(|line| all.contains(line)));
}
