//! The verdict of a fit as a user meets it: what has not converged, by name, and what to do.

use crate::common::{folder, good};
use std::fs;

/// Columns of two families, of which short chains know little.
#[test]
fn verdicts_name_what_users_know_and_give_a_command_that_runs() {
    let dir = folder("verdict");
    let line =
        |n: u32| format!("r{n},{},{},{},{}\n", (n * 7) % 5, (n * 3) % 11, f64::from(n).sin(), f64::from(n).cos());
    let lines: String = (1..40).map(line).collect();
    fs::write(dir.join("t.csv"), format!("name,visits,calls,up,down\n{lines}r40,,2,0.5,0.1\n")).unwrap();
    let families = "column,likelihood\nvisits,negative-binomial\ncalls,negative-binomial\nup,gaussian\ndown,gaussian\n";
    fs::write(dir.join("b.csv"), families).unwrap();
    let fit = [
        "fit",
        "t.csv",
        "--id",
        "name",
        "--blocks",
        "b.csv",
        "--features",
        "6",
        "--chains",
        "2",
        "--init",
        "pca",
        "--warmup",
        "10",
        "--draws",
        "20",
    ];
    let output = good(&dir, &[&fit[..], &["--seed", "1", "--out", "my fit", "--no-report"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("4 columns, 2 negative-binomial, 2 gaussian; seed 1"), "{said}");
    let told = String::from_utf8(good(&dir, &["summary", "my fit"]).stdout).unwrap();
    for words in [
        "dispersion of column 'visits'",
        "precision of column 'up'",
        "distance between rows 'r",
        "positions: R̂ up to",
        "cells: R̂ up to",
        "other parameters: R̂ up to",
    ] {
        let is_there = told.contains(words) || told.contains(&words.replace("visits", "calls").replace("'up", "'down"));
        assert!(is_there, "{words} is not in {told}");
    }
    assert!(!told.contains("r_1[") && !told.contains("f_cell["), "{told}");
    for asked in [&["impute", "my fit", "--out", "c.csv"][..], &["predict", "my fit", "--rows", "1", "--out", "p.csv"]]
    {
        let warned = String::from_utf8(good(&dir, asked).stderr).unwrap();
        let about =
            |line: &&str| line.contains("converged, so these results may change; ") && line.contains("rflvm resume");
        assert_eq!(warned.lines().filter(about).count(), 1, "{warned}");
    }
    let (_, command) = told.split_once("`rflvm resume 'my fit' --").unwrap_or_else(|| panic!("{told}"));
    let (flag, rest) = command.split_once(' ').unwrap();
    let number: u32 = rest[..rest.find('`').unwrap()].parse().unwrap();
    good(&dir, &["resume", "my fit", &format!("--{flag}"), &number.min(50).to_string(), "-q", "--no-report"]);
}
