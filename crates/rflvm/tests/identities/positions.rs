//! W and X: one frequency, one row; with β, and with β and σ² integrated out.

use crate::fixtures::{Case, FIXED, RBF, Setting, assert_same, case, cases, ln_joint, near, setting, single};
use crate::fixtures::{ROWS, with_features};
use crate::weights::ln_all_gaussian;
use rflvm::model::collapsed::CollapsedData;
use rflvm::model::{Model, State, joint};
use rflvm::steps::collapsed::{frequency_ln_ratio, row_ln_ratio};
use rflvm::steps::{frequencies, positions};

/// The state with frequency l moved, and its new value.
fn with_moved_frequency(case: &mut Case, l: usize) -> (State, Vec<f64>) {
    let w = near(case.state.features.w().row(l), 0.7, &mut case.rng);
    let mut all = case.state.features.w().clone();
    all.row_mut(l).copy_from_slice(&w);
    (with_features(&case.model, &case.state, case.state.features.x(), &all), w)
}

/// The state with row n moved, and its new value.
fn with_moved_row(case: &mut Case, n: usize) -> (State, Vec<f64>) {
    let x = near(case.state.features.x().row(n), 0.7, &mut case.rng);
    let mut all = case.state.features.x().clone();
    all.row_mut(n).copy_from_slice(&x);
    (with_features(&case.model, &case.state, &all, case.state.features.w()), x)
}

#[test]
fn frequencies_match_the_joint() {
    for mut case in cases() {
        for l in 0..case.model.frequencies() {
            let (moved, w) = with_moved_frequency(&mut case, l);
            let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
            assert_same(frequencies::ln_ratio(&case.model, &case.state, l, &w), joint, &case.name);
        }
    }
}

#[test]
fn rows_match_the_joint() {
    for mut case in cases() {
        for n in 0..case.model.rows() {
            let (moved, x) = with_moved_row(&mut case, n);
            let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
            assert_same(positions::ln_ratio(&case.model, &case.state, n, &x), joint, &case.name);
        }
    }
}

#[test]
fn only_complete_gaussian_tables_of_known_amplitude_are_collapsed() {
    for case in cases() {
        let model = &case.model;
        let expected = case.name.starts_with("gaussian, holes false, Fixed");
        assert_eq!(model.is_collapsed(), expected, "{}", case.name);
    }
}

fn collapsed_cases() -> Vec<Case> {
    let learned = setting(false, FIXED);
    let known = Setting { kernel: RBF, ..learned.clone() };
    [(learned, 11), (known, 12)].map(|(s, seed)| case("gaussian", single("gaussian"), s, seed)).into()
}

/// The joint with β and σ² integrated out, by Chib's identity at the state's own β and σ².
fn ln_collapsed_joint(case: &Case, state: &State) -> f64 {
    ln_joint(&case.model, state) - ln_all_gaussian(&case.model, state)
}

/// ln p(X) + ln p(W | clusters).
fn ln_prior(model: &Model, state: &State) -> f64 {
    joint::ln_positions(model, state).unwrap() + state.spectral.ln_frequencies(state.features.w())
}

/// A move's log ratio against the marginal from scratch, and both against the plain joint.
#[track_caller]
fn check_collapsed(case: &Case, target: &CollapsedData, moved: &State, ln_ratio: f64) {
    let marginal = |state: &State| target.ln_marginal(state.features.h()).unwrap();
    assert_same(ln_ratio, marginal(moved) - marginal(&case.state), "log ratio of a move");
    let whole = ln_collapsed_joint(case, moved) - ln_collapsed_joint(case, &case.state);
    assert_same(ln_ratio + ln_prior(&case.model, moved) - ln_prior(&case.model, &case.state), whole, "collapsed joint");
}

#[test]
fn collapsed_frequencies_match_the_collapsed_joint() {
    for mut case in collapsed_cases() {
        let target = CollapsedData::new(&case.model);
        for l in 0..case.model.frequencies() {
            let (moved, w) = with_moved_frequency(&mut case, l);
            check_collapsed(&case, &target, &moved, frequency_ln_ratio(&target, &case.state.features, l, &w).unwrap());
        }
    }
}

#[test]
fn collapsed_rows_match_the_collapsed_joint() {
    for mut case in collapsed_cases() {
        let target = CollapsedData::new(&case.model);
        for n in 0..ROWS {
            let (moved, x) = with_moved_row(&mut case, n);
            check_collapsed(&case, &target, &moved, row_ln_ratio(&target, &case.state.features, n, &x).unwrap());
        }
    }
}

#[test]
fn collapsed_joint_does_not_depend_on_the_weights() {
    // Chib's identity at other weights and other noise: the same number.
    for mut case in collapsed_cases() {
        let here = ln_collapsed_joint(&case, &case.state);
        let mut moved = case.state.clone();
        let beta = near(moved.beta.as_slice(), 0.5, &mut case.rng);
        moved.beta.as_mut_slice().copy_from_slice(&beta);
        moved.theta[0].values.as_mut_slice().iter_mut().for_each(|p| *p *= 1.7);
        moved.refresh(&case.model);
        assert_same(ln_collapsed_joint(&case, &moved), here, "collapsed joint");
    }
}
