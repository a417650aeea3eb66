//! W and X: one frequency, one row.

use crate::fixtures::{Case, assert_same, cases, ln_joint, near, with_features};
use rflvm::internal::model::State;
use rflvm::internal::steps::{frequencies, positions};

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
fn only_complete_gaussian_tables_are_collapsed() {
    for case in cases() {
        let is_gaussian = ["gaussian, holes false", "gaussian, pooled, holes false", "log-normal, holes false"]
            .iter()
            .any(|it| case.name.starts_with(it));
        assert_eq!(case.model.is_collapsed(), is_gaussian, "{}", case.name);
    }
}
