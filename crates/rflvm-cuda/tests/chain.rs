//! Whole chains on a card: the same draws for the same seed and after a resume, and a card that is lost. Point estimates on a card.

use crate::stand_in;
use rflvm::internal::device::Device;
use rflvm::internal::device::plain::OnHost;
use rflvm::internal::draws::Memory;
use rflvm::internal::error::RunError;
use rflvm::internal::init::map::{Map, objective};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Family, Multinomial, NegativeBinomial};
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::{Observations, Offset};
use rflvm::internal::posterior::Posterior;
use rflvm::internal::posterior::transform::{NewRows, Opener};
use rflvm::internal::rng::Stream;
use rflvm::internal::run::chain::Snapshot;
use rflvm::internal::run::{Progress, Run, Settings};
use rflvm::internal::steps::Moves;
use std::ops::ControlFlow;
use std::sync::Arc;

fn counts() -> Model {
    let y = Mat::from_fn(41, 7, |n, j| if (n + j) % 7 == 0 { f64::NAN } else { ((n * 5 + j * 3) % 4) as f64 });
    let data = Observations::new(y).unwrap().with_offset(Offset::SizeFactors).unwrap();
    Model::new(data, NegativeBinomial::default(), ModelSpec { features: 12, ..ModelSpec::default() }).unwrap()
}

fn settings() -> Settings {
    Settings { warmup: 12, draws: 4, chains: 1, seed: 4, ..Settings::default() }
}

fn open(model: &Model, _chain: usize) -> Result<Box<dyn Device>, RunError> {
    rflvm_cuda::open(model, 0, false)
}

/// Rows of categories next to counts.
fn beside() -> Model {
    let y = Mat::from_fn(41, 5, |n, j| ((n * 5 + j * 3) % 4) as f64 + 1.0);
    let blocks: Vec<(Vec<usize>, Arc<dyn Family>)> =
        vec![(vec![0, 1, 2], Arc::new(Multinomial)), (vec![3, 4], Arc::new(NegativeBinomial::default()))];
    let spec = ModelSpec { features: 12, ..ModelSpec::default() };
    Model::with_blocks(Observations::new(y).unwrap(), blocks, spec).unwrap()
}

/// Draws of X, with a stop after some sweeps, from which the run is resumed.
fn drawn(model: &Model, stop: Option<u64>) -> Vec<f64> {
    let settings = settings();
    let mut run = Run::start(model, &settings, Some(&open)).unwrap();
    let mut sinks = vec![Memory::default()];
    let end = |progress: Progress<'_>| match stop {
        Some(sweep) if progress.sweep == sweep => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    if !run.go_on(&mut sinks, end).unwrap() {
        let snapshots: Vec<Snapshot> = run.chains().iter().map(|chain| chain.snapshot().clone()).collect();
        let mut again = Run::resume(model, &settings, snapshots, Some(&open)).unwrap();
        again.go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap();
    }
    sinks[0].array("posterior/x").map(<[f64]>::to_vec).unwrap_or_default()
}

#[test]
fn a_chain_is_resumed_with_the_same_draws() {
    stand_in::on_a_card("chain::a_chain_is_resumed_with_the_same_draws", || {
        for model in [counts(), beside()] {
            let whole = drawn(&model, None);
            assert_eq!(whole.len(), 4 * 41 * 2);
            assert!(whole.iter().all(|x| x.is_finite()));
            assert!(drawn(&model, None) == whole, "again");
            assert!(drawn(&model, Some(7)) == whole, "resumed during warm-up");
            assert!(drawn(&model, Some(14)) == whole, "resumed while sampling");
        }
    });
}

#[test]
fn an_estimate_on_a_card_is_that_of_the_plain_device() {
    stand_in::on_a_card("chain::an_estimate_on_a_card_is_that_of_the_plain_device", || {
        let map = Map { starts: 1, rounds: 1, ..Map::default() };
        for model in [counts(), beside()] {
            let on = |device: Box<dyn Device>| map.fit_on(device, &model, Stream::new(3)).unwrap();
            let (card, host) = (on(open(&model, 0).unwrap()), on(Box::new(OnHost::new(&model))));
            // The ways up differ in the last digits, and then in more.
            let apart = card.trace.iter().zip(&host.trace).map(|(card, host)| (card - host).abs());
            assert!(apart.fold(0.0, f64::max) < 0.1, "{:?} {:?}", card.trace, host.trace);
            // What the card says of its state, except that the CPU takes a difference quotient of 0.001 for the information.
            let q = objective(&model, &card.state).unwrap();
            let rough = 0.5 * 0.0005 * (model.columns() * model.width()) as f64;
            assert!((card.trace[1] - q).abs() < rough, "{:?} {q}", card.trace);
            assert!(card.trace[1] > card.trace[0] + 1.0, "{:?}", card.trace);
        }
    });
}

#[test]
fn new_rows_are_placed_as_by_the_plain_device() {
    stand_in::on_a_card("chain::new_rows_are_placed_as_by_the_plain_device", || {
        for model in [counts(), beside()] {
            let (settings, mut sinks) = (settings(), vec![Memory::default()]);
            let mut run = Run::start(&model, &settings, None).unwrap();
            assert!(run.go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap());
            let posterior = Posterior::new(model.clone(), sinks, 4).unwrap();
            let on = |open: Opener, rows: usize| {
                let y = Mat::from_fn(rows, model.columns(), |n, j| model.y()[(n, j)]);
                let families = model.blocks().iter().map(|block| block.family.clone()).collect();
                let known = (model.offset()[..rows].to_vec(), Mat::zeros(rows, 0));
                let new = NewRows {
                    model: model.with_rows(&y, known, families).unwrap(),
                    times: None,
                    own: Vec::new(),
                    open: Some(open),
                };
                posterior.fitted("transform").transform(&new, 4, |_, _| ()).unwrap()
            };
            // One row has fewer cells than its slopes need.
            for rows in [41, 1] {
                let card = on(Opener(Arc::new(open)), rows);
                let host = on(Opener(Arc::new(|model: &Model, _| Ok(Box::new(OnHost::new(model)) as _))), rows);
                let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6 * (1.0 + a.abs()));
                assert!(close(card.embedding.mean.as_slice(), host.embedding.mean.as_slice()), "positions");
                assert!(close(&card.ln_density, &host.ln_density), "{:?} {:?}", card.ln_density, host.ln_density);
            }
        }
    });
}

#[test]
fn a_lost_card_is_named_and_the_chain_continues_on_this_processor() {
    let test = "chain::a_lost_card_is_named_and_the_chain_continues_on_this_processor";
    stand_in::on_a_card_that(test, Some(5_000), || {
        let (model, settings) = (counts(), settings());
        let mut run = Run::start(&model, &settings, Some(&open)).unwrap();
        let mut sinks = vec![Memory::default()];
        let error = run.go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap_err().to_string();
        assert!(error.contains("a stand-in (cuda:0)") && error.contains("unspecified launch failure"), "{error}");
        let snapshots: Vec<Snapshot> = run.chains().iter().map(|chain| chain.snapshot().clone()).collect();
        assert!(snapshots.iter().any(|snapshot| snapshot.done() > 0), "something was done before");
        let mut again = Run::resume(&model, &settings, snapshots, None).unwrap();
        assert!(again.go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap());
        let x = sinks[0].array("posterior/x").unwrap();
        assert!(x.iter().all(|x| x.is_finite()));
    });
}

#[test]
fn chains_on_several_cards_draw_as_they_do_on_one() {
    stand_in::on_a_card("chain::chains_on_several_cards_draw_as_they_do_on_one", || {
        let cards = rflvm_cuda::cards().unwrap().len();
        let settings = Settings { chains: 2, warmup: 3, draws: 2, ..settings() };
        let drawn = |open: &rflvm::internal::device::Open<'_>| {
            let model = counts();
            let mut run = Run::start(&model, &settings, Some(open)).unwrap();
            let mut sinks = vec![Memory::default(), Memory::default()];
            assert!(run.go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap());
            sinks.iter().map(|sink| sink.array("posterior/x").unwrap().to_vec()).collect::<Vec<_>>()
        };
        let spread = drawn(&|model, chain| rflvm_cuda::open(model, chain % cards, false));
        assert!(spread[0] != spread[1]);
        assert!(spread == drawn(&open));
    });
}

#[test]
fn many_columns_and_few_features_run() {
    stand_in::on_a_card("chain::many_columns_and_few_features_run", || {
        // More columns than a warp has threads, and fewer features than a reference has axes.
        let y = Mat::from_fn(31, 75, |n, j| ((n * 5 + j * 3) % 6) as f64);
        let spec = ModelSpec { features: 6, ..ModelSpec::default() };
        let model = Model::new(Observations::new(y).unwrap(), NegativeBinomial::default(), spec).unwrap();
        let moves = Moves { share: 1.0, ..Moves::default() };
        let settings = Settings { warmup: 4, draws: 2, moves, ..settings() };
        let mut run = Run::start(&model, &settings, Some(&open)).unwrap();
        let mut sinks = vec![Memory::default()];
        assert!(run.go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap());
        assert!(sinks[0].array("posterior/x").unwrap().iter().all(|x| x.is_finite()));
    });
}

#[test]
fn chains_that_do_not_fit_together_are_refused_with_the_numbers() {
    stand_in::on_a_card("chain::chains_that_do_not_fit_together_are_refused_with_the_numbers", || {
        let model = counts();
        assert!(rflvm_cuda::check(&model, 0, 2).is_ok());
        let most = rflvm_cuda::cards().unwrap()[0].free / rflvm_cuda::needed(&model);
        let error = rflvm_cuda::check(&model, 0, most + 1).unwrap_err().to_string();
        assert!(error.contains(&format!("each of {} chains", most + 1)) && error.contains("fewer chains"), "{error}");
        let error = rflvm_cuda::check(&model, 99, 1).unwrap_err().to_string();
        assert!(error.contains("cuda:99") && error.contains("numbered from 0"), "{error}");
    });
}
