//! `rflvm fit --method map` as a user meets it: a table and a first picture of it.

use crate::common::{folder, good, rflvm, text};
use std::fs;
use std::path::Path;

const SMALL: [&str; 4] = ["--features", "10", "--seed", "5"];

/// A table with names, labels, times, two sequences, an offset, three counts, a real column and a missing cell.
fn table() -> String {
    let mut table = String::from("name,kind,day,run,size,a,b,c,r\n");
    for n in 0..40_u32 {
        let (kind, run, day) = (if n < 20 { "low" } else { "high" }, n % 2, n / 2);
        let count = |j: u32| if (n, j) == (7, 1) { String::new() } else { ((n * (j + 2)) % 5 + j + n / 8).to_string() };
        let real = (f64::from(n) * 0.2).sin();
        table.push_str(&format!("r{n},{kind},{day},{run},0.1,{},{},{},{real}\n", count(0), count(1), count(2)));
    }
    table
}

fn map(dir: &Path, out: &str, more: &[&str]) {
    good(
        dir,
        &[
            &["fit", "t.csv", "--method", "map", "-q", "--id", "name", "--labels", "kind", "--out", out],
            &SMALL[..],
            more,
        ]
        .concat(),
    );
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
}

#[test]
fn a_table_with_every_kind_of_column_gets_its_picture() {
    let dir = folder("all");
    fs::write(dir.join("t.csv"), table()).unwrap();
    let blocks = "column,likelihood\na,poisson\nb,negative-binomial\nc,poisson\nr,gaussian\n";
    fs::write(dir.join("b.csv"), blocks).unwrap();
    let flags = ["--blocks", "b.csv", "--offset", "size", "--time", "day", "--sequence", "run"];
    map(&dir, "o", &flags);
    let embedding = lines(&dir.join("o/embedding.csv"));
    assert_eq!(embedding[0].join(","), "id,label,time,sequence,x1,x2,sd1,sd2");
    assert_eq!((embedding.len(), &embedding[1][..4].join(",")[..]), (41, "r0,low,0,0"));
    for row in &embedding[1..] {
        let numbers: Vec<f64> = row[4..].iter().map(|v| v.parse().unwrap()).collect();
        assert!(numbers.iter().all(|v| v.is_finite()) && numbers[2] > 0.0 && numbers[3] > 0.0, "{row:?}");
    }
    for (file, start) in [("latent.svg", "<svg"), ("paths.svg", "<svg"), ("config.toml", "# The settings")] {
        assert!(fs::read_to_string(dir.join("o").join(file)).unwrap().starts_with(start), "{file}");
    }
    assert_eq!(lines(&dir.join("o/frequencies.csv")).len(), 6);
    let imputed = lines(&dir.join("o/imputed.csv"));
    assert_eq!((imputed.len(), imputed[1][..2].join(",")), (2, "8,b".to_string()));
    let about: serde_json::Value = serde_json::from_str(&fs::read_to_string(dir.join("o/map.json")).unwrap()).unwrap();
    assert!(about["log_joint"].as_f64().unwrap() < about["log_likelihood"].as_f64().unwrap());
    assert!(about["iterations"].as_u64().unwrap() > 0 && about["sd"].as_str().unwrap().starts_with("conditional"));
    // The settings repeat it, for any number of threads.
    good(&dir, &["fit", "--config", "o/config.toml", "--threads", "2", "-q", "--out", "again"]);
    for file in ["embedding.csv", "frequencies.csv", "latent.svg", "imputed.csv"] {
        let of = |folder: &str| fs::read(dir.join(folder).join(file)).unwrap();
        assert!(of("o") == of("again"), "{file}");
    }
}

#[test]
fn every_family_can_be_mapped_and_started_from() {
    let dir = folder("families");
    for family in ["gaussian", "poisson", "bernoulli", "negative-binomial", "multinomial", "student-t"] {
        let simulate = ["simulate", "--likelihood", family, "--rows", "40", "--columns", "6", "--seed", "3"];
        good(&dir, &[&simulate[..], &["--out", family]].concat());
        let table = format!("{family}/table.csv");
        let output = good(
            &dir,
            &[
                &[
                    "fit",
                    &table,
                    "--method",
                    "map",
                    "--likelihood",
                    family,
                    "--json",
                    "--out",
                    &format!("{family}-map"),
                ],
                &SMALL[..],
            ]
            .concat(),
        );
        let last = text(&output.stdout).lines().last().map(String::from).unwrap();
        assert!(last.contains("\"event\":\"map\""), "{last}");
        let short = [
            "--start",
            "map",
            "--chains",
            "2",
            "--warmup",
            "3",
            "--draws",
            "3",
            "-q",
            "--out",
            &format!("{family}-fit"),
        ];
        good(&dir, &[&["fit", &table, "--likelihood", family], &SMALL[..], &short[..]].concat());
    }
}

#[test]
fn invalid_commands_are_refused_in_one_sentence() {
    let dir = folder("refused");
    fs::write(dir.join("t.csv"), table()).unwrap();
    fs::write(dir.join("n.csv"), "a,b\n1,2\n-3,4\n").unwrap();
    map(&dir, "o", &["--likelihood", "gaussian", "--columns", "r,a"]);
    let of = |more: &'static [&'static str]| {
        [&["fit", "n.csv", "--method", "map", "--likelihood", "poisson", "--out", "x"], more].concat()
    };
    for (arguments, words) in [
        (of(&["--draws", "9"]), &["draws is given", "no chains", "--method mcmc"][..]),
        (of(&["--starts", "0"]), &["starts is 0", "between 1"]),
        (of(&["--init", "map"]), &["init is map", "pca or random"]),
        (of(&[]), &["n.csv", "row 2", "'a'", "negative"]),
        (vec!["fit", "t.csv", "--method", "map", "--out", "x"], &["likelihood", "--blocks"]),
        (
            vec!["fit", "t.csv", "--method", "map", "--likelihood", "gaussian", "--columns", "r,a", "--out", "o"],
            &["o", "MAP estimate", "--overwrite"],
        ),
        (vec!["summary", "o"], &["o", "MAP estimate", "no draws"]),
        (vec!["resume", "o"], &["o", "MAP estimate", "rflvm fit"]),
    ] {
        let output = rflvm(&dir, &arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "'{word}' is not in: {said}"));
        assert!(!dir.join("x").exists(), "{arguments:?}");
    }
    map(&dir, "o", &["--likelihood", "gaussian", "--columns", "r,a", "--overwrite"]);
}
