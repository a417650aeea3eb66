//! A table in other units (metres for kilometres, Celsius for Kelvin) has the same answers, in those units: Gaussian, isotropic and Student-t.

use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Gaussian, Theta};
use rflvm::internal::model::latent::{TimeKernel, TimeSpec};
use rflvm::internal::model::{Model, ModelSpec, State};
use rflvm::internal::observations::{Observations, Times};
use rflvm::internal::posterior::score::affine_r2;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::run::{Settings, sweep};
use rflvm::internal::simulate::{self, s_curve};
use rflvm::internal::spec;
use rflvm::internal::steps::Moves;
use rflvm::internal::steps::tuning::Tuning;
use rflvm::internal::table::Host;

const ROWS: usize = 60;
const COLUMNS: usize = 12;

/// What a table is read as.
#[derive(Clone, Copy, Debug)]
struct Reading {
    family: &'static str,
    missing: bool,
    timed: bool,
}

const READINGS: [Reading; 8] = [
    Reading { family: "gaussian", missing: false, timed: false },
    Reading { family: "gaussian", missing: true, timed: false },
    Reading { family: "gaussian", missing: false, timed: true },
    Reading { family: "isotropic", missing: false, timed: false },
    Reading { family: "isotropic", missing: true, timed: true },
    Reading { family: "student-t", missing: false, timed: false },
    Reading { family: "student-t", missing: true, timed: false },
    Reading { family: "student-t", missing: true, timed: true },
];

/// The S-curve with noise of a tenth of the signal, in units of `factor` and from another zero; and the true positions.
fn table(reading: Reading, factor: f64, shift: f64) -> (Model, Mat) {
    let theta = Theta { values: Mat::from_fn(1, COLUMNS, |_, _| 100.0), hyper: Vec::new() };
    let curve = s_curve(ROWS, COLUMNS, &Gaussian::default(), &theta, 1, Stream::new(5)).unwrap();
    let mut y = curve.y;
    y.as_mut_slice().iter_mut().for_each(|y| *y = factor * *y + shift);
    if reading.missing {
        (0..ROWS).step_by(2).for_each(|n| y[(n, (5 * n) % COLUMNS)] = f64::NAN);
    }
    let mut data = Observations::new(y).unwrap();
    if reading.timed {
        data = data.with_times(Times::new(curve.t)).unwrap();
    }
    let family = spec::family(reading.family, None).unwrap();
    // A kernel whose covariance is well conditioned: where it is not, the last bits grow by themselves.
    let time = TimeSpec { kernel: TimeKernel::Matern32, ..TimeSpec::default() };
    let spec = ModelSpec { features: 20, time, ..ModelSpec::default() };
    (Model::with_blocks(data, vec![((0..COLUMNS).collect(), family)], spec).unwrap(), curve.x)
}

/// How far apart two fits are that should be one: the largest difference of positions, and of F in units of the columns.
fn apart((a, b): (&State, &State), (first, second): (&Model, &Model)) -> f64 {
    let largest = |pairs: &mut dyn Iterator<Item = (f64, f64)>| pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let x = |s: &State| s.features.x().as_slice().to_vec();
    let positions = largest(&mut x(a).into_iter().zip(x(b)));
    let in_units = |state: &State, model: &Model| -> Vec<f64> {
        let cells =
            |row: &[f64]| row.iter().zip(model.units()).map(|(f, u)| (f - u.centre) / u.scale).collect::<Vec<_>>();
        state.f.iter_rows().flat_map(cells).collect()
    };
    let fitted = largest(&mut in_units(a, first).into_iter().zip(in_units(b, second)));
    let strength = largest(&mut a.tau2.iter().map(|t| t.ln()).zip(b.tau2.iter().map(|t| t.ln())));
    positions.max(fitted).max(strength)
}

/// Sweeps from a draw of the prior: a climb, and every further sweep, amplifies the last bits, in which the tables differ.
fn swept(model: &Model, sweeps: u64) -> State {
    let stream = Stream::new(3);
    let mut state = simulate::draw_prior(model, stream).unwrap();
    let (mut tuning, mut table) = (Tuning::guess(model), Host::default());
    tuning.trajectory.step = 0.02;
    for i in 0..sweeps {
        sweep(&mut table, model, &mut state, Moves::default(), &tuning, stream.at(i)).unwrap();
    }
    state
}

#[test]
fn sweeps_are_the_same_in_any_unit_up_to_rounding() {
    for reading in READINGS {
        let (model, _) = table(reading, 1.0, 0.0);
        let state = swept(&model, 1);
        for (factor, shift) in [(1e3, 0.0), (1e-3, 0.0), (1.0, 1e3), (1.0, -7.0), (30.0, 1e4)] {
            let (other, _) = table(reading, factor, shift);
            let apart = apart((&state, &swept(&other, 1)), (&model, &other));
            assert!(apart < 1e-5, "{reading:?}, times {factor} plus {shift}: {apart}");
        }
    }
}

#[test]
fn chains_are_the_same_to_the_last_bit_in_units_of_powers_of_two() {
    let settings = Settings { warmup: 20, draws: 10, threads: 1, ..Settings::default() };
    for reading in READINGS {
        let chain = |factor: f64| {
            let (model, _) = table(reading, factor, 0.0);
            let mut chain = Chain::new(&model, &settings, 0, Box::new(Host::default())).unwrap();
            (0..settings.sweeps()).for_each(|_| assert!(chain.advance().is_ok()));
            let state = chain.state();
            let x: Vec<u64> = state.features.x().as_slice().iter().map(|x| x.to_bits()).collect();
            let f: Vec<u64> = state.f.as_slice().iter().map(|f| (f / factor).to_bits()).collect();
            let tau2: Vec<u64> = state.tau2.iter().map(|t| t.to_bits()).collect();
            (x, f, tau2)
        };
        let one = chain(1.0);
        for factor in [1024.0, 1.0 / 1024.0] {
            assert!(chain(factor) == one, "{reading:?}, times {factor}");
        }
    }
}

#[test]
fn answers_are_the_same_in_any_unit() {
    // Chains that rounding has set apart still have one posterior: positions, noise and signal strength agree.
    let settings = Settings { warmup: 80, draws: 80, threads: 1, ..Settings::default() };
    for reading in [READINGS[0], READINGS[3], READINGS[6]] {
        let answers = |factor: f64, shift: f64| {
            let (model, truth) = table(reading, factor, shift);
            let mut chain = Chain::new(&model, &settings, 0, Box::new(Host::default())).unwrap();
            let (mut r2, mut noise, mut strength) = (0.0, 0.0, 0.0);
            for i in 0..settings.sweeps() {
                chain.advance().unwrap();
                if i < settings.warmup {
                    continue;
                }
                let state = chain.state();
                r2 += affine_r2(state.features.x(), &truth);
                noise -= 0.5 * state.theta[0].values.row(0).iter().map(|p| (p * factor * factor).ln()).sum::<f64>();
                strength += 0.5 * state.tau2.iter().map(|t| t.ln()).sum::<f64>();
            }
            let count = settings.draws as f64 * COLUMNS as f64;
            [r2 / settings.draws as f64, noise / count, strength / count]
        };
        let one = answers(1.0, 0.0);
        for (factor, shift) in [(1e3, 0.0), (1e-3, 0.0), (30.0, 1e4)] {
            let other = answers(factor, shift);
            // Short chains that have come apart may end in other modes; none may lose the curve.
            assert!(one[0].min(other[0]) > 0.6, "{reading:?}, times {factor} plus {shift}: {one:?}, {other:?}");
            for (i, most) in [(1, 0.15), (2, 0.3)] {
                assert!(
                    (one[i] - other[i]).abs() < most,
                    "{reading:?}, times {factor} plus {shift}: {one:?}, {other:?}"
                );
            }
        }
    }
}
