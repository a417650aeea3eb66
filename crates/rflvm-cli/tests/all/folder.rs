//! Misuse of the folder of a fit: no run disturbs another, none leaves results of another behind, and no part of one is taken for a part of
//! another.
#![cfg(unix)]

use crate::common::{files, folder, good, refused, rflvm, start, text, wait_until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A table with a missing cell and times, and the start of a command that fits it.
fn prepare(dir: &Path) -> Vec<&'static str> {
    let mut table = String::from("when,a,b,c\n");
    for n in 0..12 {
        let b = if n == 3 { String::new() } else { (n * 5 % 7).to_string() };
        table.push_str(&format!("{n},{},{b},{}\n", n % 4, 3 + n % 3));
    }
    fs::write(dir.join("t.csv"), table).unwrap();
    vec!["fit", "t.csv", "--likelihood", "poisson", "--columns", "a,b,c", "--features", "4", "--seed", "1"]
}

const SHORT: [&str; 8] = ["--chains", "2", "--warmup", "10", "--draws", "8", "-q", "--out"];
const LONG: [&str; 10] =
    ["--chains", "2", "--warmup", "10", "--draws", "90000000", "--checkpoint", "0.02", "-q", "--out"];

/// Files that must not change during a fit: all except those that the running fit itself rewrites.
fn config(dir: &Path, out: &str) -> String {
    fs::read_to_string(dir.join(out).join("config.toml")).unwrap()
}

fn interrupt(id: u32) {
    assert!(Command::new("kill").args(["-INT", &id.to_string()]).status().unwrap().success());
}

/// Starts a long fit and waits until it has saved some draws.
fn running(dir: &Path, fit: &[&str], out: &str) -> std::process::Child {
    let mut child = start(dir, &[fit, &LONG[..], &[out]].concat());
    let metadata = dir.join(out).join("draws.zarr/.zmetadata");
    // Until its metadata report some.
    wait_until(&mut child, || fs::read_to_string(&metadata).is_ok_and(|text| !text.contains("\"shape\":[2,0]")));
    child
}

#[test]
fn a_running_fit_is_protected() {
    let dir = folder("running");
    let fit = prepare(&dir);
    let child = running(&dir, &fit, "run1");
    let before = config(&dir, "run1");
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(dir.join("run1").join(name)).unwrap().ino()
    };
    let (settings, store) = (inode("config.toml"), inode("draws.zarr"));
    let over = [&fit[..], &SHORT[..], &["run1", "--overwrite", "--seed", "2"]].concat();
    let over: Vec<&str> = over.into_iter().filter(|word| *word != "1").collect();
    let over = over.iter().position(|w| *w == "--seed").map(|at| [&over[..at], &over[at + 1..]].concat()).unwrap();
    refused(&dir, &over, 2, &["run1", "is using this folder", "--out"]);
    refused(&dir, &["resume", "run1", "--threads", "7"], 2, &["run1", "is using this folder"]);
    let map = [
        "fit",
        "t.csv",
        "--method",
        "map",
        "--likelihood",
        "poisson",
        "--columns",
        "a,b,c",
        "--out",
        "run1",
        "--overwrite",
    ];
    refused(&dir, &map, 2, &["run1", "is using this folder"]);
    assert_eq!(before, config(&dir, "run1"));
    assert_eq!((settings, store), (inode("config.toml"), inode("draws.zarr")));
    // Commands that only read may run.
    good(&dir, &["summary", "run1"]);
    interrupt(child.id());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(config(&dir, "run1").contains("seed = 1\n"));
    // Nothing is lost: the fit continues where it was.
    let checkpoint = dir.join("run1/checkpoint.bin");
    let saved = fs::metadata(&checkpoint).unwrap().modified().unwrap();
    let mut child = start(&dir, &["resume", "run1", "-q"]);
    wait_until(&mut child, || fs::metadata(&checkpoint).is_ok_and(|m| m.modified().unwrap() > saved));
    interrupt(child.id());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

#[test]
fn of_two_fits_that_start_in_one_new_folder_one_is_refused_and_changes_nothing() {
    let dir = folder("two");
    let fit = prepare(&dir);
    for round in 0..5 {
        let out = format!("new{round}");
        let begin = |seed: &'static str| {
            let fit: Vec<&str> = fit.iter().map(|w| if *w == "1" { seed } else { w }).collect();
            start(&dir, &[&fit[..], &["--chains", "2", "--warmup", "300", "--draws", "300", "--out"], &[&out]].concat())
        };
        let (one, other) = (begin("11"), begin("22"));
        let (one, other) = (one.wait_with_output().unwrap(), other.wait_with_output().unwrap());
        let (winner, loser, seed) = if one.status.success() { (one, other, 11) } else { (other, one, 22) };
        assert!(winner.status.success(), "{}", text(&winner.stderr));
        assert_eq!(loser.status.code(), Some(2), "{}", text(&loser.stderr));
        assert!(config(&dir, &out).contains(&format!("seed = {seed}\n")));
        good(&dir, &["summary", &out]);
    }
}

#[test]
fn a_new_fit_leaves_nothing_of_the_old_one() {
    let dir = folder("over");
    let fit = prepare(&dir);
    good(&dir, &[&fit[..], &["--time", "when"], &SHORT[..], &["o"]].concat());
    good(&dir, &["check", "o"]);
    let old = ["embedding.csv", "imputed.csv", "latent.svg", "paths.svg"];
    assert!(old.iter().all(|name| dir.join("o").join(name).exists()));
    fs::write(dir.join("o/notes.txt"), "mine").unwrap();
    // A fit that cannot start removes nothing.
    let before = files(&dir.join("o"));
    refused(&dir, &["fit", "none.csv", "--likelihood", "poisson", "--out", "o", "--overwrite"], 2, &["none.csv"]);
    refused(&dir, &[&fit[..], &["--latent-dim", "9", "--out", "o", "--overwrite"]].concat(), 2, &["latent-dim"]);
    refused(&dir, &[&fit[..], &SHORT[..], &["o"]].concat(), 2, &["--overwrite"]);
    assert_eq!(before, files(&dir.join("o")));
    // Killed early, and without times or missing cells: nothing is left of the old fit that could be taken for the new one.
    fs::write(dir.join("whole.csv"), "a,b\n1,2\n3,4\n0,1\n5,2\n").unwrap();
    let whole = ["fit", "whole.csv", "--likelihood", "poisson", "--features", "4"];
    let mut child = start(&dir, &[&whole[..], &LONG[..], &["o", "--overwrite"]].concat());
    let settings = dir.join("o/config.toml");
    wait_until(&mut child, || fs::read_to_string(&settings).is_ok_and(|text| text.contains("whole.csv")));
    wait_until(&mut child, || dir.join("o/checkpoint.bin").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let mut left: Vec<String> =
        fs::read_dir(dir.join("o")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    left.retain(|name| !name.starts_with('.'));
    left.sort();
    assert_eq!(left, ["checkpoint.bin", "config.toml", "draws.zarr", "notes.txt"]);
}

/// Two fits that were stopped, and copies of one to damage.
struct Stopped {
    dir: PathBuf,
}

impl Stopped {
    fn new(name: &str) -> Self {
        let dir = folder(name);
        let fit = prepare(&dir);
        for (out, seed) in [("a", "1"), ("b", "2")] {
            let fit: Vec<&str> = fit.iter().map(|w| if *w == "1" { seed } else { w }).collect();
            let child = running(&dir, &fit, out);
            interrupt(child.id());
            assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
        }
        Stopped { dir }
    }

    /// A fresh copy of a.
    fn copy(&self) -> PathBuf {
        let to = self.dir.join("copy");
        let _ = fs::remove_dir_all(&to);
        for (name, bytes) in files(&self.dir.join("a")) {
            let path = to.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        to
    }

    /// Changes a line of the settings of a copy.
    fn edit(&self, from: &str, to: &str) {
        let path = self.copy().join("config.toml");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replace(from, to)).unwrap();
    }
}

#[test]
fn parts_of_different_runs_are_never_mixed() {
    let stopped = Stopped::new("identity");
    let dir = &stopped.dir;
    let resume = ["resume", "copy", "-q"];
    for (from, to, words) in [
        ("seed = 1", "seed = 5", ["seed = 1", "seed = 5", "were changed", "restore"]),
        ("warmup = 10", "warmup = 11", ["warmup = 10", "warmup = 11", "were changed", "restore"]),
        ("chains = 2", "chains = 3", ["chains = 2", "chains = 3", "were changed", "restore"]),
        ("thin = 1", "thin = 2", ["thin = 1", "thin = 2", "were changed", "restore"]),
        ("init = \"spread\"", "init = \"random\"", ["init = spread", "init = random", "were changed", "restore"]),
        ("features = 4", "features = 6", ["another model", "features", "were changed", "restore"]),
    ] {
        stopped.edit(from, to);
        let before = files(&dir.join("copy"));
        refused(dir, &resume, 2, &words);
        assert_eq!(before, files(&dir.join("copy")), "{to}");
    }
    // Existing draws are not thrown away.
    stopped.edit("draws = 90000000", "draws = 1");
    refused(dir, &resume, 2, &["config.toml", "draws is 1", "or more"]);
    refused(dir, &["resume", "copy", "--draws", "1"], 2, &["draws is 1", "or more"]);
    // The draws, or the checkpoint, of another fit.
    stopped.copy();
    fs::remove_dir_all(dir.join("copy/draws.zarr")).unwrap();
    fs::rename(dir.join("b/draws.zarr"), dir.join("copy/draws.zarr")).unwrap();
    for reader in [&resume[..], &["summary", "copy"], &["export", "copy", "--out", "x.csv"]] {
        refused(dir, reader, 2, &["draws.zarr", "seed = 2", "seed = 1", "another fit"]);
    }
    stopped.copy();
    fs::copy(dir.join("b/checkpoint.bin"), dir.join("copy/checkpoint.bin")).unwrap();
    refused(dir, &resume, 2, &["checkpoint.bin", "seed = 2", "seed = 1", "another fit"]);
    // The checkpoint was deleted, but draws exist.
    stopped.copy();
    fs::remove_file(dir.join("copy/checkpoint.bin")).unwrap();
    let before = files(&dir.join("copy"));
    refused(dir, &resume, 2, &["checkpoint.bin is missing", "restore", "--overwrite"]);
    assert_eq!(before.len(), files(&dir.join("copy")).len());
    good(dir, &["summary", "copy"]);
}

#[test]
fn an_extended_fit_equals_one_with_all_draws_from_the_start() {
    let dir = folder("more");
    let fit = prepare(&dir);
    good(&dir, &[&fit[..], &SHORT[..], &["part"]].concat());
    let whole: Vec<&str> = SHORT.iter().map(|w| if *w == "8" { "20" } else { w }).collect();
    good(&dir, &[&fit[..], &whole[..], &["whole"]].concat());
    good(&dir, &["resume", "part", "-q", "--draws", "20"]);
    assert_eq!(files(&dir.join("part/draws.zarr")), files(&dir.join("whole/draws.zarr")));
    assert_eq!(config(&dir, "part"), config(&dir, "whole"));
}

#[test]
fn a_fit_no_longer_needs_its_table() {
    let dir = folder("table");
    let fit = prepare(&dir);
    good(&dir, &[&fit[..], &SHORT[..], &["o"]].concat());
    good(&dir, &["impute", "o", "--out", "before.csv"]);
    let table = fs::read_to_string(dir.join("t.csv")).unwrap();
    // A changed table is not taken for the one that was fitted.
    fs::write(dir.join("t.csv"), table.replace("\n5,", "\n5,1")).unwrap();
    good(&dir, &["impute", "o", "--out", "changed.csv"]);
    refused(&dir, &["resume", "o"], 2, &["t.csv", "has changed", "restore it"]);
    fs::remove_file(dir.join("t.csv")).unwrap();
    good(&dir, &["impute", "o", "--out", "gone.csv"]);
    good(&dir, &["resume", "o", "-q"]);
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    assert_eq!(read("before.csv"), read("changed.csv"));
    assert_eq!(read("before.csv"), read("gone.csv"));
    assert!(rflvm(&dir, &["check", "o"]).status.success());
}

#[test]
fn settings_do_not_reproduce_a_fit_of_a_changed_table() {
    let dir = folder("noted");
    let fit = prepare(&dir);
    good(&dir, &[&fit[..], &SHORT[..], &["o"]].concat());
    let again = ["fit", "--config", "o/config.toml", "--out", "p", "-q"];
    good(&dir, &again);
    assert_eq!(files(&dir.join("o/draws.zarr")), files(&dir.join("p/draws.zarr")));
    fs::remove_dir_all(dir.join("p")).unwrap();
    let table = fs::read_to_string(dir.join("t.csv")).unwrap();
    fs::write(dir.join("t.csv"), table.replace("\n5,", "\n5,1")).unwrap();
    refused(&dir, &again, 2, &["t.csv", "has changed", "`table-identity`"]);
    refused(&dir, &[&again[..], &["--seed", "3", "--features", "6"]].concat(), 2, &["has changed"]);
    assert!(!dir.join("p").exists());
    // Without that line, or read in another way, it is another fit.
    let settings = fs::read_to_string(dir.join("o/config.toml")).unwrap();
    let others: Vec<&str> = settings.lines().filter(|line| !line.starts_with("table-identity")).collect();
    assert!(others.len() + 1 == settings.lines().count(), "{settings}");
    fs::write(dir.join("c.toml"), others.join("\n")).unwrap();
    good(&dir, &["fit", "--config", "c.toml", "--out", "p", "-q"]);
}

#[test]
fn a_folder_as_a_table_that_changed_is_refused_on_resume() {
    let dir = folder("tables");
    let mtx = |last: u32| {
        let head = "%%MatrixMarket matrix coordinate integer general\n3 12 20\n";
        let entry = |n: u32| format!("{} {} {}\n", n % 3 + 1, n * 7 % 12 + 1, if n == 19 { last } else { n % 5 + 1 });
        (0..20).map(entry).fold(head.to_string(), |all, line| all + &line)
    };
    fs::create_dir_all(dir.join("cells")).unwrap();
    fs::write(dir.join("cells/matrix.mtx"), mtx(1)).unwrap();
    fs::write(dir.join("cells/genes.tsv"), "g1\tA\ng2\tB\ng3\tC\n").unwrap();
    let names: String = (1..=12).map(|n| format!("c{n}\n")).collect();
    fs::write(dir.join("cells/barcodes.tsv"), names).unwrap();
    good(&dir, &[&["fit", "cells", "--likelihood", "poisson", "--features", "4"], &SHORT[..], &["o"]].concat());
    good(&dir, &["resume", "o", "-q", "--draws", "10"]);
    fs::write(dir.join("cells/matrix.mtx"), mtx(4)).unwrap();
    refused(&dir, &["resume", "o", "-q", "--draws", "12"], 2, &["cells", "has changed", "restore it"]);
}

#[test]
fn a_fit_stays_until_the_one_that_replaces_it_can_be_resumed() {
    let dir = folder("replacing");
    let fit = prepare(&dir);
    good(&dir, &[&fit[..], &SHORT[..], &["o"]].concat());
    fs::write(dir.join("o/notes.txt"), "mine").unwrap();
    let before = files(&dir.join("o"));
    // A search that takes long, before which there is nothing to resume.
    let search = [
        "--chains",
        "2",
        "--warmup",
        "900000",
        "--draws",
        "5",
        "--init",
        "search",
        "--init-effort",
        "10",
        "-q",
        "--out",
        "o",
        "--overwrite",
    ];
    let begin = || {
        let mut child = start(&dir, &[&fit[..], &search].concat());
        wait_until(&mut child, || dir.join("o/draws.zarr/.zmetadata").exists() && dir.join("o/.replaced").exists());
        child
    };
    // Asked to stop.
    let child = begin();
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("still holds the old one: o"), "{}", text(&output.stderr));
    assert!(before == files(&dir.join("o")));
    // Killed: every command says the same, and nothing is lost.
    let mut child = begin();
    child.kill().unwrap();
    child.wait().unwrap();
    let said = refused(&dir, &["summary", "o"], 2, &["about to replace", "`rflvm resume o`"]);
    for command in ["check o", "report o", "export o --out x.csv", "impute o --out x.csv", "kernel o --out k.csv"] {
        assert_eq!(refused(&dir, &command.split(' ').collect::<Vec<_>>(), 2, &[]), said, "{command}");
    }
    good(&dir, &["resume", "o", "-q", "--no-report"]);
    let after = files(&dir.join("o"));
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    good(&dir, &["summary", "o"]);
}

#[test]
fn a_fit_that_is_resumed_without_a_report_keeps_none_of_fewer_draws() {
    let dir = folder("stale");
    let fit = prepare(&dir);
    good(&dir, &[&fit[..], &SHORT[..], &["o"]].concat());
    good(&dir, &["resume", "o", "-q", "--no-report"]);
    assert!(dir.join("o/report.html").exists(), "no draw was added");
    good(&dir, &["resume", "o", "-q", "--no-report", "--draws", "10"]);
    assert!(!dir.join("o/report.html").exists());
}
