//! Damaged files of a fit: every command that reads them reports the damage, and none gives results from them.

use crate::common::{files, folder, good, rflvm, text};
use std::fs;
use std::path::{Path, PathBuf};

/// A fit with times and missing cells, so that every command applies to it.
fn prepare(dir: &Path) {
    let mut table = String::from("when,a,b,c\n");
    for n in 0..10 {
        let b = if n == 3 { String::new() } else { (n * 5 % 7).to_string() };
        table.push_str(&format!("{n},{},{b},{}\n", n % 4, 3 + n % 3));
    }
    fs::write(dir.join("t.csv"), table).unwrap();
    fs::write(dir.join("new.csv"), "when,a,b,c\n3.5,1,2,3\n").unwrap();
    let mut fit = vec!["fit", "t.csv", "--likelihood", "negative-binomial", "--columns", "a,b,c", "--time", "when"];
    fit.extend([
        "--features",
        "4",
        "--seed",
        "1",
        "--init",
        "pca",
        "--chains",
        "2",
        "--warmup",
        "10",
        "--draws",
        "8",
        "-q",
        "--out",
        "o",
    ]);
    good(dir, &fit);
}

/// Every command that reads a fit.
const READERS: [&[&str]; 9] = [
    &["summary", "o"],
    &["impute", "o", "--out", "a.csv"],
    &["export", "o", "--what", "x", "--out", "a.npy"],
    &["transform", "o", "new.csv", "--out", "a.csv"],
    &["forecast", "o", "--horizon", "2", "--out", "a.csv"],
    &["predict", "o", "--rows", "all", "--out", "a.csv"],
    &["kernel", "o", "--out", "a.csv"],
    &["check", "o"],
    &["resume", "o"],
];

/// Whether a command noticed the damage: it failed with one sentence, and wrote nothing.
fn noticed(dir: &Path, reader: &[&str], file: &Path) -> bool {
    let output = rflvm(dir, reader);
    if output.status.success() {
        return false;
    }
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(1) || output.status.code() == Some(2), "{reader:?}: {said}");
    assert!(said.lines().last().is_some_and(|l| l.starts_with("rflvm: ")), "{reader:?}, {}: {said}", file.display());
    assert!(!dir.join("a.csv").exists() && !dir.join("a.npy").exists(), "{reader:?}, {}", file.display());
    true
}

/// The arrays that a command needs, by the end of their names; all commands need the table and the convergence diagnostics.
fn needs(reader: &str, array: &str) -> bool {
    let judged = ["lp", "log_likelihood", "alpha", "clusters", "w2", "distance", "f_cell", "r", "time_scale"];
    let table = ["observed_data/y", "constant_data/order", "observed_data/column", "constant_data/time_as_given"];
    let of_draws = ["posterior/x", "posterior/w", "posterior/beta"];
    let name = array.rsplit('/').next().unwrap_or(array);
    table.contains(&array)
        || judged.contains(&name) && array.starts_with(['p', 's'])
        || reader == "resume" && of_draws.contains(&array)
        || of_draws.contains(&array) && !["summary", "export"].contains(&reader)
        || array == "posterior/x" && reader == "export"
}

#[test]
fn every_command_notices_a_flipped_bit_in_what_it_reads() {
    let dir = folder("flipped");
    prepare(&dir);
    let store = dir.join("o/draws.zarr");
    let (mut flips, mut seen) = (0, 0);
    for (name, bytes) in files(&store) {
        // The metadata of single arrays are for other programs; this one reads them all from one file.
        let is_chunk = !name.file_name().unwrap().to_string_lossy().starts_with('.');
        if !is_chunk && name != Path::new(".zmetadata") {
            continue;
        }
        let path = store.join(&name);
        let array = name.parent().unwrap().to_string_lossy().into_owned();
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            fs::write(&path, &damaged).unwrap();
            for reader in READERS.iter().filter(|reader| !is_chunk || needs(reader[0], &array)) {
                assert!(noticed(&dir, reader, &name), "{reader:?} did not notice byte {at} of {}", name.display());
                seen += 1;
            }
            flips += 1;
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert!(flips > 100 && seen > 300, "{flips} flips, {seen} seen");
    for reader in READERS {
        good(&dir, reader);
        let _ = (fs::remove_file(dir.join("a.csv")), fs::remove_file(dir.join("a.npy")));
    }
}

/// Replaces a text in the metadata and updates the checksum, as in a carefully edited file.
fn forge(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    let mut all: serde_json::Value = serde_json::from_str(&text.replace(from, to)).unwrap();
    let mut sum = crc32fast::Hasher::new();
    let sorted: std::collections::BTreeMap<_, _> = all["metadata"].as_object().unwrap().iter().collect();
    for (key, value) in sorted {
        sum.update(key.as_bytes());
        sum.update(value.to_string().as_bytes());
    }
    all["checksum"] = sum.finalize().into();
    fs::write(path, all.to_string()).unwrap();
}

#[test]
fn a_store_without_its_metadata_is_damaged_and_not_empty() {
    let dir = folder("without-metadata");
    prepare(&dir);
    fs::remove_file(dir.join("o/draws.zarr/.zmetadata")).unwrap();
    for reader in ["summary", "check"] {
        let output = rflvm(&dir, &[reader, "o"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(".zmetadata: the file is missing") && !said.contains("no draws"), "{said}");
    }
}

#[test]
fn metadata_are_checked_against_the_fit() {
    let dir = folder("forged");
    prepare(&dir);
    let path: PathBuf = dir.join("o/draws.zarr/.zmetadata");
    let before = fs::read(&path).unwrap();
    // Another type of number; another shape; more draws than were made, which would be fill values.
    let x =
        r#""compressor":{"id":"crc32"},"dtype":"<f8","fill_value":"NaN","filters":null,"order":"C","shape":[2,8,10,2]"#;
    let text = fs::read_to_string(&path).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all["metadata"]["posterior/x/.zarray"]["shape"], serde_json::json!([2, 8, 10, 2]));
    let (kind, shape) = (x.replace("<f8", "<i8"), x.replace("[2,8,10,2]", "[2,8,20,1]"));
    for (from, to) in [
        (x, kind.as_str()),
        (x, shape.as_str()),
        (r#""shape":[2,8,"#, r#""shape":[2,300,"#),
        (r#""shape":[2,8]"#, r#""shape":[2,300]"#),
        (r#""shape":[2,8]"#, r#""shape":[1,8]"#),
    ] {
        forge(&path, from, to);
        for reader in READERS {
            assert!(noticed(&dir, reader, &path), "{reader:?} did not notice {to}");
        }
        fs::write(&path, &before).unwrap();
    }
    good(&dir, READERS[0]);
}
