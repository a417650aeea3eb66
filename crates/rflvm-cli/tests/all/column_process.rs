//! Column processes as a user meets them: fitted, imputed, forecast and placed.

use crate::common::{files, folder, good, refused, rflvm, text};
use std::fs;
use std::path::Path;
use std::process::Command;

const RUN: [&str; 14] = [
    "--latent-dim",
    "1",
    "--features",
    "10",
    "--chains",
    "2",
    "--warmup",
    "60",
    "--draws",
    "60",
    "--seed",
    "3",
    "-q",
    "--overwrite",
];

/// What column c is: a separate wave, and a little of the shared one.
fn truth(n: usize) -> f64 {
    (0.09 * n as f64).cos() * 2.0 + 0.1 * (0.31 * n as f64).sin()
}

/// Three columns follow one path; column c mostly its own. Every fifth of its cells is missing.
fn table(dir: &Path) {
    let mut text = String::from("t,a,b,c,d\n");
    for n in 0..60 {
        let shared = (0.31 * n as f64).sin();
        let c = if n % 5 == 2 { String::new() } else { truth(n).to_string() };
        text.push_str(&format!("{n},{shared},{},{c},{}\n", shared * shared, 0.5 - shared));
    }
    fs::write(dir.join("t.csv"), text).unwrap();
}

fn fit(dir: &Path, out: &str, more: &[&str]) {
    let flags = ["fit", "t.csv", "--time", "t", "--time-kernel", "matern32", "--out", out];
    good(dir, &[&flags[..], &RUN[..], more].concat());
}

/// Mean squared error of the imputed cells.
fn error(dir: &Path, fit: &str) -> f64 {
    good(dir, &["impute", fit, "--out", "cells.csv"]);
    let text = fs::read_to_string(dir.join("cells.csv")).unwrap();
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let (row, mean) = (place("row"), place("mean"));
    let squares: Vec<f64> = (text.lines().skip(1))
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| {
            let n = cells[row].parse::<usize>().unwrap() - 1;
            (cells[mean].parse::<f64>().unwrap() - truth(n)).powi(2)
        })
        .collect();
    assert_eq!(squares.len(), 12);
    squares.iter().sum::<f64>() / 12.0
}

/// The expectation of exp(g) over a scale with a heavy tail is infinite, whatever its draws average to.
#[test]
fn forecasts_of_counts_with_column_processes_have_quantiles_and_no_mean() {
    let dir = folder("no-mean");
    let line = |n: usize| format!("{n},{},{}\n", (2.0 + 2.0 * (0.2 * n as f64).sin()).round(), (0.3 * n as f64).cos());
    fs::write(dir.join("t.csv"), format!("t,count,level\n{}", (0..40).map(line).collect::<String>())).unwrap();
    fs::write(dir.join("b.csv"), "column,likelihood\ncount,poisson\nlevel,gaussian\n").unwrap();
    for (out, kernel) in [("own", "matern32"), ("shared", "none")] {
        fit(&dir, out, &["--blocks", "b.csv", "--column-process", kernel]);
        good(&dir, &["forecast", out, "--horizon", "3", "--out", "ahead.csv"]);
        let text = fs::read_to_string(dir.join("ahead.csv")).unwrap();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let has_none = out == "own" && cells[1] == "count";
            assert_eq!((cells[2].is_empty(), cells[3].is_empty()), (has_none, has_none), "{line}");
            assert!(cells[4..].iter().all(|cell| cell.parse::<f64>().is_ok()), "{line}");
        }
    }
}

#[test]
fn a_column_with_a_process_is_imputed_by_it() {
    let dir = folder("impute");
    table(&dir);
    fit(&dir, "without", &["--likelihood", "gaussian", "--column-process", "none"]);
    fit(&dir, "with", &["--likelihood", "gaussian", "--column-process", "matern32"]);
    let (without, with) = (error(&dir, "without"), error(&dir, "with"));
    assert!(with < 0.3 * without, "{with} with, {without} without");
    // Paths of Gaussian columns are drawn again when they are needed; those of others are stored.
    let stored = |fit: &str, name: &str| dir.join(fit).join("draws.zarr/posterior").join(name).exists();
    assert!(stored("with", "column_process_scale") && !stored("with", "column_process"));
    assert!(!stored("without", "column_process_scale"));
}

#[test]
fn real_valued_columns_have_column_processes_by_default_and_the_folder_says_which() {
    let dir = folder("default");
    table(&dir);
    let column_process = |out: &str| {
        let config = fs::read_to_string(dir.join(out).join("config.toml")).unwrap();
        config.lines().find(|line| line.starts_with("column-process =")).unwrap().to_string()
    };
    let flags = ["fit", "t.csv", "--time", "t", "--likelihood", "gaussian", "--out", "auto", "--features", "10"];
    let said = good(&dir, &[&flags[..], &["--chains", "2", "--warmup", "5", "--draws", "5", "--seed", "1"]].concat());
    assert!(
        text(&said.stderr).contains("also has a column process, with the matern32 kernel"),
        "{}",
        text(&said.stderr)
    );
    assert_eq!(column_process("auto"), "column-process = \"matern32\"");
    // Older folders, which do not mention column processes, have none.
    fs::write(dir.join("c.csv"), "t,a,b\n0,1,2\n1,3,2\n2,2,5\n3,0,1\n4,1,1\n5,2,2\n").unwrap();
    let counts = ["fit", "c.csv", "--time", "t", "--likelihood", "poisson", "--out", "counts", "--latent-dim", "1"];
    good(
        &dir,
        &[&counts[..], &["--features", "4", "--chains", "2", "--warmup", "2", "--draws", "4", "--seed", "1", "-q"]]
            .concat(),
    );
    assert_eq!(column_process("counts"), "column-process = \"none\"");
    let config = fs::read_to_string(dir.join("counts/config.toml")).unwrap();
    fs::write(dir.join("counts/config.toml"), config.replace("column-process = \"none\"\n", "")).unwrap();
    good(&dir, &["resume", "counts", "-q"]);
}

#[test]
fn draws_and_answers_are_the_same_for_any_number_of_threads() {
    let dir = folder("threads");
    table(&dir);
    fs::write(dir.join("b.csv"), "column,likelihood\na,gaussian\nb,student-t\nc,gaussian\nd,gaussian\n").unwrap();
    fs::write(dir.join("new.csv"), "t,a,b,c,d\n12.5,0.1,0.2,,0.3\n70,0.5,,1,\n").unwrap();
    for (out, threads) in [("one", "1"), ("two", "2")] {
        fit(&dir, out, &["--blocks", "b.csv", "--column-process", "matern12", "--threads", threads]);
        let told = |name: &str| format!("{out}-{name}.csv");
        let answer = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_rflvm"));
            let output = command.current_dir(&dir).args(arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        };
        answer(&["impute", out, "--out", &told("filled")]);
        answer(&["forecast", out, "--horizon", "3", "--out", &told("ahead")]);
        answer(&["transform", out, "new.csv", "--out", &told("placed")]);
    }
    assert_eq!(files(&dir.join("one/draws.zarr")), files(&dir.join("two/draws.zarr")));
    for name in ["filled", "ahead", "placed"] {
        let [one, two] = ["one", "two"].map(|out| fs::read_to_string(dir.join(format!("{out}-{name}.csv"))).unwrap());
        assert_eq!(one, two, "{name}");
        assert!(!one.contains("NaN"), "{one}");
    }
    assert!(dir.join("one/draws.zarr/posterior/column_process").exists());
}

#[test]
fn forecasts_begin_where_the_path_ends() {
    let dir = folder("forecast");
    table(&dir);
    let mean = |column_process: &str| {
        fit(&dir, column_process, &["--likelihood", "gaussian", "--column-process", column_process]);
        good(&dir, &["forecast", column_process, "--horizon", "1", "--out", "f.csv"]);
        let text = fs::read_to_string(dir.join("f.csv")).unwrap();
        let line = text.lines().find(|line| line.split(',').nth(1) == Some("c")).unwrap();
        line.split(',').nth(2).unwrap().parse::<f64>().unwrap()
    };
    let (with, without) = (mean("matern32"), mean("none"));
    assert!((with - truth(60)).abs() < 0.4, "{with} for {}", truth(60));
    assert!((with - truth(60)).abs() < (without - truth(60)).abs(), "{with}, without {without}, for {}", truth(60));
}

#[test]
fn new_rows_are_not_placed_on_a_card() {
    let dir = folder("card");
    table(&dir);
    fit(&dir, "with", &["--likelihood", "gaussian", "--column-process", "matern32"]);
    fs::write(dir.join("new.csv"), "t,a,b,c,d\n12.5,0.1,0.2,,0.3\n").unwrap();
    let place = ["transform", "with", "new.csv", "--out", "placed.csv"];
    refused(&dir, &[&place[..], &["--device", "cuda:1"]].concat(), 2, &["device", "cuda:1", "placed on the CPU"]);
    assert!(!dir.join("placed.csv").exists());
    good(&dir, &[&place[..], &["--device", "auto"]].concat());
}

#[test]
fn they_need_times_and_a_kernel_that_exists() {
    let dir = folder("refused");
    table(&dir);
    let flags = ["fit", "t.csv", "--id", "t", "--likelihood", "gaussian", "--out", "o"];
    refused(
        &dir,
        &[&flags[..], &["--column-process", "matern32"]].concat(),
        2,
        &["column-process", "only to rows with times", "--time"],
    );
    let said = rflvm(&dir, &[&flags[..], &["--column-process", "rbf"]].concat());
    assert!(said.status.code() == Some(2) && text(&said.stderr).contains("matern12"), "{}", text(&said.stderr));
    assert!(!dir.join("o").exists());
    let said = good(&dir, &["fit", "--help"]);
    assert!(text(&said.stdout).contains("--column-process"));
}

/// As forecasts: a hidden cell, or a new row, of counts with column processes has no mean.
#[test]
fn missing_cells_and_new_rows_of_counts_with_column_processes_have_quantiles_and_no_mean() {
    let dir = folder("no-mean-within");
    let line = |n: usize| {
        let count = if n % 9 == 4 { String::new() } else { (2.0 + 2.0 * (0.2 * n as f64).sin()).round().to_string() };
        format!("{n},{count},{}\n", (0.3 * n as f64).cos())
    };
    fs::write(dir.join("t.csv"), format!("t,count,level\n{}", (0..40).map(line).collect::<String>())).unwrap();
    fs::write(dir.join("b.csv"), "column,likelihood\ncount,poisson\nlevel,gaussian\n").unwrap();
    for (out, kernel) in [("own", "matern32"), ("shared", "none")] {
        fit(&dir, out, &["--blocks", "b.csv", "--column-process", kernel]);
        let cells = fs::read_to_string(dir.join(out).join("imputed.csv")).unwrap();
        assert_eq!(cells.lines().count(), 5);
        good(&dir, &["predict", out, "--rows", "all", "--out", "all.csv", "--overwrite"]);
        let all = fs::read_to_string(dir.join("all.csv")).unwrap();
        for line in cells.lines().skip(1) {
            let line: Vec<&str> = line.split(',').collect();
            assert_eq!((line[2].is_empty(), line[3].is_empty()), (out == "own", out == "own"), "{line:?}");
            assert!(line[4..].iter().all(|cell| cell.parse::<f64>().is_ok()), "{line:?}");
            // One cell, one answer.
            assert!(all.lines().any(|own| own == line.join(",")), "{line:?} is not in {all}");
        }
        // An observed cell bounds its process.
        assert!(all.lines().nth(1).unwrap().split(',').all(|cell| !cell.is_empty()), "{all}");
    }
}
