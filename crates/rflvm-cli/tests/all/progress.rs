//! What a run reports while it runs.

use crate::common::{folder, good, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

const TABLE: &str = "a,b,c\n3,0,2\n1,4,0\n0,2,5\n2,2,1\n7,0,1\n0,3,3\n1,1,1\n5,2,0\n";
const RUN: [&str; 10] = ["--features", "6", "--chains", "2", "--warmup", "6", "--draws", "4", "--seed", "7"];

/// ln p(Y | F, θ) of the last draw of each chain, as stored.
fn stored(dir: &Path, fit: &str) -> Vec<f64> {
    good(dir, &["export", fit, "--what", "log_likelihood", "--out", "l.csv"]);
    let text = fs::read_to_string(dir.join("l.csv")).unwrap();
    let lines = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    lines.filter(|cells| cells[1] == "4").map(|cells| cells[2].parse().unwrap()).collect()
}

/// The terms that depend on F differ from it by those of the counts alone, and by those of the dispersions of a negative binomial.
#[test]
fn the_reported_log_likelihood_is_the_stored_one() {
    let dir = folder("likelihood");
    fs::write(dir.join("t.csv"), TABLE).unwrap();
    for family in ["poisson", "negative-binomial", "gaussian"] {
        let fit = ["fit", "t.csv", "--likelihood", family, "--out", family];
        let output = good(&dir, &[&fit[..], &RUN[..], &["--json"]].concat());
        let events = text(&output.stdout);
        let last = |chain: u64| {
            let all = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let mut own = all.filter(|e| e["event"] == "progress" && e["chain"] == chain && e["sweep"] == 10);
            own.next().unwrap()["log_likelihood"].as_f64().unwrap()
        };
        let stored = stored(&dir, family);
        assert_eq!(stored.len(), 2);
        // Numbers read from JSON may be off by their last bit.
        let is_same =
            |chain: usize| (last(1 + chain as u64) - stored[chain]).abs() <= f64::EPSILON * stored[chain].abs();
        assert!(is_same(0) && is_same(1), "{family}: {stored:?}");
        // The same number is in the lines for people; the first sweep is in the warm-up and has one too.
        let output = good(&dir, &[&fit[..], &RUN[..], &["--overwrite"]].concat());
        let said = text(&output.stderr);
        assert!(said.contains(&format!("sampling log-likelihood {:.1} ", stored[0])), "{said}");
        assert!(said.contains("warm-up log-likelihood -"), "{said}");
    }
}

/// Huge counts, few rows and many features make matrices nearly singular.
#[test]
fn singular_matrices_are_reported_only_if_verbose() {
    let dir = folder("singular");
    let row = |n: u64| format!("{},{}\n", 10_u64.pow(14) * (1 + n % 3), 10_u64.pow(14) * (n % 2 + 1));
    fs::write(dir.join("t.csv"), format!("a,b\n{}", (0..8).map(row).collect::<String>())).unwrap();
    let fit = ["fit", "t.csv", "--likelihood", "poisson", "--amplitude", "1e6", "--features", "40", "--overwrite"];
    let run = ["--chains", "2", "--warmup", "10", "--draws", "5", "--seed", "1", "--out", "o"];
    let said = |more: &[&str]| text(&good(&dir, &[&fit[..], &run[..], more].concat()).stderr);
    assert!(said(&["-v"]).contains("nearly singular"));
    assert!(!said(&[]).contains("singular"));
}
