//! Covariates as a user of the program meets them: a fit with batches, and everything that is asked of it afterwards.

mod common;

use common::{folder, good, refused, text};
use std::fs;
use std::path::Path;

const RUN: [&str; 10] = ["--features", "10", "--warmup", "30", "--draws", "30", "--seed", "3", "-q", "--out"];

/// Counts along a line of 40 rows, in two batches; `age` is a number and `time` counts the rows.
fn table(from: u32, to: u32) -> String {
    let mut table = String::from("name,batch,age,time,a,b,c,d\n");
    for n in from..to {
        let batch = n % 2;
        let cell = |j: u32| 1 + (n + 7 * j) % 11 + if batch == 1 { 4 * (j + 1) } else { 0 };
        let cells: Vec<String> = (0..4).map(|j| cell(j).to_string()).collect();
        table.push_str(&format!(
            "r{n},{},{},{n},{}\n",
            ["A", "B"][batch as usize],
            20 + (n * 13) % 50,
            cells.join(",")
        ));
    }
    table
}

fn fitted(dir: &Path, more: &[&str]) {
    fs::write(dir.join("t.csv"), table(0, 40)).unwrap();
    let flags = ["fit", "t.csv", "--id", "name", "--likelihood", "poisson", "--covariates", "batch,age"];
    good(dir, &[&flags[..], more, &RUN[..], &["o"]].concat());
}

#[test]
fn a_fit_with_covariates_answers_every_question() {
    let dir = folder("all");
    fitted(&dir, &["--without", "time"]);
    let config = fs::read_to_string(dir.join("o/config.toml")).unwrap();
    assert!(config.contains(r#"covariates = ["batch", "age"]"#), "{config}");
    // Four weights of two levels, of a number, and 10 features and an intercept.
    let beta = fs::read_to_string(dir.join("o/draws.zarr/posterior/beta/.zarray")).unwrap();
    assert!(beta.replace([' ', '\n'], "").contains("30,14,4"), "{beta}");
    good(&dir, &["summary", "o"]);
    good(&dir, &["check", "o"]);
    // The file of the table is not needed any more.
    fs::rename(dir.join("t.csv"), dir.join("gone.csv")).unwrap();
    good(&dir, &["resume", "o", "--draws", "35", "-q"]);
    fs::write(dir.join("new.csv"), table(40, 44)).unwrap();
    good(&dir, &["transform", "o", "new.csv", "--out", "p.csv"]);
    assert_eq!(fs::read_to_string(dir.join("p.csv")).unwrap().lines().count(), 5);
    // Batch B has larger counts: so has a point there.
    let at = |more: &[&str]| {
        good(&dir, &[&["predict", "o", "--grid", "2", "--out", "q.csv"], more].concat());
        let lines = fs::read_to_string(dir.join("q.csv")).unwrap();
        let mean = |line: &str| line.split(',').nth(4).unwrap().parse::<f64>().unwrap();
        lines.lines().skip(1).map(mean).sum::<f64>()
    };
    let (a, average, b) = (at(&["--covariates", "batch=A"]), at(&[]), at(&["--covariates", "batch=B,age=40"]));
    assert!(a < average && average < b, "{a} {average} {b}");
}

#[test]
fn forecasts_can_set_them() {
    let dir = folder("time");
    fs::write(dir.join("t.csv"), table(0, 40)).unwrap();
    let flags =
        ["fit", "t.csv", "--id", "name", "--likelihood", "poisson", "--covariates", "batch", "--without", "age"];
    good(&dir, &[&flags[..], &["--time", "time"], &RUN[..], &["o"]].concat());
    for (more, name) in
        [(&["--covariates", "batch=A"][..], "a.csv"), (&["--covariates", "batch=B"], "b.csv"), (&[], "c.csv")]
    {
        good(&dir, &[&["forecast", "o", "--horizon", "2", "--out", name], more].concat());
    }
    assert_ne!(fs::read(dir.join("a.csv")).unwrap(), fs::read(dir.join("b.csv")).unwrap());
    refused(
        &dir,
        &["forecast", "o", "--horizon", "2", "--covariates", "batch=C", "--out", "d.csv"],
        2,
        &["give one of A, B"],
    );
}

#[test]
fn completed_tables_have_the_covariates_of_their_rows() {
    let dir = folder("impute");
    let cells = table(0, 40);
    let mut lines: Vec<String> = cells.lines().map(String::from).collect();
    let last = lines[8].rfind(',').unwrap();
    lines[8].replace_range(last.., ",NA");
    fs::write(dir.join("t.csv"), lines.join("\n")).unwrap();
    let flags =
        ["fit", "t.csv", "--id", "name", "--likelihood", "poisson", "--covariates", "batch", "--without", "age,time"];
    good(&dir, &[&flags[..], &RUN[..], &["o"]].concat());
    good(&dir, &["impute", "o", "--out", "cells.csv", "--draws", "1"]);
    let made = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let completed = made.into_iter().find(|path| path.to_string_lossy().ends_with("-1.csv")).unwrap();
    assert!(fs::read_to_string(completed).unwrap().starts_with("name,batch,a,b,c,d\n"));
}

#[test]
fn what_cannot_be_used_is_told_in_one_sentence() {
    let dir = folder("wrong");
    fitted(&dir, &["--without", "time"]);
    let fit = |table: &str, covariates: &str, words: &[&str]| {
        fs::write(dir.join("w.csv"), table).unwrap();
        let flags = ["fit", "w.csv", "--id", "name", "--likelihood", "poisson", "--covariates", covariates];
        refused(&dir, &[&flags[..], &RUN[..], &["wrong"]].concat(), 2, words);
        assert!(!dir.join("wrong").exists(), "nothing is written");
    };
    fit(&table(0, 40), "bach", &["bach", "did you mean `batch`"]);
    fit(&table(0, 40).replace("r3,B", "r3,NA"), "batch", &["row 4, column `batch`", "the covariate is missing"]);
    fit(&table(0, 40).replace(",A,", ",B,"), "batch", &["batch", "the same in every row"]);
    fit(&table(0, 40), "batch,time:category", &["40 levels for 40 rows"]);
    fs::write(dir.join("new.csv"), table(40, 44).replace(",A,", ",C,")).unwrap();
    let words = ["new.csv", "row 1, column `batch`", "does not know the level `C`", "A, B"];
    refused(&dir, &["transform", "o", "new.csv", "--out", "p.csv"], 2, &words);
    fs::write(dir.join("new.csv"), table(40, 44).replace("batch", "lab")).unwrap();
    refused(&dir, &["transform", "o", "new.csv", "--out", "p.csv"], 2, &["new.csv", "batch"]);
    let rows = ["predict", "o", "--rows", "1", "--covariates", "batch=A", "--out", "q.csv"];
    let sentence = refused(&dir, &rows, 2, &["rows of the table have their own covariates"]);
    assert!(!text(sentence.as_bytes()).contains('⟨'), "{sentence}");
}

#[test]
fn a_linear_part_is_learned_and_stored() {
    let dir = folder("linear");
    fs::write(dir.join("t.csv"), table(0, 40)).unwrap();
    let flags = [
        "fit",
        "t.csv",
        "--id",
        "name",
        "--without",
        "batch,age,time",
        "--likelihood",
        "gaussian",
        "--linear",
        "learned",
    ];
    good(&dir, &[&flags[..], &RUN[..], &["o"]].concat());
    let summary = text(&good(&dir, &["summary", "o"]).stdout);
    assert!(summary.contains("linear_scale"), "{summary}");
    good(&dir, &["predict", "o", "--grid", "2", "--out", "q.csv"]);
    good(&dir, &["transform", "o", "t.csv", "--out", "p.csv"]);
    good(&dir, &["resume", "o", "--draws", "33", "-q"]);
    let auto = [&flags[..], &["--latent-dim", "auto"], &RUN[..], &["auto"]].concat();
    refused(&dir, &auto, 2, &["latent-dim", "linear part"]);
}

#[test]
fn fits_without_either_have_the_digest_of_versions_that_knew_neither() {
    // So that their stores can still be read.
    let dir = folder("digest");
    fs::write(dir.join("t.csv"), table(0, 40)).unwrap();
    for (family, digest) in
        [("gaussian", "c04f66ca78f434f5f07268b7a41988f2"), ("poisson", "2f4c48d329df882fc98d1c8007c5bb7f")]
    {
        let flags = ["fit", "t.csv", "--id", "name", "--columns", "a,b,c,d", "--likelihood", family];
        good(&dir, &[&flags[..], &RUN[..], &[family]].concat());
        let told = fs::read_to_string(dir.join(family).join("draws.zarr/.zattrs")).unwrap();
        assert!(told.contains(digest), "{family}: {told}");
    }
}
