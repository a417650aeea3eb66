//! Steps on the plain device against those of this processor, and a run from start to end.

use super::plain::OnHost;
use super::{Device, frequencies, load, positions};
use crate::draws::Memory;
use crate::init::Init;
use crate::linalg::Mat;
use crate::model::family::NegativeBinomial;
use crate::model::{Model, ModelSpec, State};
use crate::observations::{Observations, Offset};
use crate::ranks::Ranks;
use crate::rng::Stream;
use crate::run::chain::Snapshot;
use crate::run::{Run, Settings};
use crate::simulate;
use crate::steps::{self, Moves, SweepInfo};
use std::ops::ControlFlow;
use std::sync::Arc;

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
    let mut device = OnHost::new(&model);
    load(&mut device, &mut there);
    let (mut info, stream, moves) = (SweepInfo::default(), Stream::new(9), Moves::default());
    steps::positions::update(&model, &mut here, stream, &mut info).unwrap();
    steps::frequencies::update(&model, &mut here, moves, stream, &mut info).unwrap();
    let before = info;
    positions::update(&mut device, &model, &mut there, stream, &mut info).unwrap();
    frequencies::update(&mut device, &mut there, moves, stream, &mut info).unwrap();
    assert_eq!(info.position_tries, before.position_tries);
    there.restore(&model);
    let tables = |state: &State| [state.features.x().clone(), state.features.w().clone(), state.f.clone()];
    for (here, there) in tables(&here).iter().zip(&tables(&there)) {
        here.as_slice().iter().zip(there.as_slice()).for_each(|(a, b)| assert!((a - b).abs() < 1e-9));
    }
}

fn open(model: &Model, _chain: usize) -> Result<Box<dyn Device>, crate::RunError> {
    Ok(Box::new(OnHost::new(model)))
}

/// Draws of X, with a stop after some sweeps, from which the run is resumed on a new device, or on this processor.
fn drawn(stop: Option<(u64, bool)>) -> Vec<f64> {
    let (model, _) = counts();
    let settings = Settings { warmup: 220, draws: 10, chains: 2, seed: 4, init: Init::Search, ..Settings::default() };
    let mut run = Run::start_on(&model, &settings, &open).unwrap();
    let mut sinks = vec![Memory::default(), Memory::default()];
    let end = |progress: crate::run::Progress<'_>| match stop {
        Some((sweep, _)) if progress.sweep == sweep => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    if !run.go_on(&mut sinks, end).unwrap() {
        let snapshots: Vec<Snapshot> = run.chains().iter().map(|chain| chain.snapshot().clone()).collect();
        let again = match stop {
            Some((_, true)) => Run::resume_on(&model, &settings, snapshots, &open),
            _ => Run::resume(&model, &settings, snapshots),
        };
        again.unwrap().go_on(&mut sinks, |_| ControlFlow::Continue(())).unwrap();
    }
    sinks[0].array("posterior/x").map(<[f64]>::to_vec).unwrap_or_default()
}

#[test]
fn a_run_on_a_device_is_resumed_there_with_the_same_draws_and_here_with_others() {
    let whole = drawn(None);
    assert_eq!(whole.len(), 10 * 40 * 2);
    assert!(whole.iter().all(|x| x.is_finite()));
    assert!(drawn(Some((103, true))) == whole, "resumed during warm-up");
    assert!(drawn(Some((225, true))) == whole, "resumed while sampling");
    let here = drawn(Some((103, false)));
    assert!(here.len() == whole.len() && here.iter().all(|x| x.is_finite()));
}

#[test]
fn what_a_device_cannot_fit_is_refused_in_words() {
    let y = Mat::from_fn(12, 3, |n, j| ((n + j) % 3) as f64 + 1.0);
    let model = Model::new(Observations::new(y).unwrap(), crate::model::family::Multinomial, ModelSpec::default());
    let error = super::supports(&model.unwrap()).unwrap_err().to_string();
    assert!(error.contains("device") && error.contains("multinomial"), "{error}");
    let y = Mat::from_fn(12, 300, |n, j| ((n + j) % 3) as f64);
    let wide = Model::new(Observations::new(y).unwrap(), crate::model::family::Poisson, ModelSpec::default()).unwrap();
    assert!(super::supports(&wide).is_ok());
    let error = super::supports(&wide.part(Arc::new(Second)).unwrap()).unwrap_err().to_string();
    assert!(error.contains("several processes share"), "{error}");
}

/// The second of two processes, which never speaks to the other.
#[derive(Debug)]
struct Second;

impl Ranks for Second {
    fn rank(&self) -> usize {
        1
    }

    fn size(&self) -> usize {
        2
    }

    fn gather(&self, own: &[f64], _lengths: &[usize]) -> Vec<f64> {
        own.to_vec()
    }

    fn exchange(&self, own: &[f64], _sent: &[usize], _received: &[usize]) -> Vec<f64> {
        own.to_vec()
    }

    fn collect(&self, _own: &[f64], _lengths: &[usize], _see: &mut dyn FnMut(usize, &[f64])) {}
}
