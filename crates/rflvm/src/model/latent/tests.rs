//! Every representation of a path against the explicit covariance matrix.

use super::axis::{Axis, AxisPrior};
use super::dynamics::Dynamics;
use super::path::Path;
use super::paths::Paths;
use super::{Form, TimeKernel, TimeSpec};
use crate::dist::{ln_normal, normals};
use crate::linalg::{Cholesky, Mat};
use crate::model::priors::Centred;
use crate::observations::Times;
use crate::rng::Stream;
use std::f64::consts::TAU;

/// Irregular times, one of them repeated.
const TIMES: [f64; 12] = [3.0, 3.5, 4.75, 4.75, 5.0, 6.25, 6.5, 8.0, 8.125, 9.5, 10.0, 11.0];
const AXIS: Axis = Axis { length_scale: 0.21, noise: 0.07 };
/// The period of seasonal kernels, in the units of the times.
const SEASON: f64 = 2.6;

fn dynamics(kernel: TimeKernel, trend: bool, form: Form) -> Dynamics {
    Dynamics::new(Times::new(TIMES.to_vec()), TimeSpec { kernel, trend, form, inducing: 5, period: season(kernel) })
        .unwrap()
}

fn season(kernel: TimeKernel) -> Option<f64> {
    kernel.is_seasonal().then_some(SEASON)
}

/// C, from its definition, at times of which the first `known` determine the inducing points.
fn plain(dynamics: &Dynamics, times: &[f64], axis: &Axis) -> Mat {
    let (middle, span) = (7.0, 8.0);
    let scaled = |t: f64| (t - middle) / span;
    let n = times.len();
    let mean = TIMES.iter().map(|&t| scaled(t)).sum::<f64>() / 12.0;
    let spread = (TIMES.iter().map(|&t| (scaled(t) - mean).powi(2)).sum::<f64>() / 12.0).sqrt();
    let spec = dynamics.spec();
    let line = |t: f64| if spec.trend { (scaled(t) - mean) / spread } else { 0.0 };
    let since = |t: f64| (t - times[0]) / span;
    let k =
        |a: f64, b: f64| (1.0 - axis.noise) * spec.kernel.between(since(a), since(b), axis.length_scale, SEASON / span);
    let mut c = Mat::from_fn(n, n, |a, b| k(times[a], times[b]));
    if spec.form == Form::Inducing {
        let points: Vec<f64> = (0..5).map(|i| 3.0 + 2.0 * f64::from(i)).collect();
        let own = Mat::from_fn(5, 5, |a, b| k(points[a], points[b]) + if a == b { 1e-8 } else { 0.0 });
        let own = Cholesky::new(&own, "test").unwrap();
        c = Mat::from_fn(n, n, |a, b| {
            let (from, mut to): (Vec<f64>, Vec<f64>) =
                (points.iter().map(|&p| k(times[a], p)).collect(), points.iter().map(|&p| k(times[b], p)).collect());
            own.solve(&mut to);
            if a == b { k(times[a], times[a]) } else { from.iter().zip(&to).map(|(f, t)| f * t).sum() }
        });
    }
    for a in 0..n {
        for b in 0..n {
            c[(a, b)] += line(times[a]) * line(times[b]) + if a == b { axis.noise } else { 0.0 };
        }
    }
    c
}

fn forms() -> Vec<Dynamics> {
    let mut all = Vec::new();
    for (_, kernel) in TimeKernel::NAMES {
        for trend in [false, true] {
            all.push(dynamics(kernel, trend, Form::Dense));
            all.push(dynamics(kernel, trend, Form::Inducing));
            if kernel.is_markov() {
                all.push(dynamics(kernel, trend, Form::StateSpace));
            }
        }
    }
    all
}

fn path(dynamics: &Dynamics, axis: &Axis) -> Path {
    let times: Vec<f64> = TIMES.iter().map(|&t| dynamics.scaled(t)).collect();
    dynamics.path(&times, axis, None).unwrap()
}

fn assert_close(what: &str, dynamics: &Dynamics, found: &[f64], truth: &[f64]) {
    assert_eq!(found.len(), truth.len());
    for (a, b) in found.iter().zip(truth) {
        assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()), "{what} of {:?}: {a} for {b}", dynamics.spec());
    }
}

fn times(c: &Mat, x: &[f64]) -> Vec<f64> {
    c.iter_rows().map(|row| row.iter().zip(x).map(|(c, x)| c * x).sum()).collect()
}

#[test]
fn every_form_has_the_density_the_precision_and_the_root_of_the_matrix() {
    let mut rng = Stream::new(1).rng();
    for dynamics in forms() {
        let path = path(&dynamics, &AXIS);
        let c = plain(&dynamics, &TIMES, &AXIS);
        let x = normals(12, &mut rng);
        let factor = Cholesky::new(&c, "test").unwrap();
        let mut solved = x.clone();
        factor.solve(&mut solved);
        let square: f64 = x.iter().zip(&solved).map(|(a, b)| a * b).sum();
        let ln_density = -0.5 * (square + factor.ln_det() + 12.0 * TAU.ln());
        assert_close("density", &dynamics, &[path.ln_density(&x)], &[ln_density]);
        assert_close("precision", &dynamics, &path.precision(&x), &solved);
        assert_close("covariance", &dynamics, &path.covariance(&x), &times(&c, &x));
        let u = path.whiten(&x, &mut rng);
        assert_eq!(u.len(), path.noise());
        assert_close("whitening", &dynamics, &path.colour(&u), &x);
        if path.noise() == x.len() {
            // The density of x is that of its noise divided by the volume of the root.
            let of_noise = u.iter().map(|&u| ln_normal(u, 0.0, 1.0)).sum::<f64>() - 0.5 * factor.ln_det();
            assert_close("whitened density", &dynamics, &[of_noise], &[ln_density]);
        }
        // ⟨Lu, x⟩ = ⟨u, Lᵀx⟩.
        let v = normals(path.noise(), &mut rng);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert_close("root", &dynamics, &[dot(&path.colour(&v), &x)], &[dot(&v, &path.colour_back(&x))]);
    }
}

/// Mean and covariance of the hidden rows given the others, from the explicit matrix.
fn conditional(c: &Mat, hidden: &[usize], x: &[f64]) -> (Vec<f64>, Mat) {
    let seen: Vec<usize> = (0..c.rows()).filter(|n| !hidden.contains(n)).collect();
    if seen.is_empty() {
        return (vec![0.0; hidden.len()], Mat::from_fn(hidden.len(), hidden.len(), |a, b| c[(hidden[a], hidden[b])]));
    }
    let factor = Cholesky::new(&Mat::from_fn(seen.len(), seen.len(), |a, b| c[(seen[a], seen[b])]), "test").unwrap();
    let gain = |n: usize| {
        let mut row: Vec<f64> = seen.iter().map(|&s| c[(n, s)]).collect();
        factor.solve(&mut row);
        row
    };
    let gains: Vec<Vec<f64>> = hidden.iter().map(|&n| gain(n)).collect();
    let mean = gains.iter().map(|g| g.iter().zip(&seen).map(|(g, &s)| g * x[s]).sum()).collect();
    let left = |a: usize, b: usize| {
        c[(hidden[a], hidden[b])] - gains[a].iter().zip(&seen).map(|(g, &s)| g * c[(s, hidden[b])]).sum::<f64>()
    };
    (mean, Mat::from_fn(hidden.len(), hidden.len(), left))
}

/// The draws have the covariance, to four standard errors of each entry, which for Gaussian draws is
/// √((c_aa c_bb + c_ab²)/count).
fn assert_covariance(dynamics: &Dynamics, draws: &[Vec<f64>], truth: &Mat) {
    let count = draws.len() as f64;
    for a in 0..truth.rows() {
        for b in 0..=a {
            let found = draws.iter().map(|d| d[a] * d[b]).sum::<f64>() / count;
            let error = ((truth[(a, a)] * truth[(b, b)] + truth[(a, b)].powi(2)) / count).sqrt();
            let t = truth[(a, b)];
            assert!((found - t).abs() < 4.5 * error, "{:?} ({a}, {b}): {found} ± {error} for {t}", dynamics.spec());
        }
    }
}

#[test]
fn windows_have_the_exact_conditional() {
    let mut rng = Stream::new(2).rng();
    for dynamics in forms() {
        let path = path(&dynamics, &AXIS);
        let c = plain(&dynamics, &TIMES, &AXIS);
        let x = normals(12, &mut rng);
        for window in [4..5, 2..9, 0..3, 9..12, 0..12] {
            let (mean, covariance) = conditional(&c, &window.clone().collect::<Vec<_>>(), &x);
            assert_close("mean", &dynamics, &path.window(window.clone(), &x, &mut rng).unwrap().mean, &mean);
            let draws: Vec<_> = (0..3000).map(|_| path.window(window.clone(), &x, &mut rng).unwrap().draw).collect();
            assert_covariance(&dynamics, &draws, &covariance);
        }
    }
}

#[test]
fn rows_at_new_times_follow_the_path() {
    let mut rng = Stream::new(3).rng();
    for dynamics in forms() {
        // Two times ahead, one between, in order.
        let all: Vec<f64> = TIMES[..5].iter().chain(&[5.5]).chain(&TIMES[5..]).chain(&[11.5, 14.0]).copied().collect();
        let hidden: Vec<bool> = (0..15).map(|n| [5, 13, 14].contains(&n)).collect();
        let c = plain(&dynamics, &all, &AXIS);
        let x = normals(15, &mut rng);
        let (mean, covariance) = conditional(&c, &[5, 13, 14], &x);
        let scaled = |times: &[f64]| times.iter().map(|&t| dynamics.scaled(t)).collect::<Vec<f64>>();
        let path = dynamics.path_with(&scaled(&all), &scaled(&TIMES), &AXIS, None).unwrap();
        let marginals = path.marginals(&hidden, &x).unwrap();
        let diagonal: Vec<f64> = (0..3).map(|i| covariance[(i, i)]).collect();
        assert_close("mean alone", &dynamics, &marginals.iter().map(|m| m.mean).collect::<Vec<_>>(), &mean);
        assert_close("variance", &dynamics, &marginals.iter().map(|m| m.variance).collect::<Vec<_>>(), &diagonal);
        // The same in the user's order and units.
        let rows = Mat::from_fn(12, 1, |n, _| x[n + usize::from(n >= 5)]);
        let (expected, sd) = dynamics.expected(&[AXIS], &rows, 0, &[14.0, 5.5, 11.5]).unwrap();
        assert_close("expected", &dynamics, expected.as_slice(), &[mean[2], mean[0], mean[1]]);
        let square: Vec<f64> = sd.as_slice().iter().map(|s| s * s).collect();
        assert_close("expected spread", &dynamics, &square, &[diagonal[2], diagonal[0], diagonal[1]]);
        // From the same random numbers, draws differ only by their means, and that of a path at zero is zero.
        let seeded = |mut x: Vec<f64>| {
            path.fill(&hidden, &mut x, &mut Stream::new(4).rng()).unwrap();
            [5, 13, 14].map(|n| x[n])
        };
        let (here, there) = (seeded(x.clone()), seeded(vec![0.0; 15]));
        assert_close("forecast", &dynamics, &[0, 1, 2].map(|i| here[i] - there[i]), &mean);
        let draw = |_| {
            let mut filled = x.clone();
            path.fill(&hidden, &mut filled, &mut rng).unwrap();
            assert!((0..15).all(|n| hidden[n] || filled[n] == x[n]));
            [5, 13, 14].iter().zip(&mean).map(|(&n, mean)| filled[n] - mean).collect::<Vec<f64>>()
        };
        let draws: Vec<Vec<f64>> = (0..3000).map(draw).collect();
        assert_covariance(&dynamics, &draws, &covariance);
        for i in 0..3 {
            let found = draws.iter().map(|d| d[i]).sum::<f64>() / 3000.0;
            assert!(found.abs() < 4.5 * (covariance[(i, i)] / 3000.0).sqrt(), "{:?}: {found}", dynamics.spec());
        }
    }
}

#[test]
fn a_row_given_all_others_is_a_window_of_one() {
    let mut rng = Stream::new(5).rng();
    for dynamics in forms() {
        let c = plain(&dynamics, &TIMES, &AXIS);
        let x = normals(12, &mut rng);
        let paths = Paths::new(&dynamics, &[AXIS]).unwrap();
        let (mean, sd) = paths.given_others(&Mat::from_vec(12, 1, x.clone()), &[7, 0]);
        for (i, n) in [7, 0].into_iter().enumerate() {
            let (expected, covariance) = conditional(&c, &[n], &x);
            assert_close("mean given others", &dynamics, &[mean[(i, 0)]], &expected);
            assert_close("sd given others", &dynamics, &[sd[(i, 0)].powi(2)], &[covariance[(0, 0)]]);
        }
    }
}

#[test]
fn paths_that_wander_have_the_covariance_of_their_definition() {
    let at = |kernel: TimeKernel, a: f64, b: f64| kernel.between(a, b, 0.3, 0.25);
    // A walk is a start of variance 1 plus increments of variance δ, which do not depend on each other.
    let walk = |a, b| at(TimeKernel::RandomWalk, a, b);
    assert_eq!((walk(0.0, 0.7), walk(0.4, 0.4), walk(0.9, 0.2)), (1.0, 1.4, 1.2));
    // An integrated walk: a value, a slope, and ∫∫ of white noise of variance 3, by a sum over small steps.
    let steps = 4000;
    let bends = |a: f64, b: f64| -> f64 {
        let width = a.min(b) / f64::from(steps);
        (0..steps).map(|i| (f64::from(i) + 0.5) * width).map(|s| 3.0 * (a - s) * (b - s) * width).sum()
    };
    for (a, b) in [(0.3, 0.8), (1.0, 1.0), (1.2, 0.1)] {
        let found = at(TimeKernel::IntegratedRandomWalk, a, b);
        assert!((found - 1.0 - a * b - bends(a, b)).abs() < 1e-6, "{a} {b}: {found}");
    }
    // A season returns after a period, but for its slow decay, and has the opposite sign after half of one.
    let season = |delta: f64| at(TimeKernel::Seasonal, 0.1, 0.1 + delta);
    assert!((season(0.25) - (-0.25_f64 / 3.0).exp()).abs() < 1e-12 && season(0.125) < -0.9);
    let sum = at(TimeKernel::RandomWalkSeasonal, 0.2, 0.5);
    assert!((sum - 0.5 * (walk(0.2, 0.5) + season(0.3))).abs() < 1e-12);
}

#[test]
fn a_walk_goes_on_from_where_it_is() {
    // Far ahead a stationary path returns to zero; a walk stays, and its variance grows by that of its increments.
    let axis = Axis { length_scale: 0.05, noise: 1e-9 };
    let x = Mat::from_fn(12, 1, |n, _| 0.3 * TIMES[n]);
    let ahead = |kernel| {
        let (mean, sd) = dynamics(kernel, false, Form::Automatic).expected(&[axis], &x, 0, &[19.0]).unwrap();
        (mean[(0, 0)], sd[(0, 0)])
    };
    let (mean, sd) = ahead(TimeKernel::RandomWalk);
    assert!((mean - 3.3).abs() < 1e-6 && (sd - 1.0).abs() < 1e-6, "{mean} ± {sd}");
    assert!(ahead(TimeKernel::Matern12).0 < 1e-4);
    let (mean, _) = ahead(TimeKernel::IntegratedRandomWalk);
    assert!((mean - 5.7).abs() < 0.1, "a slope goes on too: {mean}");
}

#[test]
fn seasons_need_a_period() {
    let spec = |kernel, period| TimeSpec { kernel, period, ..TimeSpec::default() };
    assert!(spec(TimeKernel::Matern32Seasonal, Some(7.0)).check().is_ok());
    for (spec, words) in [
        (spec(TimeKernel::Seasonal, None), "seasonal needs it"),
        (spec(TimeKernel::RandomWalkSeasonal, Some(-1.0)), "positive"),
        (spec(TimeKernel::Seasonal, Some(f64::NAN)), "positive"),
    ] {
        let sentence = spec.check().unwrap_err().to_string();
        assert!(sentence.contains("period is") && sentence.contains(words), "{sentence}");
    }
}

#[test]
fn hyperparameters_have_their_prior() {
    let prior = AxisPrior { length_scale: Centred { median: 0.3, sd: 0.7 }, noise: Centred { median: 0.02, sd: 1.2 } };
    let axis = prior.at([0.4, -1.2]);
    let [a, b] = prior.coordinates(&axis);
    assert!((a - 0.4).abs() < 1e-12 && (b + 1.2).abs() < 1e-12);
    // The density of (ℓ, ρ) is that of the coordinates divided by the slope of the map.
    let slope = |i: usize| {
        let mut up = [0.4, -1.2];
        up[i] += 1e-6;
        let moved = prior.at(up);
        if i == 0 { (moved.length_scale - axis.length_scale) / 1e-6 } else { (moved.noise - axis.noise) / 1e-6 }
    };
    let truth = ln_normal(0.4, 0.0, 1.0) + ln_normal(-1.2, 0.0, 1.0) - (slope(0) * slope(1)).ln();
    assert!((prior.ln_density(&axis) - truth).abs() < 1e-5);
}

#[test]
fn any_unit_of_time_and_order_of_rows_will_do() {
    let spec = TimeSpec::default();
    let first = Dynamics::new(Times::new(TIMES.to_vec()), spec.clone()).unwrap();
    let seconds: Vec<f64> = TIMES.iter().rev().map(|t| 86400.0 * t + 1e9).collect();
    let second = Dynamics::new(Times::new(seconds), spec).unwrap();
    for (a, b) in first.sequences[0].times.iter().zip(&second.sequences[0].times) {
        assert!((a - b).abs() < 1e-8);
    }
    assert_eq!(second.sequences[0].rows[0], 11);
    assert!((second.span() - 8.0 * 86400.0).abs() < 1e-3);
}
