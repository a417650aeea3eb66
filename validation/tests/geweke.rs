//! The sampler passes the joint-distribution test in every configuration, at routine power.

use rflvm_validation::verdict::{FAST, SEED, head, line, passes, threshold};
use rflvm_validation::{configurations, geweke, routine};
use std::time::Instant;

#[test]
fn the_sampler_passes_in_every_configuration() {
    // With times, a subset of them: `make validate` runs all.
    println!("fails at |z| > {:.2}\n{}", threshold(), head());
    let mut failed = Vec::new();
    for configuration in routine::routine() {
        let start = Instant::now();
        let outcome = match geweke::test(&configuration, FAST, SEED, None) {
            Ok(report) => {
                let line = line(&configuration.name, &report, start.elapsed().as_secs_f64());
                (line, passes(&report))
            }
            Err(error) => (format!("{}: {error}", configuration.name), false),
        };
        println!("{}", outcome.0);
        if !outcome.1 {
            failed.push(outcome.0);
        }
    }
    assert!(failed.is_empty(), "{}\n{}", head(), failed.join("\n"));
}

#[test]
fn results_do_not_depend_on_threads() {
    let configuration = configurations::named("mixed-missing").unwrap();
    let effort = geweke::Effort { chains: 8, sweeps: 80 };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let report = pool.install(|| geweke::test(&configuration, effort, SEED, None)).unwrap();
        report.comparisons.iter().map(|c| c.z).collect::<Vec<f64>>()
    };
    assert_eq!(on(1), on(3));
}
