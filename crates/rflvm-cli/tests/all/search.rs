//! The search for modes, as a user meets it.

use crate::common::{folder, good, refused, start, text};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

/// Long enough for a search of 20 sweeps per start.
const FIT: &str = "fit s/table.csv --likelihood gaussian --features 10 --chains 2 --warmup 500 --seed 1 -q --out";

fn fit(dir: &Path, out: &str, more: &[&str]) {
    fit_draws(dir, out, "20", more);
}

fn fit_draws(dir: &Path, out: &str, draws: &str, more: &[&str]) {
    let search: &[&str] = if more.contains(&"--init") { &[] } else { &["--init", "search"] };
    let words = FIT.split(' ').chain([out, "--draws", draws]).chain(search.iter().chain(more).copied());
    good(dir, &words.collect::<Vec<_>>());
}

fn draws(dir: &Path, fit: &str) -> Vec<u8> {
    good(dir, &["export", fit, "--what", "x", "--out", "x.npy"]);
    fs::read(dir.join("x.npy")).unwrap()
}

#[test]
fn maps_are_found_before_the_chains_start_and_reported() {
    let dir = folder("modes");
    good(
        &dir,
        &["simulate", "--likelihood", "gaussian", "--rows", "70", "--columns", "8", "--seed", "1", "--out", "s"],
    );
    fit(&dir, "f", &["--threads", "1"]);
    let modes: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("f/modes.json")).unwrap()).unwrap();
    let first = &modes[0];
    assert_eq!(first["positions"].as_array().unwrap().len(), 70);
    assert!(first["continuity"].as_f64().unwrap() > 0.5 && first["error"].as_f64().unwrap() > 0.0, "{first}");
    let summary = text(&good(&dir, &["summary", "f"]).stdout);
    assert!(summary.contains("mode 1: log evidence") && summary.contains(", sampled"), "{summary}");
    let json: serde_json::Value = serde_json::from_slice(&good(&dir, &["summary", "f", "--json"]).stdout).unwrap();
    assert_eq!(json["modes"]["found"].as_array().unwrap().len(), modes.as_array().unwrap().len());
    assert!(json["modes"]["words"].as_str().unwrap().contains("mode"));
    assert_eq!(dir.join("f/modes.svg").exists(), modes.as_array().unwrap().len() > 1);
    // The same draws with any number of threads, and when the draws are extended.
    let one = draws(&dir, "f");
    fit(&dir, "g", &["--threads", "3"]);
    assert_eq!(draws(&dir, "g"), one);
    fit_draws(&dir, "h", "10", &[]);
    good(&dir, &["resume", "h", "--draws", "20", "-q"]);
    assert_eq!(draws(&dir, "h"), one);
    // Without a search there are no modes, and the draws are those of principal components.
    fit(&dir, "p", &["--init", "pca"]);
    fit(&dir, "n", &["--init-effort", "0"]);
    assert_eq!(draws(&dir, "p"), draws(&dir, "n"));
    assert_ne!(draws(&dir, "p"), one);
    assert!(!dir.join("n/modes.json").exists() && !text(&good(&dir, &["summary", "n"]).stdout).contains("mode 1"));
    // A new fit takes the modes of an older one away.
    fit(&dir, "f", &["--init", "pca", "--overwrite"]);
    assert!(!dir.join("f/modes.json").exists() && !dir.join("f/modes.svg").exists());
    let words: Vec<&str> = FIT.split(' ').chain(["x", "--init-effort", "11"]).collect();
    refused(&dir, &words, 2, &["init-effort is 11", "between 0 and 10"]);
}

#[test]
fn a_search_that_is_interrupted_starts_over_with_the_same_draws() {
    let dir = folder("modes-interrupted");
    good(
        &dir,
        &["simulate", "--likelihood", "gaussian", "--rows", "70", "--columns", "8", "--seed", "1", "--out", "s"],
    );
    fit_draws(&dir, "whole", "10", &[]);
    let words = FIT.replace(" -q", "");
    let words: Vec<&str> = words.split(' ').chain(["cut", "--draws", "10", "--init", "search"]).collect();
    let mut child = start(&dir, &words);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line.contains("looking for modes")));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(said.any(|line| line.contains("rflvm resume cut")));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!dir.join("cut/checkpoint.bin").exists());
    good(&dir, &["resume", "cut", "-q"]);
    assert_eq!(draws(&dir, "cut"), draws(&dir, "whole"));
}
