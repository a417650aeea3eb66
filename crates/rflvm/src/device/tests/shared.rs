//! Devices of several processes against one that has the whole table; threads play the processes.

use super::open;
use crate::device::plain::OnHost;
use crate::device::{Device, check, load, shared, totals};
use crate::draws::Memory;
use crate::error::RunError;
use crate::hmc::flow::Frame;
use crate::hmc::reference::Reference;
use crate::linalg::Mat;
use crate::model::family::{Gaussian, Multinomial, NegativeBinomial, Poisson, StudentT};
use crate::model::latent::TimeKernel;
use crate::model::{Amplitude, HalfT, Model, ModelSpec, State};
use crate::observations::{Observations, Times};
use crate::ranks::{Ranks, Threads};
use crate::rng::Stream;
use crate::run::chain::Snapshot;
use crate::run::{Run, Settings};
use crate::simulate;
use crate::steps::{Moves, SweepInfo, amplitudes, column_process, frequencies, linear, positions};
use crate::table::{Remote, Table};
use std::ops::ControlFlow;
use std::sync::Arc;

const ROWS: usize = 9;
/// Three chunks of columns.
const COLUMNS: usize = 260;

/// Columns of several families, of which no process has all; cells missing.
fn mixed() -> (Model, State) {
    let family = |j: usize| -> Arc<dyn crate::Family> {
        match j {
            0..100 => Arc::new(NegativeBinomial::default()),
            100..150 => Arc::new(Gaussian::default()),
            150..160 => Arc::new(Multinomial),
            160..200 => Arc::new(StudentT::default()),
            200..206 => Arc::new(Multinomial),
            _ => Arc::new(Poisson),
        }
    };
    let ends = [0, 100, 150, 160, 200, 206, COLUMNS];
    let blocks = ends.windows(2).map(|w| ((w[0]..w[1]).collect(), family(w[0]))).collect();
    let is_set = |j: usize| (150..160).contains(&j) || (200..206).contains(&j);
    let y = |n: usize, j: usize| match (n, j) {
        (3, _) if is_set(j) => f64::NAN,
        _ if !is_set(j) && (31 * n + 7 * j).is_multiple_of(29) => f64::NAN,
        _ => ((n * 5 + j * 3) % 4) as f64 + f64::from(u8::from(is_set(j))),
    };
    built(Mat::from_fn(ROWS, COLUMNS, y), blocks, false)
}

/// Counts with times and column processes.
fn in_time() -> (Model, State) {
    let y =
        Mat::from_fn(
            ROWS,
            COLUMNS,
            |n, j| if (n + j).is_multiple_of(11) { f64::NAN } else { ((n * 5 + j * 3) % 4) as f64 },
        );
    built(y, vec![((0..COLUMNS).collect(), Arc::new(Poisson))], true)
}

fn built(y: Mat, blocks: Vec<(Vec<usize>, Arc<dyn crate::Family>)>, in_time: bool) -> (Model, State) {
    let mut spec = ModelSpec { features: 6, linear: true, ..ModelSpec::default() };
    spec.priors.amplitude = Some(Amplitude::Shared(HalfT::default()));
    let mut data = Observations::new(y).unwrap();
    if in_time {
        let times = Times { at: (0..ROWS).map(|n| n as f64).collect(), sequence: vec![0; ROWS] };
        data = data.with_times(times).unwrap();
        spec.column_process = Some(TimeKernel::Matern32);
        spec.priors.amplitude = Some(Amplitude::Learned(HalfT::default()));
    }
    let model = Model::with_blocks(data, blocks, spec).unwrap();
    let mut state = simulate::draw_prior(&model, Stream::new(3)).unwrap();
    state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= 0.1);
    state.refresh(&model);
    (model, state)
}

/// What `ask` says with a device that has the whole table, and what each of some processes says.
fn asked<T: Send>(
    (model, state): &(Model, State),
    size: usize,
    ask: impl Fn(&mut Remote, &Model, State) -> T + Sync,
) -> (T, Vec<T>) {
    let answer = |model: &Model| {
        let mut device = Remote(shared::open(&open, model, 0).unwrap());
        let mut own = model.own_state(state.clone());
        device.load(model, &mut own);
        ask(&mut device, model, own)
    };
    let answer = &answer;
    let one = |ranks: Arc<dyn Ranks>| {
        let part = model.part(ranks).unwrap();
        move || answer(&part)
    };
    let others = std::thread::scope(|scope| {
        let threads: Vec<_> = Threads::connected(size).into_iter().map(|ranks| scope.spawn(one(ranks))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    (answer(model), others)
}

#[track_caller]
fn assert_close(what: &str, found: &[f64], expected: &[f64]) {
    let size = expected.iter().map(|v| v.abs()).fold(1e-300, f64::max);
    assert_eq!(found.len(), expected.len(), "{what}");
    let error = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size;
    assert!(error < 1e-9, "{what}: {error:e}");
}

/// The answers of all processes are those of one.
#[track_caller]
fn compare(what: &str, table: &(Model, State), ask: impl Fn(&mut Remote, &Model, &State) -> Vec<f64> + Sync) {
    for size in [2, 3] {
        let (alone, others) = asked(table, size, |device, model, state| ask(device, model, &state));
        for other in others {
            assert_close(&format!("{what}, {size} processes"), &other, &alone);
        }
    }
}

#[test]
fn sums_over_rows_are_those_of_one_device() {
    for table in [mixed(), in_time()] {
        let x: Vec<f64> = (0..2 * ROWS).map(|i| (i as f64).sin()).collect();
        let rows: Vec<u32> = (0..ROWS as u32).collect();
        compare("log-likelihood", &table, |device, model, _| {
            vec![device.0.ln_lik(), totals::ln_likelihood(device.0.as_mut(), model)]
        });
        compare("rows", &table, |device, _, _| {
            let mut out = vec![0.0; ROWS];
            device.0.ln_lik_rows(&mut out);
            out
        });
        compare("rows elsewhere", &table, |device, _, _| {
            let mut out = vec![0.0; ROWS];
            device.0.ln_lik_rows_at(&rows, &x, &mut out);
            out
        });
        compare("a frequency", &table, |device, _, _| {
            let before = device.0.ln_lik_frequency(1, &[0.3, -0.7]);
            device.0.set_frequency(1, &[0.3, -0.7]);
            vec![before, device.0.ln_lik()]
        });
        compare("evidence", &table, |device, model, state| vec![device.ln_data(model, state).unwrap()]);
        compare("slopes", &table, |device, _, state| {
            let (x, w) = (state.features.x(), state.features.w());
            let (mut gx, mut gw) = (vec![1.0; x.as_slice().len()], vec![2.0; w.as_slice().len()]);
            let s = state.features.plain().s();
            let value = device.0.slope(x, w, s, &state.beta, &mut state.beta.clone(), (&mut gx, &mut gw));
            [&[value][..], &gx, &gw].concat()
        });
        compare("reference", &table, |device, model, _| {
            let Reference { root, column, left, right } = device.0.refer(None);
            let mut f = Mat::zeros(ROWS, model.columns());
            crate::linalg::mul(f.as_mut_slice(), left.view(), right.view(), false);
            // With all directions there are, it is the table itself, whichever basis it is in.
            let of_rows = |n: usize| model.chunks().total(f.row(n).iter().zip(&column).map(|(f, b)| b * f * f).sum());
            root.iter().copied().chain((0..ROWS).map(of_rows)).collect()
        });
    }
}

#[test]
fn steps_are_those_of_one_device() {
    for table in [mixed(), in_time()] {
        for size in [2, 3] {
            let (alone, others) = asked(&table, size, |device, model, mut state| {
                let (mut info, stream, moves) = (SweepInfo::default(), Stream::new(9), Moves::default());
                device.redraw(stream.named("totals"));
                frequencies::update(device, model, &mut state, moves, stream.named("w"), &mut info).unwrap();
                if model.dynamics().is_none() {
                    positions::update(device, model, &mut state, stream.named("x"), &mut info).unwrap();
                }
                let reference = device.0.refer(None);
                device.set_reference(&reference);
                device.draw_weights(model, &mut state, 1.0, stream.named("beta")).unwrap();
                column_process::update(device, model, &mut state, 1.0, stream.named("residual")).unwrap();
                amplitudes::update(device, model, &mut state, stream.named("tau2")).unwrap();
                linear::update(device, model, &mut state, stream.named("linear")).unwrap();
                device.maximise_parameters(model, &mut state).unwrap();
                model.collect_state(&state, false)
            });
            let (alone, together) = (alone.unwrap(), others.into_iter().next().flatten().unwrap());
            let tables = |state: &State| {
                let theta = state.theta.iter().flat_map(|theta| theta.values.as_slice().iter().chain(&theta.hyper));
                let (x, w) = (state.features.x().clone(), state.features.w().clone());
                [
                    x.into_vec(),
                    w.into_vec(),
                    state.beta.as_slice().to_vec(),
                    state.tau2.clone(),
                    theta.copied().collect(),
                ]
            };
            let named = ["X", "W", "weights", "amplitudes", "parameters"].iter().zip(tables(&together));
            for ((name, found), expected) in named.zip(tables(&alone)) {
                assert_close(&format!("{name}, {size} processes"), &found, &expected);
            }
            assert_close("paths", together.column_process.g.as_slice(), alone.column_process.g.as_slice());
        }
    }
}

#[test]
fn each_process_has_its_own_noise() {
    let chunks = mixed().0.chunks().clone();
    let of_process = |ranks| shared::of_process(Stream::new(1), &chunks.clone().dealt(ranks).unwrap());
    let first = |ranks| crate::dist::normal(&mut of_process(ranks).rng());
    let noise: Vec<f64> = Threads::connected(3).into_iter().map(first).collect();
    assert!(noise[0] != noise[1] && noise[1] != noise[2] && noise[0] != noise[2], "{noise:?}");
}

#[test]
fn a_trajectory_has_the_gradient_of_its_density() {
    let table = mixed();
    let (_, others) = asked(&table, 2, |device, model, state| {
        let device = device.0.as_mut();
        totals::settle(device);
        let reference = device.refer(None);
        device.set_reference(&reference);
        device.begin(&Frame::new(model, &state.theta, &state.tau2, &reference));
        let (mut x, w) = (state.features.x().clone(), state.features.w().clone());
        device.gather(&x, &w, &state.beta, [Stream::new(1), Stream::new(2)]);
        let (mut gx, mut gw) = (vec![0.0; x.as_slice().len()], vec![0.0; w.as_slice().len()]);
        device.evaluate(&x, &w, (&mut gx, &mut gw));
        let mut beta = state.beta.clone();
        device.beta(&mut beta);
        assert_close("the weights at its beginning", beta.as_slice(), state.beta.as_slice());
        let step = 1e-5;
        let mut density = |moved: f64| {
            x.as_mut_slice()[3] += moved;
            let value = device.evaluate(&x, &w, (&mut gx.clone(), &mut gw.clone()));
            x.as_mut_slice()[3] -= moved;
            value
        };
        let slope = (density(step) - density(-step)) / (2.0 * step);
        assert!((slope - gx[3]).abs() < 1e-5 * gx[3].abs().max(1.0), "{slope} {}", gx[3]);
        let energy = device.energy();
        (gx, energy)
    });
    // All processes have the same, of all noise: about half its count.
    assert!(others.iter().all(|other| *other == others[0]));
    assert!(others[0].1 > 0.3 * (ROWS * COLUMNS) as f64);
}

/// Draws of X of each process; with a stop after some sweeps, from which the run is resumed.
fn drawn((model, _): &(Model, State), stop: Option<u64>) -> Vec<Vec<f64>> {
    let settings = Settings { warmup: 50, draws: 4, chains: 1, seed: 4, threads: 1, ..Settings::default() };
    let settings = Settings { init: crate::init::Init::Pca, ..settings };
    let run = |ranks: Arc<dyn Ranks>| {
        let part = model.part(ranks).unwrap();
        let mut run = Run::start(&part, &settings, Some(&open)).unwrap();
        let mut sinks = vec![Memory::default()];
        let end = |progress: crate::run::Progress<'_>| match stop {
            Some(sweep) if progress.sweep == sweep => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        if !run.go_on(&mut sinks, end).unwrap() {
            let snapshots: Vec<Snapshot> = run.chains().iter().map(|chain| chain.snapshot().clone()).collect();
            let mut again = Run::resume(&part, &settings, snapshots, Some(&open)).unwrap();
            again.go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap();
            run = again;
        }
        let step = run.chains()[0].tuning().trajectory.step;
        assert!(step > 1e-3, "the step size is {step}");
        let last = run.chains()[0].state().features.x().clone().into_vec();
        let drawn = sinks[0].array("posterior/x").map(<[f64]>::to_vec).unwrap_or_default();
        [last, drawn].concat()
    };
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = Threads::connected(2).into_iter().map(|ranks| scope.spawn(move || run(ranks))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn a_run_over_two_processes_is_resumed_with_the_same_draws() {
    let table = mixed();
    let whole = drawn(&table, None);
    let count = 2 * ROWS;
    assert!(whole[0].len() == 5 * count && whole[0].iter().all(|x| x.is_finite()));
    assert_eq!(whole[0][..count], whole[1][..count], "both have the same X");
    for sweep in [30, 52] {
        assert!(drawn(&table, Some(sweep)) == whole, "stopped after {sweep} sweeps");
    }
}

#[test]
fn a_fault_of_one_process_ends_all_with_the_same_words() {
    let (model, state) = mixed();
    let ends = std::thread::scope(|scope| {
        let (model, state) = (&model, &state);
        let one = |ranks: Arc<dyn Ranks>| {
            scope.spawn(move || {
                let part = model.part(ranks).unwrap();
                let faulty = |model: &Model, _: usize| -> Result<Box<dyn Device>, RunError> {
                    let mut device = OnHost::new(model);
                    if model.chunks().ranks().rank() == 1 {
                        device.fail("it fell off the bus");
                    }
                    Ok(Box::new(device))
                };
                let mut device = shared::open(&faulty, &part, 0).unwrap();
                load(device.as_mut(), &mut part.own_state(state.clone()));
                device.ln_lik();
                check(device.as_mut()).unwrap_err().to_string()
            })
        };
        let threads: Vec<_> = Threads::connected(2).into_iter().map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(ends[0], ends[1]);
    assert!(ends[0].contains("process 2 of 2: it fell off the bus"), "{}", ends[0]);
}
