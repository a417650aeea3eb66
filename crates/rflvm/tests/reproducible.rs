//! Same seed, same draws, for any number of threads.

mod curve;

use curve::model;
use rflvm::draws::Memory;
use rflvm::model::Model;
use rflvm::model::family::REGISTRY;
use rflvm::run::Settings;
use rflvm::run::run;
use std::ops::ControlFlow;

fn draw(model: &Model, threads: usize) -> Vec<Memory> {
    let settings = Settings { warmup: 5, draws: 2, chains: 2, seed: 3, threads, ..Settings::default() };
    run(model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(())).unwrap()
}

/// All numbers of a run, as bits.
fn bits(chains: &[Memory]) -> Vec<u64> {
    let mut bits = Vec::new();
    for chain in chains {
        bits.extend(chain.numbers().map(|v| v.to_bits()));
    }
    bits
}

#[test]
fn one_two_and_four_threads_give_the_same_bits() {
    for about in REGISTRY.iter().filter(|about| !about.cells.have_trials()) {
        let name = about.name;
        for missing in [false, true] {
            let model = model(name, missing);
            let one = bits(&draw(&model, 1));
            for threads in [2, 4] {
                assert!(bits(&draw(&model, threads)) == one, "{name}, missing {missing}, {threads} threads");
            }
        }
    }
}

#[test]
fn another_seed_gives_other_draws() {
    let model = model("poisson", false);
    let settings = Settings { warmup: 2, draws: 1, seed: 4, ..Settings::default() };
    let other = run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(())).unwrap();
    let settings = Settings { seed: 3, ..settings };
    let one = run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(())).unwrap();
    assert!(bits(&one) != bits(&other));
    // Two chains of one run differ too.
    assert!(one[0].array("posterior/x") != one[1].array("posterior/x"));
}
