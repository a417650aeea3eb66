//! `rflvm impute` as a user meets it: a table with missing cells is fitted, and they are imputed.

use crate::common::{folder, good, rflvm};
use std::fs;
use std::path::{Path, PathBuf};

fn read(path: PathBuf) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

/// A table with row names, and a missing cell in every seventh row; a multinomial row is missing as a whole.
fn table(family: &str) -> String {
    let mut text = String::from("name,a,b,c\n");
    for n in 0..30_u32 {
        let cell = |j: u32| match family {
            "gaussian" => (f64::from(n) * 0.2 + f64::from(j)).sin(),
            _ => f64::from((n * (j + 2)) % 5 + j),
        };
        let cells = match (n % 7, family) {
            (3, "multinomial") => ["".to_string(), "NA".into(), "".into()],
            (3, _) => [cell(0).to_string(), "".into(), cell(2).to_string()],
            _ => [cell(0), cell(1), cell(2)].map(|v| v.to_string()),
        };
        text.push_str(&format!("r{n},{}\n", cells.join(",")));
    }
    text
}

const RUN: [&str; 12] =
    ["--id", "name", "--features", "10", "--chains", "2", "--warmup", "30", "--draws", "40", "--seed", "5"];

fn fit(dir: &Path, family: &str, more: &[&str]) {
    fs::write(dir.join("t.csv"), table(family)).unwrap();
    good(dir, &[&["fit", "t.csv", "--likelihood", family, "-q", "--out", "o"], &RUN[..], more].concat());
}

#[test]
fn every_missing_cell_gets_a_line_and_results_are_reproducible() {
    for family in ["gaussian", "poisson", "multinomial"] {
        let dir = folder(family);
        fit(&dir, family, &[]);
        let output = good(&dir, &["impute", "o", "--out", "cells.csv"]);
        let holes = if family == "multinomial" { 12 } else { 4 };
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("{holes} missing cells")));
        let cells = read(dir.join("cells.csv"));
        assert_eq!(cells[0].join(","), "row,column,mean,sd,q05,q50,q95,id");
        assert_eq!(cells.len(), 1 + holes);
        assert_eq!(&cells[1][..2], if family == "multinomial" { ["4", "a"] } else { ["4", "b"] });
        for cell in &cells[1..] {
            assert_eq!(cell[7], format!("r{}", cell[0].parse::<u32>().unwrap() - 1));
            let numbers: Vec<f64> = cell[2..7].iter().map(|v| v.parse().unwrap()).collect();
            let [mean, sd, low, middle, high] = numbers[..] else { panic!("{cell:?}") };
            assert!(sd >= 0.0 && low <= middle && middle <= high, "{cell:?}");
            match family {
                "gaussian" => assert!(low < mean && mean < high && sd > 0.0, "{cell:?}"),
                // Draws are counts, and the median of an even number of them a count or halfway between two.
                "poisson" => assert!(mean > 0.0 && (2.0 * middle).fract() == 0.0, "{cell:?}"),
                // With one trial, the mean is a probability.
                _ => assert!((0.0..=1.0).contains(&mean) && high <= 1.0, "{cell:?}"),
            }
        }
        // The fit wrote the same file, and so does a second call.
        let bytes = fs::read(dir.join("cells.csv")).unwrap();
        assert_eq!(bytes, fs::read(dir.join("o/imputed.csv")).unwrap());
        good(&dir, &["impute", "o", "--out", "again.csv"]);
        assert_eq!(bytes, fs::read(dir.join("again.csv")).unwrap());
    }
}

#[test]
fn completed_tables_keep_observed_cells() {
    for family in ["gaussian", "multinomial"] {
        let dir = folder(&format!("completed-{family}"));
        fit(&dir, family, &[]);
        good(&dir, &["impute", "o", "--out", "full.csv", "--draws", "3"]);
        assert!(!dir.join("full.csv").exists() && !dir.join("full-4.csv").exists());
        let (seen, one, two) = (read(dir.join("t.csv")), read(dir.join("full-1.csv")), read(dir.join("full-2.csv")));
        let is_hole = |cell: &String| cell.is_empty() || cell == "NA";
        let mut differ = false;
        for ((seen, one), two) in seen.iter().zip(&one).zip(&two) {
            for ((seen, one), two) in seen.iter().zip(one).zip(two) {
                if is_hole(seen) {
                    assert!(one.parse::<f64>().unwrap().is_finite());
                    differ |= one != two;
                } else {
                    assert!(seen == one && seen == two, "{seen} became {one}");
                }
            }
        }
        assert!(differ, "two imputations of {family} are the same");
        assert_eq!(one.len(), seen.len());
        let first = fs::read(dir.join("full-1.csv")).unwrap();
        good(&dir, &["impute", "o", "--out", "full.csv", "--draws", "3", "--overwrite"]);
        assert_eq!(first, fs::read(dir.join("full-1.csv")).unwrap());
    }
}

/// A missing fit, a fit without draws, one without weights, one without missing cells, and invalid flags.
#[test]
fn impossible_imputations_are_refused_in_one_sentence() {
    let dir = folder("refused");
    fit(&dir, "gaussian", &[]);
    fs::write(dir.join("complete.csv"), "a,b\n1,2\n3,4\n5,1\n2,2\n").unwrap();
    let short = ["--features", "6", "--chains", "2", "--warmup", "4", "--draws", "4", "--seed", "1", "-q"];
    let of = |table: &str, out: &str, more: &[&str]| {
        let names = if table == "t.csv" { vec!["--id", "name"] } else { Vec::new() };
        let fit = ["fit", table, "--likelihood", "gaussian", "--out", out];
        good(&dir, &[&fit[..], &short[..], &names[..], more].concat())
    };
    of("complete.csv", "whole", &[]);
    let said = of("t.csv", "kept", &["--keep", "w"]);
    assert!(said.stderr.is_empty() && !dir.join("kept/imputed.csv").exists());
    fs::create_dir_all(dir.join("begun")).unwrap();
    fs::copy(dir.join("o/config.toml"), dir.join("begun/config.toml")).unwrap();
    for (arguments, words) in [
        (&["impute", "nowhere", "--out", "c.csv"][..], &["nowhere", "holds no fit"][..]),
        (&["impute", "begun", "--out", "c.csv"], &["begun", "no draws yet", "rflvm resume begun"]),
        (&["impute", "kept", "--out", "c.csv"], &["keep is without beta", "fit again"]),
        (&["impute", "whole", "--out", "c.csv"], &["complete.csv", "no cell", "missing"]),
        (&["impute", "o", "--out", "c.txt"], &["out is c.txt", ".csv"]),
        (&["impute", "o", "--out", "c.csv", "--draws", "0"], &["draws is 0"]),
        (&["impute", "o", "--out", "c.csv", "--draws", "999"], &["draws is 999", "80"]),
    ] {
        let output = rflvm(&dir, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        // Such short chains may also be warned of.
        let refusals: Vec<&str> = said.trim_end().lines().filter(|line| !line.starts_with("warning: ")).collect();
        assert_eq!(refusals.len(), 1, "{said}");
        words.iter().for_each(|word| assert!(refusals[0].contains(word), "'{word}' is not in: {said}"));
        assert!(!dir.join("c.csv").exists());
    }
}

#[test]
fn predictions_are_scored_against_the_truth() {
    let dir = folder("truth");
    fit(&dir, "gaussian", &[]);
    let cell = |n: u32, j: u32| (f64::from(n) * 0.2 + f64::from(j)).sin();
    // Columns in another order; all cells known, observed ones among them, which are not scored.
    let mut text = String::from("name,c,b,a\n");
    (0..30).for_each(|n| text.push_str(&format!("r{n},{},{},{}\n", cell(n, 2), cell(n, 1), cell(n, 0))));
    fs::write(dir.join("truth.csv"), &text).unwrap();
    let output = good(&dir, &["impute", "o", "--truth", "truth.csv", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    good(&dir, &["impute", "o", "--out", "cells.csv"]);
    let cells = read(dir.join("cells.csv"));
    let b: Vec<f64> = (0..30).filter(|n| n % 7 != 3).map(|n| cell(n, 1)).collect();
    let mean = b.iter().sum::<f64>() / b.len() as f64;
    let variance = b.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / b.len() as f64;
    let squares = cells[1..].iter().map(|line| {
        let (row, mean): (u32, f64) = (line[0].parse().unwrap(), line[2].parse().unwrap());
        (mean - cell(row - 1, 1)).powi(2)
    });
    let mse = squares.sum::<f64>() / 4.0 / variance;
    assert_eq!((told["cells"].as_u64(), told["columns"].as_object().unwrap().len()), (Some(4), 1));
    for found in [&told["mse"], &told["columns"]["b"]["mse"]] {
        assert!((found.as_f64().unwrap() - mse).abs() < 1e-9, "{found} for {mse}");
    }
    assert!(told["log_density"].as_f64().unwrap().is_finite());
    let output = good(&dir, &["impute", "o", "--truth", "truth.csv", "--out", "cells.csv"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("all columns") && text.contains("4 missing cells"), "{text}");
    // Tables without a cell to score are refused.
    for (table, words) in [("t.csv", "nothing to score"), ("short.csv", "2 rows"), ("none.csv", "none.csv")] {
        fs::write(dir.join("short.csv"), "name,a,b,c\nx,1,2,3\ny,1,2,3\n").unwrap();
        let output = rflvm(&dir, &["impute", "o", "--truth", table]);
        assert_eq!(output.status.code(), Some(2), "{table}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{table}: {output:?}");
    }
}

#[test]
fn true_values_are_matched_by_id_and_must_be_those_of_the_fit() {
    let dir = folder("truth-ids");
    fit(&dir, "gaussian", &[]);
    let cell = |n: u32, j: u32| (f64::from(n) * 0.2 + f64::from(j)).sin();
    let write = |file: &str, header: &str, rows: &[u32], line: &dyn Fn(u32) -> String| {
        let lines: String = rows.iter().map(|&n| line(n) + "\n").collect();
        fs::write(dir.join(file), format!("{header}\n{lines}")).unwrap();
    };
    let (forwards, backwards): (Vec<u32>, Vec<u32>) = ((0..30).collect(), (0..30).rev().collect());
    let cells = |n: u32, by: f64| format!("{},{},{}", by * cell(n, 0), by * cell(n, 1), by * cell(n, 2));
    write("truth.csv", "name,a,b,c", &forwards, &|n| format!("r{n},{}", cells(n, 1.0)));
    write("reversed.csv", "name,a,b,c", &backwards, &|n| format!("r{n},{}", cells(n, 1.0)));
    write("nameless.csv", "a,b,c", &forwards, &|n| cells(n, 1.0));
    let scores = |file: &str| good(&dir, &["impute", "o", "--truth", file, "--json"]).stdout;
    assert_eq!(scores("truth.csv"), scores("reversed.csv"));
    assert_eq!(scores("truth.csv"), scores("nameless.csv"));
    write("others.csv", "name,a,b,c", &forwards, &|n| format!("r{},{}", n + 1, cells(n, 1.0)));
    write("twice.csv", "name,a,b,c", &forwards, &|n| format!("r{},{}", n.max(1), cells(n, 1.0)));
    write("units.csv", "name,a,b,c", &forwards, &|n| format!("r{n},{}", cells(n, 1000.0)));
    write("order.csv", "a,b,c", &backwards, &|n| cells(n, 1.0));
    for (file, words) in [
        ("others.csv", &["the id 'r0' names no row here"][..]),
        ("twice.csv", &["the id 'r1' names two rows"]),
        ("units.csv", &["row 1, column 'b' is", "in the fitted table", "units"]),
        ("order.csv", &["row 1, column 'a' is", "same order"]),
    ] {
        let output = rflvm(&dir, &["impute", "o", "--truth", file]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{file}: {said}");
        words.iter().for_each(|word| assert!(said.contains(word), "'{word}' is not in: {said}"));
    }
}

#[test]
fn too_small_a_latent_dimension_is_mentioned() {
    let dir = folder("dimension");
    // Two independent waves in six columns.
    let mut text = String::from("a,b,c,d,e,f\n");
    for n in 0..80 {
        let (x, y) = ((0.37 * f64::from(n)).sin(), (1.71 * f64::from(n)).sin());
        let cells = [x, y, x + y, x - y, 2.0 * x + y, x - 2.0 * y].map(|v| v.to_string());
        let cells = cells
            .into_iter()
            .enumerate()
            .map(|(j, cell)| if (n + 5 * j as i32) % 13 == 0 { String::new() } else { cell });
        text.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join(",")));
    }
    fs::write(dir.join("t.csv"), text).unwrap();
    for (dim, wanted) in [("1", true), ("2", false)] {
        let flags = ["fit", "t.csv", "--likelihood", "gaussian", "--latent-dim", dim, "--features", "20", "--out", dim];
        good(&dir, &[&flags[..], &["--chains", "2", "--warmup", "60", "--draws", "40", "--seed", "1", "-q"]].concat());
        let said = good(&dir, &["impute", dim, "--out", "cells.csv"]);
        let said = String::from_utf8(said.stderr).unwrap();
        assert_eq!(
            said.contains("--latent-dim 2 or more, or --latent-dim auto, and compare"),
            wanted,
            "D = {dim}: {said}"
        );
    }
}
