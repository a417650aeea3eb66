//! MAP estimates of small S-curves.

use super::*;
use crate::device::plain::OnHost;
use crate::hmc::frequencies::FrequencyPrior;
use crate::hmc::gradient::{Joint, Layout};
use crate::hmc::hamiltonian::Potential;
use crate::hmc::laplace_term::LaplaceTerm;
use crate::hmc::marginal::Marginal;
use crate::init::begin::begin;
use crate::init::climb::scales;
use crate::model::ModelSpec;
use crate::model::collapsed::CollapsedData;
use crate::model::family::{Theta, Unit};
use crate::observations::{Observations, Times};
use crate::posterior::score::affine_r2;
use crate::simd::dot;
use crate::simulate::s_curve;
use crate::spec;

const ROWS: usize = 120;
const COLUMNS: usize = 40;

/// A model of a small S-curve, and the true positions.
fn curve(name: &str, missing: bool, timed: bool) -> (Model, Mat) {
    let family = spec::family(name, None).unwrap();
    let start = family.start(&[(0, 1.0, 0.0), (1, 3.0, 0.0)], &Unit::new(0.0, 1.0));
    let theta = Theta { values: Mat::from_fn(start.len(), COLUMNS, |p, _| start[p]), hyper: Vec::new() };
    let mut curve = s_curve(ROWS, COLUMNS, family.as_ref(), &theta, 50, Stream::new(4)).unwrap();
    if missing {
        (0..ROWS).for_each(|n| match family.is_whole() {
            true if n % 5 == 0 => curve.y.row_mut(n).fill(f64::NAN),
            true => {}
            false => curve.y[(n, (7 * n) % COLUMNS)] = f64::NAN,
        });
    }
    let mut data = Observations::new(curve.y).unwrap();
    if timed {
        data = data.with_times(Times { at: curve.t, sequence: vec![0; ROWS] }).unwrap();
    }
    let spec = ModelSpec { features: 30, ..ModelSpec::default() };
    (Model::with_blocks(data, vec![((0..COLUMNS).collect(), family)], spec).unwrap(), curve.x)
}

/// |∂Q| at a state, with θ and clusters fixed, in the free coordinates.
fn slope(model: &Model, state: &State) -> f64 {
    let paths = model.paths(state).unwrap();
    let exact = is_exact(model);
    let layout = Layout::new(model, !exact);
    let (q, scales) = (layout.gather(state), scales(model, state, layout, (true, true)));
    let mut g = vec![0.0; q.len()];
    if exact {
        let target = CollapsedData::new(model, &state.theta);
        let given = (FrequencyPrior::given(&state.spectral), state.features.plain());
        let marginal = Marginal::new(&target, &state.tau2, given, layout).along(paths.as_ref());
        Volume::new(marginal, model).evaluate(&q, &mut g);
    } else {
        let laplace_term = LaplaceTerm::new(model, state);
        let given = (FrequencyPrior::given(&state.spectral), state.features.plain());
        let joint =
            Joint::new(model, &state.theta, &state.tau2, given, paths.as_ref()).with_laplace_term(&laplace_term);
        Volume::new(joint, model).evaluate(&q, &mut g);
    }
    g.iter_mut().zip(scales).for_each(|(g, s)| *g *= s);
    dot(&g, &g).sqrt()
}

#[test]
fn poisson_counts_show_their_s() {
    let (model, truth) = curve("poisson", false, false);
    let fit = Map { starts: 2, ..Map::default() }.fit(&model, Stream::new(1)).unwrap();
    let r2 = affine_r2(fit.state.features.x(), &truth);
    assert!(r2 >= 0.9, "{r2}");
    assert!(fit.converged && fit.reached.len() == 2, "{:?}", fit.trace);
    assert!(fit.reached.iter().any(|&value| value == fit.trace[COMPARED]));
    assert!(fit.reached.iter().all(|&value| value <= fit.trace[COMPARED]));
    // X has the scale of its prior.
    let x = fit.state.features.x().as_slice();
    let square = dot(x, x) / x.len() as f64;
    assert!((0.8..1.25).contains(&square), "{square}");
    for covariance in fit.spread(&model).unwrap() {
        assert!((0..2).all(|d| covariance[(d, d)] > 0.0 && covariance[(d, d)] < 1.0), "{covariance:?}");
    }
}

#[test]
fn the_gradient_vanishes_at_the_estimate() {
    for name in ["gaussian", "poisson", "negative-binomial", "bernoulli", "multinomial", "student-t"] {
        for (missing, timed) in [(false, false), (true, false), (false, true)] {
            let (model, _) = curve(name, missing, timed);
            let mut ascent = Ascent::new(
                &mut Host::default(),
                &model,
                begin(&mut Host::default(), &model, Init::Pca, Stream::new(2)).unwrap(),
            )
            .unwrap();
            let before = slope(&model, &ascent.state);
            ascent.go_on(&mut Host::default(), &model, 60).unwrap();
            let after = slope(&model, &ascent.state);
            let place = format!("{name}, missing {missing}, timed {timed}: {before} to {after}, {:?}", ascent.trace);
            assert!(ascent.converged, "{place}");
            assert!(after < 0.05 * before, "{place}");
            assert!(ascent.trace[ascent.trace.len() - 1] > ascent.trace[0], "{place}");
        }
    }
}

#[test]
fn one_and_two_threads_reach_the_same_bits() {
    let bits = |name: &str, threads: usize| {
        let (model, _) = curve(name, true, false);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let map = Map { starts: 1, rounds: 3, ..Map::default() };
        let fit = pool.install(|| map.fit(&model, Stream::new(3))).unwrap();
        let state = &fit.state;
        let all =
            state.features.x().as_slice().iter().chain(state.features.w().as_slice()).chain(state.beta.as_slice());
        all.chain(state.theta[0].values.as_slice()).map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    for name in ["gaussian", "poisson", "negative-binomial"] {
        assert!(bits(name, 1) == bits(name, 2), "{name}");
    }
}

/// Largest difference of two lists of numbers, relative to the largest of them.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    let largest = a.iter().fold(1e-300_f64, |most, a| most.max(a.abs()));
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs())) / largest
}

#[test]
fn a_table_on_a_device_is_climbed_as_one_here() {
    let cases = [("poisson", false), ("negative-binomial", true), ("bernoulli", true), ("multinomial", true)];
    for (name, missing) in cases.into_iter().chain([("gaussian", true), ("isotropic", true), ("isotropic", false)]) {
        let (model, _) = curve(name, missing, name == "poisson");
        let mut state = begin(&mut Host::default(), &model, Init::Pca, Stream::new(2)).unwrap();
        let mut here = Ascent::new(&mut Host::default(), &model, state.clone()).unwrap();
        let mut device = Remote(Box::new(OnHost::new(&model)));
        device.load(&model, &mut state);
        let mut there = Ascent::new(&mut device, &model, state).unwrap();
        let theta = |ascent: &Ascent| ascent.state.theta[0].values.as_slice().to_vec();
        assert!(apart(&theta(&here), &theta(&there)) < 1e-5, "{name}: {:?} {:?}", theta(&here), theta(&there));
        assert!(apart(&here.state.tau2, &there.state.tau2) < 1e-3, "{name}");
        // Here the information is a difference quotient, whose step of 0.001 makes a relative error of at most half as much.
        let rough = 0.5 * 0.0005 * (COLUMNS * model.width()) as f64;
        assert!((here.value() - there.value()).abs() < rough, "{name}: {} {}", here.value(), there.value());
        here.go_on(&mut Host::default(), &model, 30).unwrap();
        there.go_on(&mut device, &model, 30).unwrap();
        let place = format!("{name}: {:?} {:?}", here.trace, there.trace);
        assert!(there.converged, "{place}");
        // Both have converged; their ways differ in the last digits, and then in more.
        assert!((here.value() - there.value()).abs() < 0.02 * ROWS as f64, "{place}");
        there.state.restore(&model);
        let q = objective(&model, &there.state).unwrap();
        assert!((q - there.value()).abs() < rough, "{place}: {q}");
    }
}

#[test]
fn a_device_finds_the_mode_to_which_steps_lead_here() {
    let (model, _) = curve("student-t", true, false);
    let mut state = begin(&mut Host::default(), &model, Init::Pca, Stream::new(2)).unwrap();
    let mut device = Remote(Box::new(OnHost::new(&model)));
    let mut there = state.clone();
    device.load(&model, &mut there);
    device.maximise_parameters(&model, &mut there).unwrap();
    let before = state.theta[0].values.clone();
    (0..100).for_each(|_| Host::default().maximise_parameters(&model, &mut state).unwrap());
    let [before, here, there] = [&before, &state.theta[0].values, &there.theta[0].values].map(Mat::as_slice);
    assert!(apart(here, there) < 1e-5 && apart(here, before) > 1e-2, "{here:?} {there:?}");
}

#[test]
fn an_estimate_on_a_device_has_its_state_here() {
    let (model, truth) = curve("negative-binomial", true, false);
    let device = Box::new(OnHost::new(&model));
    let fit = Map { starts: 2, ..Map::default() }.fit_on(device, &model, Stream::new(1)).unwrap();
    assert!(fit.converged && affine_r2(fit.state.features.x(), &truth) > 0.9);
    assert_eq!((fit.state.f.rows(), fit.state.f.cols()), (ROWS, COLUMNS));
    assert_eq!(fit.ln_likelihood, model.ln_likelihood(&fit.state));
    assert!(fit.spread(&model).is_ok());
    // A complete Gaussian table is climbed here.
    let (model, _) = curve("gaussian", false, false);
    let map = Map { starts: 1, rounds: 3, ..Map::default() };
    let there = map.fit_on(Box::new(OnHost::new(&model)), &model, Stream::new(1)).unwrap();
    assert_eq!(there.trace, map.fit(&model, Stream::new(1)).unwrap().trace);
}
