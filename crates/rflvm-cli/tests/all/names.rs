//! Names of columns, levels, labels and rows of any printable characters: every command writes them as it read them.

use crate::common::{folder, good, text};
use std::fs;
use std::path::Path;

const RUN: [&str; 11] = ["--features", "6", "--chains", "2", "--warmup", "4", "--draws", "4", "--seed", "1", "-q"];

/// What files, spreadsheets, shells and messages might take for something else.
const STARTS: [&str; 16] =
    ["=", "+", "-", "@", "'", "'=", "\"", ",", ";", "\u{e9}", "#", "\\", "\u{5b57}", "\u{27e8}", "\u{1f600}", "{"];
const PARTS: [&str; 18] = [
    "=", "+x", "-", "@", "'", "\"", ",", ";", "a b", "\n", "\r\n", "\u{301}", "\u{5d0}", "\u{a0}", "|", "\u{27e9}",
    "\u{3b1}", "%",
];

/// Texts that differ, drawn with a generator whose state is `seed`.
fn texts(count: usize, seed: &mut u64) -> Vec<String> {
    let mut next = |below: usize| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize % below
    };
    let text = |n: usize| {
        let parts = (0..next(4)).map(|_| PARTS[next(PARTS.len())]).collect::<String>();
        format!("{}{parts}z{n}", STARTS[next(STARTS.len())])
    };
    (0..count).map(text).collect()
}

fn write(path: &Path, lines: &[Vec<String>]) {
    let mut writer = csv::Writer::from_path(path).unwrap();
    lines.iter().for_each(|line| writer.write_record(line).unwrap());
    writer.flush().unwrap();
}

fn cells(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(path).unwrap();
    reader.records().map(|line| line.unwrap().iter().map(String::from).collect()).collect()
}

#[test]
fn names_and_levels_of_any_characters_come_back_equal() {
    let mut seed = 7;
    for round in 0..6 {
        let dir = folder(&format!("round{round}"));
        let names = texts(6, &mut seed);
        let (levels, classes, ids) = (texts(3, &mut seed), texts(2, &mut seed), texts(24, &mut seed));
        let row = |n: usize| {
            let number = |j: usize| {
                if n == 5 + j { String::new() } else { (0.25 * ((n * (j + 3)) % 7) as f64 - 0.6).to_string() }
            };
            let level = if n == 9 { String::new() } else { levels[n * 5 % 3].clone() };
            vec![ids[n].clone(), classes[n % 2].clone(), number(0), level, number(1), (n % 2).to_string()]
        };
        let table: Vec<Vec<String>> = std::iter::once(names.clone()).chain((0..24).map(row)).collect();
        write(&dir.join("t.csv"), &table);
        let of = |flag: &str, name: &str| format!("--{flag}={name}");
        let (id, labels) = (of("id", &names[0]), of("labels", &names[1]));
        let read = [id.as_str(), labels.as_str()];
        good(
            &dir,
            &[&["doctor", "t.csv", "--blocks-out", "b.csv", "--features", "6", "--seed", "1"], &read[..]].concat(),
        );
        for (out, how) in [("o", ["--likelihood", "auto"]), ("p", ["--blocks", "b.csv"])] {
            good(&dir, &[&["fit", "t.csv", "--out", out], &how[..], &read, &RUN].concat());
        }
        // The list of families does not depend on who chose them.
        assert_eq!(text(&fs::read(dir.join("o/blocks.csv")).unwrap()), text(&fs::read(dir.join("b.csv")).unwrap()));
        for out in ["o", "p"] {
            good(&dir, &["resume", out, "--draws", "6", "-q"]);
            good(&dir, &["impute", out, "--out", "full.csv", "--draws", "1", "--overwrite"]);
            let full = cells(&dir.join("full-1.csv"));
            assert_eq!(full.len(), table.len());
            for (own, full) in table.iter().flatten().zip(full.iter().flatten()) {
                assert!(own == full || own.is_empty() && !full.is_empty(), "{own:?} became {full:?}");
            }
            good(&dir, &["transform", out, "full-1.csv", "--out", "placed.csv"]);
            for file in ["placed.csv", &format!("{out}/embedding.csv")] {
                let placed: Vec<Vec<String>> =
                    cells(&dir.join(file))[1..].iter().map(|line| line[..2].to_vec()).collect();
                let known: Vec<Vec<String>> = table[1..].iter().map(|line| line[..2].to_vec()).collect();
                assert_eq!(placed, known, "{file}");
            }
        }
        // A completed table is a table like the first.
        good(&dir, &[&["fit", "full-1.csv", "--likelihood", "auto", "--out", "again"], &read[..], &RUN].concat());
        assert_eq!(fs::read(dir.join("o/blocks.csv")).unwrap(), fs::read(dir.join("again/blocks.csv")).unwrap());
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_config_toml_cannot_name_is_refused_before_anything_is_written() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = folder("path");
    let odd = dir.join(OsStr::from_bytes(b"\xff"));
    // Some file systems refuse such names.
    if fs::create_dir_all(&odd).is_err() {
        return;
    }
    fs::write(odd.join("t.csv"), "a,b\n1,2\n3,4\n5,1\n").unwrap();
    fs::copy(odd.join("t.csv"), dir.join("plain.csv")).unwrap();
    fs::write(odd.join("b.csv"), "column,likelihood\na,poisson\nb,poisson\n").unwrap();
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rflvm"));
        command.current_dir(&odd).args(words).args(RUN).output().unwrap()
    };
    for (setting, words) in [
        ("table", &["fit", "t.csv", "--likelihood", "poisson"][..]),
        ("table", &["fit", "t.csv", "--likelihood", "poisson", "--method", "map"]),
        ("blocks", &["fit", "../plain.csv", "--blocks", "b.csv"]),
        ("trials", &["fit", "../plain.csv", "--likelihood", "binomial", "--trials", "t.csv"]),
        ("row-data", &["fit", "../plain.csv", "--likelihood", "poisson", "--row-data", "t.csv", "--id", "a"]),
    ] {
        // A point estimate has no chains.
        let flags = if words.contains(&"map") { &["--features", "6", "-q"][..] } else { &RUN };
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rflvm"));
        let output = command.current_dir(&odd).args(words).args(flags).args(["--out", "../o"]).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(&format!("{setting} is ")) && said.contains("not valid UTF-8"), "{words:?}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        assert!(!dir.join("o").exists());
    }
    // Results may lie in such a folder.
    assert!(run(&["fit", "../plain.csv", "--likelihood", "poisson", "--out", "o"]).status.success());
}
