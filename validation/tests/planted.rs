//! Every planted error makes the test fail, at the threshold at which the sampler itself passes.

use rflvm_validation::geweke::{self, Effort};
use rflvm_validation::verdict::{FAST, SEED, head, line, passes};
use rflvm_validation::{configurations, planted};
use std::time::Instant;

/// Errors that need longer runs than this many ordinary ones are seen by `make validate`.
const MOST: usize = 2;
/// The part of a run that comes first.
const SHORT: usize = 4;

#[test]
fn every_planted_error_is_seen() {
    println!("{}", head());
    let mut unseen = Vec::new();
    for error in planted::ALL.iter().filter(|error| error.patience <= MOST) {
        let configuration = configurations::named(error.configuration).unwrap();
        let start = Instant::now();
        let try_in = |sweeps: usize| {
            let report = geweke::test(&configuration, Effort { sweeps, ..FAST }, SEED, Some(error.step)).unwrap();
            let line = line(error.name, &report, start.elapsed().as_secs_f64());
            println!("{line}");
            (line, !passes(&report))
        };
        // Large errors are seen in a short run, at the same threshold.
        let whole = error.patience * FAST.sweeps;
        let (line, is_seen) =
            Some(try_in(whole / SHORT)).filter(|(_, is_seen)| *is_seen).unwrap_or_else(|| try_in(whole));
        if !is_seen {
            unseen.push(line);
        }
    }
    assert!(unseen.is_empty(), "{}\n{}", head(), unseen.join("\n"));
}

#[test]
fn the_sampler_passes_where_errors_need_patience() {
    // The same lengths of run without the error: neither a longer nor a shorter run alone may fail a test.
    for error in planted::ALL.iter().filter(|error| (2..=MOST).contains(&error.patience)) {
        let configuration = configurations::named(error.configuration).unwrap();
        for sweeps in [FAST.sweeps / SHORT, error.patience * FAST.sweeps] {
            let report = geweke::test(&configuration, Effort { sweeps, ..FAST }, SEED, None).unwrap();
            assert!(passes(&report), "{}", line(error.configuration, &report, 0.0));
        }
    }
}
