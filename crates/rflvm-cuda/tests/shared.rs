//! One chain over several processes, each with its columns on a card; threads play the processes.

use crate::stand_in;
use rflvm::internal::device::plain::OnHost;
use rflvm::internal::device::{self, Device};
use rflvm::internal::draws::Memory;
use rflvm::internal::error::RunError;
use rflvm::internal::hmc::reference::Reference;
use rflvm::internal::linalg::{Mat, mul};
use rflvm::internal::model::family::{Family, Gaussian, Multinomial, NegativeBinomial};
use rflvm::internal::model::{Model, ModelSpec, State};
use rflvm::internal::observations::Observations;
use rflvm::internal::ranks::{Ranks, Threads};
use rflvm::internal::rng::Stream;
use rflvm::internal::run::{Run, Settings};
use rflvm::internal::simulate;
use std::ops::ControlFlow;
use std::sync::Arc;

const ROWS: usize = 13;
const COLUMNS: usize = 260;

/// Three chunks of columns: real values, categories and counts, of which no process has all.
fn table() -> (Model, State) {
    let y = Mat::from_fn(ROWS, COLUMNS, |n, j| match j {
        120..150 => ((n * 5 + j * 3) % 4) as f64 + 1.0,
        _ if (31 * n + 7 * j).is_multiple_of(29) => f64::NAN,
        _ => ((n * 5 + j * 3) % 4) as f64,
    });
    let blocks: Vec<(Vec<usize>, Arc<dyn Family>)> = vec![
        ((0..120).collect(), Arc::new(Gaussian::default())),
        ((120..150).collect(), Arc::new(Multinomial)),
        ((150..COLUMNS).collect(), Arc::new(NegativeBinomial::default())),
    ];
    let spec = ModelSpec { features: 8, ..ModelSpec::default() };
    let model = Model::with_blocks(Observations::new(y).unwrap(), blocks, spec).unwrap();
    let mut state = simulate::draw_prior(&model, Stream::new(3)).unwrap();
    state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= 0.1);
    state.refresh(&model);
    (model, state)
}

/// Each process has the next card of this machine.
fn card(model: &Model, _chain: usize) -> Result<Box<dyn Device>, RunError> {
    let cards = rflvm_cuda::cards().unwrap().len();
    rflvm_cuda::open(model, model.chunks().ranks().rank() % cards, false)
}

/// Does something as each of some processes, with its part of the model.
fn processes<T: Send>(model: &Model, size: usize, act: impl Fn(&Model) -> T + Sync) -> Vec<T> {
    let act = &act;
    std::thread::scope(|scope| {
        let one = |ranks: Arc<dyn Ranks>| {
            let part = model.part(ranks).unwrap();
            scope.spawn(move || act(&part))
        };
        let threads: Vec<_> = Threads::connected(size).into_iter().map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Sums over the columns of all, and what a reference says of each row.
fn answers(device: &mut dyn Device, model: &Model, state: &State) -> Vec<Vec<f64>> {
    let mut state = model.own_state(state.clone());
    device::load(device, &mut state);
    let (x, w) = (state.features.x().clone(), state.features.w().clone());
    let mut rows = vec![0.0; ROWS];
    device.ln_lik_rows(&mut rows);
    let totals = vec![device::totals::ln_likelihood(device, model), device.ln_lik_frequency(2, &[0.4, -0.2])];
    let Reference { root, column, left, right } = device.refer(None);
    let mut f = Mat::zeros(ROWS, model.columns());
    mul(f.as_mut_slice(), left.view(), right.view(), false);
    let of_row = |n: usize| f.row(n).iter().zip(&column).map(|(f, b)| b * f * f).sum();
    let explained = (0..ROWS).map(|n| model.chunks().total(of_row(n))).collect();
    let (mut gx, mut gw) = (vec![0.0; x.as_slice().len()], vec![0.0; w.as_slice().len()]);
    let value = device.slope(&x, &w, 0.0, &state.beta, &mut state.beta.clone(), (&mut gx, &mut gw));
    vec![rows, totals, explained, root, vec![value], gx, gw]
}

#[test]
fn sums_of_processes_are_those_of_one_device() {
    stand_in::on_a_card("shared::sums_of_processes_are_those_of_one_device", || {
        let (model, state) = table();
        let expected = answers(&mut OnHost::new(&model), &model, &state);
        for size in [2, 3] {
            let found = processes(&model, size, |part| {
                answers(device::shared::open(&card, part, 0).unwrap().as_mut(), part, &state)
            });
            for (found, expected) in found[0].iter().zip(&expected) {
                assert_eq!(found.len(), expected.len());
                let largest = expected.iter().map(|v| v.abs()).fold(0.0, f64::max);
                let error = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest;
                println!("{size} processes: {error:.1e}");
                assert!(error < 1e-10, "{size} processes: {error:e}");
            }
            assert!(found.iter().all(|other| *other == found[0]), "all have the same");
        }
    });
}

#[test]
fn processes_have_the_same_positions_after_some_sweeps() {
    stand_in::on_a_card("shared::processes_have_the_same_positions_after_some_sweeps", || {
        let (model, _) = table();
        let init = rflvm::internal::init::Init::Pca;
        let settings = Settings { warmup: 5, draws: 1, chains: 1, seed: 4, threads: 1, init, ..Settings::default() };
        let found = processes(&model, 2, |part| {
            let mut run = Run::start(part, &settings, Some(&card)).unwrap();
            assert!(run.go_on(&mut [Memory::default()], |_| ControlFlow::Continue(())).unwrap());
            run.chains()[0].state().features.x().clone().into_vec()
        });
        assert!(found[0].iter().all(|x| x.is_finite()));
        assert!(found[0] == found[1]);
    });
}
