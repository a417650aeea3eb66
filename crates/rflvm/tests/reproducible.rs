//! Same seed, same draws, for any number of threads.

use crate::curve::model;
use rflvm::Init;
use rflvm::internal::draws::Memory;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::REGISTRY;
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::run::Settings;
use rflvm::internal::run::run;
use rflvm::internal::spec;
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

/// Large enough that every loop over rows, columns or cells has several tasks.
#[test]
fn tables_that_are_split_give_the_same_bits() {
    let (rows, columns) = (1_500, 130);
    let y = Mat::from_fn(rows, columns, |n, j| ((n * (j + 3) % 13) / 6) as f64);
    for family in [spec::family("poisson", None), spec::family("negative-binomial", None)] {
        let blocks = vec![((0..columns).collect(), family.unwrap())];
        let spec = ModelSpec { features: 20, ..ModelSpec::default() };
        let model = Model::with_blocks(Observations::new(y.clone()).unwrap(), blocks, spec).unwrap();
        let draw = |threads: usize| {
            let settings =
                Settings { warmup: 4, draws: 1, chains: 1, seed: 3, threads, init: Init::Pca, ..Settings::default() };
            run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(())).unwrap()
        };
        let one = bits(&draw(1));
        assert!(bits(&draw(3)) == one, "{}", model.blocks()[0].family.name());
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
