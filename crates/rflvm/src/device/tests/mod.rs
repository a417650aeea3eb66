//! Steps on the plain device against those of this processor, and a run from start to end.

mod shared;

use super::plain::OnHost;
use super::{Device, load};
use crate::draws::Memory;
use crate::init::Init;
use crate::linalg::Mat;
use crate::model::family::{Censored, Density, Generic, Limits, Multinomial, NegativeBinomial, Poisson};
use crate::model::latent::TimeKernel;
use crate::model::{Model, ModelSpec, State};
use crate::observations::{Observations, Offset, Times};
use crate::rng::{Stream, StreamRng};
use crate::run::chain::Snapshot;
use crate::run::{Run, Settings};
use crate::simulate;
use crate::steps::{Moves, SweepInfo, frequencies, positions};
use crate::table::{Host, Remote, Table};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Rows of categories, one of them missing.
fn categories() -> (Model, State) {
    let y = Mat::from_fn(40, 5, |n, j| if n == 7 { f64::NAN } else { ((n * 5 + j * 3) % 4) as f64 + 1.0 });
    let spec = ModelSpec { features: 12, ..ModelSpec::default() };
    let model = Model::new(Observations::new(y).unwrap(), Multinomial, spec).unwrap();
    let mut state = simulate::draw_prior(&model, Stream::new(3)).unwrap();
    state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= 0.3);
    state.refresh(&model);
    (model, state)
}

#[test]
fn categories_are_held_as_counts() {
    let (model, mut state) = categories();
    let here = model.ln_likelihood(&state);
    let mut device = OnHost::new(&model);
    load(&mut device, &mut state);
    for seed in 0..2 {
        // Whatever the rates are.
        super::totals::update(&mut device, Stream::new(seed));
        let there = super::totals::ln_likelihood(&mut device, &model);
        assert!((here - there).abs() < 1e-9 * here.abs(), "{here} {there}");
    }
    // Next to other columns, and with column processes.
    let (mixed, mut state) = in_time();
    let here_mixed = mixed.ln_likelihood(&state);
    let mut there_mixed = OnHost::new(&mixed);
    load(&mut there_mixed, &mut state);
    let there_mixed = super::totals::ln_likelihood(&mut there_mixed, &mixed);
    assert!((here_mixed - there_mixed).abs() < 1e-9 * here_mixed.abs(), "{here_mixed} {there_mixed}");
    // Given the rates, ln p of counts and ln p of categories differ by the rates' own density, which is Γ(N, Σe^η).
    super::totals::update(&mut device, Stream::new(9));
    let mut sums = vec![0.0; 40];
    device.ln_sums(0, &mut sums);
    let offsets = device.rates(0).to_vec();
    let rates = device.categories()[0].totals.iter().zip(&sums).zip(&offsets).filter(|((total, _), _)| !total.is_nan());
    let of_rates: f64 = rates
        .map(|((total, sum), ln_u)| {
            crate::dist::ln_gamma_density(ln_u.exp(), *total, sum.exp()) + ln_u - crate::dist::ln_gamma(total + 1.0)
                + crate::dist::ln_gamma(*total)
        })
        .sum();
    let there = device.ln_likelihood();
    assert!((here + of_rates - there).abs() < 1e-8 * here.abs(), "{here} {of_rates} {there}");
}

/// Categories next to counts, with times and column processes.
fn in_time() -> (Model, State) {
    let y = Mat::from_fn(40, 5, |n, j| if n == 7 { f64::NAN } else { ((n * 5 + j * 3) % 4) as f64 + 1.0 });
    let blocks: Vec<(Vec<usize>, Arc<dyn crate::Family>)> =
        vec![(vec![0], Arc::new(Poisson)), (vec![1, 2, 3], Arc::new(Multinomial)), (vec![4], Arc::new(Poisson))];
    let times = Times { at: (0..40).map(f64::from).collect(), sequence: vec![0; 40] };
    let spec = ModelSpec { features: 12, column_process: Some(TimeKernel::Matern32), ..ModelSpec::default() };
    let model = Model::with_blocks(Observations::new(y).unwrap().with_times(times).unwrap(), blocks, spec).unwrap();
    let mut state = simulate::draw_prior(&model, Stream::new(3)).unwrap();
    state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= 0.3);
    state.refresh(&model);
    (model, state)
}

fn counts() -> (Model, State) {
    let y = Mat::from_fn(40, 6, |n, j| if (n + j) % 7 == 0 { f64::NAN } else { ((n * 5 + j * 3) % 4) as f64 });
    let data = Observations::new(y).unwrap().with_offset(Offset::SizeFactors).unwrap();
    let spec = ModelSpec { features: 12, ..ModelSpec::default() };
    let model = Model::new(data, NegativeBinomial::default(), spec).unwrap();
    let mut state = simulate::draw_prior(&model, Stream::new(3)).unwrap();
    state.beta.as_mut_slice().iter_mut().for_each(|b| *b *= 0.3);
    state.refresh(&model);
    (model, state)
}

#[test]
fn rows_and_frequencies_move_as_on_this_processor() {
    let (model, mut here) = counts();
    let mut there = here.clone();
    let mut device = Remote(Box::new(OnHost::new(&model)));
    device.load(&model, &mut there);
    let (stream, moves) = (Stream::new(9), Moves::default());
    let move_on = |table: &mut dyn Table, state: &mut State| {
        let mut info = SweepInfo::default();
        positions::update(table, &model, state, stream, &mut info).unwrap();
        frequencies::update(table, &model, state, moves, stream, &mut info).unwrap();
        info.position_tries
    };
    assert_eq!(move_on(&mut Host::default(), &mut here), move_on(&mut device, &mut there));
    there.restore(&model);
    let tables = |state: &State| [state.features.x().clone(), state.features.w().clone(), state.f.clone()];
    for (here, there) in tables(&here).iter().zip(&tables(&there)) {
        here.as_slice().iter().zip(there.as_slice()).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
    }
}

#[test]
fn the_evidence_of_a_map_is_that_of_this_processor() {
    let (model, mut state) = counts();
    let here = Host::default().ln_data(&model, &state).unwrap();
    let mut device = Remote(Box::new(OnHost::new(&model)));
    device.load(&model, &mut state);
    let there = device.ln_data(&model, &state).unwrap();
    // Here the information is a difference quotient, whose step of 0.001 makes a relative error of at most half as much: of 6 columns with 13
    // weights each, ½ ln|·| is wrong by no more than this.
    assert!((here - there).abs() < 0.5 * 6.0 * 13.0 * 0.0005, "{here} {there}");
}

#[test]
fn maps_are_sought_and_sampled_on_a_device() {
    let y = |n: usize, j: usize| (20.0 * (0.12 * n as f64 + 0.7 * j as f64).sin() + 20.0).round();
    let spec = ModelSpec { features: 20, ..ModelSpec::default() };
    let data = Observations::new(Mat::from_fn(50, 16, y)).unwrap();
    let model = Model::new(data, crate::model::family::Poisson, spec).unwrap();
    let settings =
        Settings { warmup: 200, draws: 2, chains: 4, modes: 2, init: Init::Search, seed: 4, ..Settings::default() };
    let run = Run::start(&model, &settings, Some(&open)).unwrap();
    let modes = &run.modes().found;
    assert!(
        !modes.is_empty() && modes.iter().all(|mode| mode.evidence.is_finite() && mode.error.is_finite()),
        "{modes:?}"
    );
    let chains: Vec<usize> = modes.iter().flat_map(|mode| mode.chains.clone()).collect();
    assert_eq!(chains.len(), 4, "{chains:?}");
    // Chains of the chosen mode begin near it, wherever they were put by their randomness.
    for &chain in &modes[0].chains {
        let x = run.chains()[chain].state().features.x();
        let r2 = crate::posterior::score::affine_r2(&modes[0].positions, x);
        assert!(r2 > 0.8, "chain {chain} begins elsewhere: {r2}");
    }
    let here = Run::start(&model, &settings, None).unwrap();
    assert_eq!(here.modes().found.len() > 1, modes.len() > 1);
    // The starts are the same, and so is the order of magnitude of their evidence.
    let difference = (here.modes().found[0].evidence - modes[0].evidence).abs();
    assert!(difference < 0.05 * modes[0].evidence.abs(), "{difference}");
    let none = |_: &Model, _: usize| -> Result<Box<dyn Device>, crate::RunError> {
        Err(crate::RunError::Stopped { sweep: 7 })
    };
    assert!(
        Run::start(&model, &settings, Some(&none)).unwrap_err().to_string().contains('7'),
        "a device that does not open"
    );
    let stopped = Run::start_unless(&model, &settings, Some(&open), &|| true).unwrap();
    assert!(stopped.is_none(), "a search that is stopped");
}

fn open(model: &Model, _chain: usize) -> Result<Box<dyn Device>, crate::RunError> {
    Ok(Box::new(OnHost::new(model)))
}

/// Draws of X, with a stop after some sweeps, from which the run is resumed on a new device, or on this processor.
fn drawn((model, _): (Model, State), stop: Option<(u64, bool)>) -> Vec<f64> {
    let settings = Settings { warmup: 220, draws: 10, chains: 2, seed: 4, init: Init::Search, ..Settings::default() };
    let mut run = Run::start(&model, &settings, Some(&open)).unwrap();
    let mut sinks = vec![Memory::default(), Memory::default()];
    let end = |progress: crate::run::Progress<'_>| match stop {
        Some((sweep, _)) if progress.sweep == sweep => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    if !run.go_on(&mut sinks, end).unwrap() {
        let snapshots: Vec<Snapshot> = run.chains().iter().map(|chain| chain.snapshot().clone()).collect();
        let again = match stop {
            Some((_, true)) => Run::resume(&model, &settings, snapshots, Some(&open)),
            _ => Run::resume(&model, &settings, snapshots, None),
        };
        again.unwrap().go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap();
    }
    sinks[0].array("posterior/x").map(<[f64]>::to_vec).unwrap_or_default()
}

#[test]
fn a_run_on_a_device_is_resumed_there_with_the_same_draws_and_here_with_others() {
    for table in [counts, categories, in_time] {
        let whole = drawn(table(), None);
        assert_eq!(whole.len(), 10 * 40 * 2);
        assert!(whole.iter().all(|x| x.is_finite()));
        assert!(drawn(table(), Some((4, true))) == whole, "resumed when a reference is about to be set");
        assert!(drawn(table(), Some((103, true))) == whole, "resumed during warm-up");
        assert!(drawn(table(), Some((225, true))) == whole, "resumed while sampling");
        let here = drawn(table(), Some((103, false)));
        assert!(here.len() == whole.len() && here.iter().all(|x| x.is_finite()));
    }
}

/// A family that only this processor knows.
#[derive(Debug, Clone, Default)]
struct Waiting;

impl Density for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }
    fn problem(&self, y: f64) -> Option<String> {
        (y <= 0.0).then(|| "a waiting time is positive".into())
    }
    fn ln_density(&self, y: f64, f: f64, _theta: &[f64]) -> f64 {
        -f - y * (-f).exp()
    }
    fn derivative(&self, y: f64, f: f64, _theta: &[f64]) -> f64 {
        y * (-f).exp() - 1.0
    }
    fn mean(&self, f: f64, _theta: &[f64]) -> f64 {
        f.exp()
    }
    fn simulate(&self, f: f64, _theta: &[f64], _rng: &mut StreamRng) -> f64 {
        f.exp()
    }
    fn link(&self, y: f64) -> f64 {
        y.ln()
    }
}

#[test]
fn a_family_that_a_card_does_not_know_is_refused_by_its_name() {
    let y = Mat::from_fn(12, 2, |n, j| (n + j) as f64 + 1.0);
    let model = Model::new(Observations::new(y.clone()).unwrap(), Generic(Waiting), ModelSpec::default()).unwrap();
    let refused = super::supports(&model).unwrap_err().to_string();
    assert!(refused.contains("the family waiting") && refused.contains("let device be cpu"), "{refused}");
    let known = Model::new(Observations::new(y).unwrap(), Poisson, ModelSpec::default()).unwrap();
    assert!(super::supports(&known).is_ok());
    let y = Mat::from_fn(12, 2, |n, j| ((n + j) % 5 + 1) as f64);
    for name in ["ordinal", "zero-inflated-negative-binomial", "log-normal", "censored log-normal"] {
        let family = crate::spec::family(name.trim_start_matches("censored "), None).unwrap();
        let limits =
            Limits { lower: Mat::from_fn(12, 2, |_, _| 1.0), upper: Mat::from_fn(12, 2, |_, _| f64::INFINITY) };
        let family = if name.starts_with("censored") { Censored::of(family.as_ref(), limits).unwrap() } else { family };
        let data = Observations::new(y.clone()).unwrap();
        let model = Model::with_blocks(data, vec![(vec![0, 1], family)], ModelSpec::default()).unwrap();
        let refused = super::supports(&model).unwrap_err().to_string();
        assert!(refused.contains(&format!("the family {name};")), "{refused}");
    }
}
