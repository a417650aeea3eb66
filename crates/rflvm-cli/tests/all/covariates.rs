//! Covariates as a user of the program meets them: a fit with batches, and everything that is asked of it afterwards.

use crate::common::{folder, good, refused, text};
use std::fs;
use std::path::Path;

const RUN: [&str; 12] =
    ["--features", "10", "--chains", "2", "--warmup", "30", "--draws", "30", "--seed", "3", "-q", "--out"];

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

/// The means of a file of predictions, in the order of its lines.
fn means(file: &Path) -> Vec<f64> {
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|name| name == "mean").unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().parse().unwrap()).collect()
}

#[test]
fn rows_are_predicted_as_of_another_batch_and_points_with_their_own() {
    let dir = folder("set");
    fitted(&dir, &["--without", "time"]);
    // Rows 1 and 2 are of batches A and B.
    let rows = |more: &[&str]| {
        good(&dir, &[&["predict", "o", "--rows", "1,2", "--out", "q.csv"], more].concat());
        means(&dir.join("q.csv"))
    };
    let (own, a, b) = (rows(&[]), rows(&["--covariates", "batch=A"]), rows(&["--covariates", "batch=B"]));
    assert_eq!((&own[..4], &own[4..]), (&a[..4], &b[4..]), "a row's own batch changes nothing");
    assert!((0..8).all(|i| a[i] < b[i]), "{a:?} {b:?}");
    // Ages are kept unless they are set too.
    assert_ne!(a, rows(&["--covariates", "batch=A,age=90"]));
    // A column of the file is the covariate of each point; the others are set for all.
    let at = |table: &str, more: &[&str]| {
        fs::write(dir.join("at.csv"), table).unwrap();
        good(&dir, &[&["predict", "o", "--at", "at.csv", "--out", "q.csv"], more].concat());
        means(&dir.join("q.csv"))
    };
    let both = at("batch,x1,x2\nA,0.5,0\nB,0.5,0\n", &["--covariates", "age=30"]);
    let one = |texts: &str| at("x1,x2\n0.5,0\n0.5,0\n", &["--covariates", texts]);
    assert_eq!(both[..4], one("batch=A,age=30")[..4]);
    assert_eq!(both[4..], one("age=30,batch=B")[4..]);
    assert!((0..4).all(|j| both[j] < both[4 + j]), "{both:?}");
    let ages = at("age,x1,x2\n30,0.5,0\n30,0.5,0\n", &["--covariates", "batch=A"]);
    assert_eq!(ages[..4], both[..4]);
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
    fs::write(dir.join("at.csv"), "x1,x2,batch\n0,0,A\n0,0,C\n").unwrap();
    let at = ["predict", "o", "--at", "at.csv", "--out", "q.csv"];
    refused(&dir, &at, 2, &["at.csv", "row 2, column `batch`", "give one of A, B"]);
    refused(
        &dir,
        &[&at[..], &["--covariates", "batch=A"]].concat(),
        2,
        &["batch=A", "at.csv has a column of that name"],
    );
    fs::write(dir.join("at.csv"), "x1,x2,lab\n0,0,1\n").unwrap();
    let sentence = refused(&dir, &at, 2, &["x1, x2, lab", "give only these columns, and covariates"]);
    assert!(!text(sentence.as_bytes()).contains('⟨'), "{sentence}");
    assert!(!dir.join("q.csv").exists(), "nothing is written");
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
        // Their priors, which such a version wrote in full.
        let noise = "{ shape = 0.5, rate = 1e-4 }";
        let dispersion = "{ shape = 1, rate-shape = 1, rate-rate = 1 }";
        let priors =
            format!("[priors]\nnoise = {noise}\nstudent-t = {{ noise = {noise} }}\ndispersion = {dispersion}\n");
        fs::write(dir.join("p.toml"), priors).unwrap();
        let flags =
            ["fit", "t.csv", "--id", "name", "--columns", "a,b,c,d", "--likelihood", family, "--config", "p.toml"];
        good(&dir, &[&flags[..], &RUN[..], &[family]].concat());
        let told = fs::read_to_string(dir.join(family).join("draws.zarr/.zattrs")).unwrap();
        assert!(told.contains(digest), "{family}: {told}");
    }
}

/// A .npy array of doubles.
fn npy(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    (0..rows * columns).for_each(|i| bytes.extend(value(i / columns, i % columns).to_le_bytes()));
    bytes
}

#[test]
fn data_without_such_columns_have_them_in_a_table_about_their_rows() {
    let dir = folder("beside");
    let cells = table(0, 40);
    let value = |n: usize, j: usize| cells.lines().nth(n + 1).unwrap().split(',').nth(4 + j).unwrap().parse().unwrap();
    fs::write(dir.join("t.npy"), npy(40, 4, value)).unwrap();
    fs::write(dir.join("rows.csv"), &cells).unwrap();
    fs::write(dir.join("t.csv"), &cells).unwrap();
    let flags = ["--likelihood", "poisson", "--covariates", "batch,age", "--id", "name", "--labels", "batch"];
    let fit = |file: &str, more: &[&str], out: &str| {
        good(&dir, &[&["fit", file][..], &flags, more, &RUN, &[out]].concat());
        fs::read(dir.join(out).join("embedding.csv")).unwrap()
    };
    // The same fit as with everything in one table.
    let beside = fit("t.npy", &["--row-data", "rows.csv"], "o");
    assert_eq!(text(&beside), text(&fit("t.csv", &["--columns", "a,b,c,d"], "whole")));
    // The fit keeps what it needs.
    fs::rename(dir.join("rows.csv"), dir.join("gone.csv")).unwrap();
    good(&dir, &["resume", "o", "--draws", "33", "-q"]);
    fs::write(dir.join("new.npy"), npy(2, 4, value)).unwrap();
    fs::write(dir.join("two.csv"), "age,batch\n20,A\n33,B\n").unwrap();
    good(&dir, &["transform", "o", "new.npy", "--row-data", "two.csv", "--out", "p.csv"]);
    assert_eq!(fs::read_to_string(dir.join("p.csv")).unwrap().lines().count(), 3);
    refused(&dir, &["transform", "o", "new.npy", "--out", "q.csv"], 2, &["new.npy", "--covariates", "--row-data"]);
    let gone = ["transform", "o", "new.npy", "--row-data", "gone.csv", "--out", "q.csv"];
    refused(&dir, &gone, 2, &["gone.csv", "it has 40 rows, but the data have 2"]);
    let wrong = |more: &[&str], words: &[&str]| {
        refused(&dir, &[&["fit", "t.npy", "--likelihood", "poisson"][..], more, &RUN, &["no"]].concat(), 2, words);
        assert!(!dir.join("no").exists(), "nothing is written");
    };
    wrong(&["--covariates", "batch"], &["t.npy", "numbers only", "--row-data"]);
    wrong(&["--row-data", "gone.csv"], &["gone.csv", "no column of it is named", "--covariates"]);
    wrong(&["--row-data", "gone.csv", "--covariates", "bach"], &["gone.csv", "did you mean `batch`"]);
    wrong(&["--row-data", "none.csv", "--covariates", "batch"], &["none.csv", "no such file"]);
    // Only the table about the rows may have no column to fit.
    fs::write(dir.join("c.toml"), "columns = []\n").unwrap();
    wrong(&["--config", "c.toml"], &["t.npy", "no column is left to fit"]);
}

#[test]
fn true_values_of_such_data_have_the_covariates_of_the_fit() {
    let dir = folder("truth");
    let value = |n: usize, j: usize| (1 + (n + 7 * j) % 11) as f64;
    fs::write(dir.join("truth.npy"), npy(40, 4, value)).unwrap();
    let hidden = |n: usize, j: usize| if n % 10 == j { f64::NAN } else { value(n, j) };
    fs::write(dir.join("t.npy"), npy(40, 4, hidden)).unwrap();
    fs::write(dir.join("rows.csv"), table(0, 40)).unwrap();
    let flags = ["fit", "t.npy", "--row-data", "rows.csv", "--likelihood", "poisson", "--covariates", "batch"];
    good(&dir, &[&flags[..], &RUN, &["o"]].concat());
    let told = good(&dir, &["impute", "o", "--truth", "truth.npy", "--json"]);
    let told = text(&told.stdout);
    assert!(told.contains("\"cells\":16"), "{told}");
}

#[test]
fn cells_of_a_pipeline_are_matched_with_the_table_about_them() {
    let dir = folder("barcodes");
    fs::write(dir.join("genes.tsv"), "a\nb\nc\n").unwrap();
    let name = |n: usize| format!("cell{n}");
    fs::write(dir.join("barcodes.tsv"), (1..=20).map(|n| name(n) + "\n").collect::<String>()).unwrap();
    let entries = (0..60).map(|i| format!("{} {} {}\n", i % 3 + 1, i / 3 + 1, 1 + i * 7 % 5));
    let matrix = format!("%%MatrixMarket matrix coordinate integer general\n3 20 60\n{}", entries.collect::<String>());
    fs::write(dir.join("matrix.mtx"), matrix).unwrap();
    let about = |order: &dyn Fn(usize) -> usize| {
        let lines = (1..=20).map(|n| format!("{},{}\n", name(order(n)), ["A", "B"][n % 2]));
        fs::write(dir.join("obs.csv"), format!("cell,batch\n{}", lines.collect::<String>())).unwrap();
    };
    let flags =
        ["fit", ".", "--row-data", "obs.csv", "--likelihood", "poisson", "--covariates", "batch", "--id", "cell"];
    about(&|n| 21 - n);
    refused(&dir, &[&flags[..], &RUN, &["o"]].concat(), 2, &["obs.csv", "row 1 is named `cell20`", "named `cell1`"]);
    about(&|n| n);
    good(&dir, &[&flags[..], &RUN, &["o"]].concat());
    let embedding = fs::read_to_string(dir.join("o/embedding.csv")).unwrap();
    assert!(embedding.lines().nth(1).unwrap().contains("cell1"), "{embedding}");
}

#[test]
fn a_column_of_text_could_be_a_covariate() {
    let dir = folder("text");
    fs::write(dir.join("t.csv"), table(0, 40)).unwrap();
    let flags = ["fit", "t.csv", "--id", "name", "--likelihood", "poisson"];
    refused(&dir, &[&flags[..], &RUN, &["o"]].concat(), 2, &["column `batch`", "--covariates batch"]);
}
