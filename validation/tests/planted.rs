//! Every planted error makes the test fail, at the threshold at which the sampler itself passes.

use rflvm_validation::geweke::{self, Effort};
use rflvm_validation::verdict::{FAST, SEED, head, line, passes};
use rflvm_validation::{configurations, planted};
use std::time::Instant;

/// Errors that need longer runs than this many ordinary ones are seen by `make validate`.
const MOST: usize = 2;

#[test]
fn every_planted_error_is_seen() {
    println!("{}", head());
    let mut unseen = Vec::new();
    for error in planted::ALL.iter().filter(|error| error.patience <= MOST) {
        let configuration = configurations::named(error.configuration).unwrap();
        let effort = Effort { sweeps: error.patience * FAST.sweeps, ..FAST };
        let start = Instant::now();
        let report = geweke::test(&configuration, effort, SEED, Some(error.step)).unwrap();
        let line = line(error.name, &report, start.elapsed().as_secs_f64());
        println!("{line}");
        if passes(&report) {
            unseen.push(line);
        }
    }
    assert!(unseen.is_empty(), "{}\n{}", head(), unseen.join("\n"));
}

#[test]
fn the_sampler_passes_where_errors_need_patience() {
    // The same length of run without the error: a longer run alone must not fail a test.
    for error in planted::ALL.iter().filter(|error| (2..=MOST).contains(&error.patience)) {
        let configuration = configurations::named(error.configuration).unwrap();
        let effort = Effort { sweeps: error.patience * FAST.sweeps, ..FAST };
        let report = geweke::test(&configuration, effort, SEED, None).unwrap();
        assert!(passes(&report), "{}", line(error.configuration, &report, 0.0));
    }
}
