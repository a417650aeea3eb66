//! Several modes of one fit: which chains sample which, and how predictions combine them.

use crate::common::{folder, good, refused, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Long enough for a search, and short enough that starts have not yet led to the same mode.
const FIT: &str = "fit t.csv --likelihood poisson --features 6 --chains 2 --warmup 500 --seed 1 -q --out";

fn fit(dir: &Path, out: &str, more: &[&str]) {
    good(dir, &FIT.split(' ').chain([out]).chain(more.iter().copied()).collect::<Vec<_>>());
}

/// A table of counts with some cells missing.
fn table(dir: &Path) {
    let simulate = "simulate --likelihood poisson --rows 70 --columns 5 --seed 2 --out s";
    good(dir, &simulate.split(' ').collect::<Vec<_>>());
    let whole = fs::read_to_string(dir.join("s/table.csv")).unwrap();
    let hole = |(n, line): (usize, &str)| {
        let cells = line.split(',').enumerate();
        let cell = |(j, cell): (usize, &str)| if n > 0 && (7 * n + 3 * j) % 41 == 0 { "" } else { cell }.to_string();
        cells.map(cell).collect::<Vec<_>>().join(",")
    };
    let lines: Vec<String> = whole.lines().enumerate().map(hole).collect();
    fs::write(dir.join("t.csv"), lines.join("\n")).unwrap();
}

fn json(dir: &Path, words: &[&str]) -> Value {
    serde_json::from_slice(&good(dir, words).stdout).unwrap()
}

/// X of every chain, as bytes.
fn draws(dir: &Path, fit: &str) -> Vec<u8> {
    good(dir, &["export", fit, "--what", "x", "--out", "x.npy"]);
    // Numbers after the header.
    let bytes = fs::read(dir.join("x.npy")).unwrap();
    bytes[10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))..].to_vec()
}

/// The means of imputed.csv.
fn means(dir: &Path, fit: &str) -> Vec<f64> {
    let cells = fs::read_to_string(dir.join(fit).join("imputed.csv")).unwrap();
    cells.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect()
}

#[test]
fn two_maps_are_sampled_and_their_predictions_combined() {
    let dir = folder("modes");
    table(&dir);
    fit(&dir, "one", &["--init", "search", "--draws", "60"]);
    fit(&dir, "two", &["--draws", "60", "--modes", "2", "--threads", "1"]);
    let modes: Value = serde_json::from_slice(&fs::read(dir.join("two/modes.json")).unwrap()).unwrap();
    assert_eq!((&modes[0]["chains"], &modes[1]["chains"]), (&serde_json::json!([1, 2]), &serde_json::json!([3, 4])));
    // The chains of the chosen mode are the same, to the last bit, whether others are sampled or not.
    let (one, two) = (draws(&dir, "one"), draws(&dir, "two"));
    assert!(two.len() == 2 * one.len() && two[..one.len()] == one[..]);
    let same = |file: &str| {
        let read = |fit: &str| fs::read(dir.join(fit).join(file)).unwrap();
        read("one") == read("two")
    };
    assert!(same("embedding.csv") && same("latent.svg"));
    let read = |file: &str| fs::read_to_string(dir.join("two").join(file)).unwrap();
    assert_ne!(read("embedding.csv"), read("embedding-2.csv"));
    assert!(read("latent-2.svg").contains("mode 2"));

    let told = json(&dir, &["summary", "two", "--json"]);
    let alone = json(&dir, &["summary", "one", "--json"]);
    // R̂ is computed inside the chosen mode.
    assert_eq!(told["quantities"], alone["quantities"]);
    assert_eq!(told["chains"], alone["chains"]);
    assert!(alone["modes"]["stacking"].is_null() && alone["modes"]["found"][0]["weight"].is_null());
    let found = &told["modes"]["found"];
    let weight = |mode: usize| found[mode]["weight"].as_f64().unwrap();
    assert!((weight(0) + weight(1) - 1.0).abs() < 1e-9 && weight(0).min(weight(1)) >= 0.0, "{found}");
    assert!(found[1]["verdict"].is_string() && found[1]["words"].is_string());
    // Together they predict no worse than either.
    let together = told["modes"]["stacking"]["log_density"].as_f64().unwrap();
    let best = (0..2).map(|mode| found[mode]["log_density"].as_f64().unwrap()).fold(f64::NEG_INFINITY, f64::max);
    assert!(together >= best - 1e-9, "{together}, {best}");
    let summary = text(&good(&dir, &["summary", "two"]).stdout);
    for words in
        ["sampled by chains 1, 2", "sampled by chains 3, 4", "predictions combine the modes with weights", "mode 2: "]
    {
        assert!(summary.contains(words), "{words}: {summary}");
    }

    // Imputed means are those of the modes, weighted. Weights of 0 and 1 give the means of each mode alone.
    let stored: Value = serde_json::from_str(&read("weights.json")).unwrap();
    let with = |weights: [f64; 2]| {
        let mut changed = stored.clone();
        (0..2).for_each(|mode| changed["modes"][mode]["weight"] = weights[mode].into());
        fs::write(dir.join("two/weights.json"), changed.to_string()).unwrap();
        good(&dir, &["impute", "two", "--out", "two/imputed.csv"]);
        means(&dir, "two")
    };
    let (first, second, half) = (with([1.0, 0.0]), with([0.0, 1.0]), with([0.5, 0.5]));
    assert_eq!(first, means(&dir, "one"));
    assert!(!first.is_empty() && first != second);
    for ((first, second), half) in first.iter().zip(&second).zip(&half) {
        assert!((half - 0.5 * (first + second)).abs() < 1e-9 * half.abs(), "{half}: {first}, {second}");
    }
    // Weights that are lost, damaged, or of fewer draws are computed again.
    for damaged in [None, Some("{".to_string()), Some(stored.to_string().replace("\"draws\":60", "\"draws\":59"))] {
        let path = dir.join("two/weights.json");
        damaged.map_or_else(|| fs::remove_file(&path).unwrap(), |text| fs::write(&path, text).unwrap());
        let again = json(&dir, &["summary", "two", "--json"])["modes"]["found"][0]["weight"].as_f64();
        assert!((again.unwrap() - weight(0)).abs() < 1e-9);
    }
    good(&dir, &["check", "two"]);
    good(&dir, &["predict", "two", "--rows", "1,2", "--out", "p.csv"]);
    good(&dir, &["transform", "two", "t.csv", "--out", "n.csv"]);
    // Which chain samples which mode must be known.
    fs::remove_file(dir.join("two/modes.json")).unwrap();
    refused(&dir, &["summary", "two"], 2, &["modes.json", "which chains sample which mode"]);
}

#[test]
fn draws_of_several_maps_depend_on_neither_threads_nor_interruptions() {
    let dir = folder("modes-same");
    table(&dir);
    fit(&dir, "f", &["--draws", "12", "--modes", "2", "--threads", "1"]);
    fit(&dir, "g", &["--draws", "12", "--modes", "2", "--threads", "3"]);
    fit(&dir, "h", &["--draws", "5", "--modes", "2"]);
    good(&dir, &["resume", "h", "--draws", "12", "-q"]);
    let of = |fit: &str| {
        let read = |file: &str| fs::read(dir.join(fit).join(file)).unwrap();
        (draws(&dir, fit), read("modes.json"), read("weights.json"), read("imputed.csv"))
    };
    assert!(of("f") == of("g") && of("f") == of("h"));
    // A new fit removes all of it.
    fit(&dir, "f", &["--draws", "5", "--overwrite"]);
    let there = |file: &str| dir.join("f").join(file).exists();
    assert!(!there("weights.json") && !there("embedding-2.csv") && !there("latent-2.svg") && !there("modes.json"));
}

#[test]
fn a_number_of_maps_that_cannot_be_sampled_is_refused_or_explained() {
    let dir = folder("modes-refused");
    table(&dir);
    let with =
        |more: &str| -> Vec<String> { format!("{FIT} x --draws 5 {more}").split(' ').map(String::from).collect() };
    let refuse = |more: &str, words: &[&str]| {
        refused(&dir, &with(more).iter().map(String::as_str).collect::<Vec<_>>(), 2, words);
        assert!(!dir.join("x/config.toml").exists());
    };
    refuse("--modes 0", &["modes is 0", "between 1 and 5"]);
    refuse("--modes 6", &["modes is 6", "between 1 and 5"]);
    refuse("--modes 2 --init pca", &["modes is 2", "search"]);
    refuse("--modes 2 --init-effort 0.01", &["modes is 2", "20 sweeps per start"]);
    refused(&dir, &["compare", "t.csv", "--modes", "2", "--out", "c"], 2, &["modes", "one mode"]);
    // A line has one mode, however often it is sought.
    let line: Vec<String> =
        (0..70).map(|n| (0..6).map(|j| (n * (j + 1)).to_string()).collect::<Vec<_>>().join(",")).collect();
    fs::write(dir.join("t.csv"), format!("a,b,c,d,e,f\n{}", line.join("\n"))).unwrap();
    let long = "fit t.csv --likelihood gaussian --latent-dim 1 --features 6 --chains 2 --warmup 600 --draws 5 --seed 1 -q --modes 3 --out x";
    good(&dir, &long.split(' ').collect::<Vec<_>>());
    let modes: Value = serde_json::from_slice(&fs::read(dir.join("x/modes.json")).unwrap()).unwrap();
    let found = modes.as_array().unwrap().len();
    assert!(found < 3, "{found} modes of a line");
    let chains: usize = (0..found).map(|mode| modes[mode]["chains"].as_array().unwrap().len()).sum();
    assert_eq!(chains, 6);
    let summary = text(&good(&dir, &["summary", "x"]).stdout);
    assert!(summary.contains(&format!("3 modes were to be sampled, but the search found only {found}")), "{summary}");
}
