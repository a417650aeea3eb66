//! The level and spread of columns' noise and dispersions: given the columns' own, and for Gaussian columns with these integrated out.

use crate::fixtures::{Case, POOL, POOLED, assert_same, cases, gap, in_column, ln_joint, with_moved_weights};
use rand::RngExt;
use rflvm::internal::dist::{ln_gamma_density, normal};
use rflvm::internal::linalg::{Cholesky, gram};
use rflvm::internal::model::Pool;
use rflvm::internal::model::family::GaussianConditional;
use rflvm::internal::model::pool::{Sums, ln_integrated};
use rflvm::internal::model::priors::Gamma;
use rflvm::internal::model::{Model, State};

/// The cases whose columns are pooled; of some families.
fn pooled(names: &[&str]) -> Vec<Case> {
    let found: Vec<Case> =
        cases().into_iter().filter(|case| names.iter().any(|name| case.name.starts_with(name))).collect();
    assert!(found.len() >= 6);
    found
}

/// The state with another level and spread.
fn with_moved_pool(case: &mut Case) -> State {
    let mut moved = case.state.clone();
    moved.theta[0].hyper.iter_mut().for_each(|value| *value *= (0.7 * normal(&mut case.rng)).exp());
    moved
}

/// λ_j in units of the column; r_j of counts.
fn value(model: &Model, state: &State, j: usize) -> f64 {
    model.blocks()[0].family.standardised(0, state.theta[0].values[(0, j)], &model.units()[j])
}

#[test]
fn level_and_spread_given_the_columns_own_match_the_joint() {
    for mut case in pooled(&POOLED) {
        let moved = with_moved_pool(&mut case);
        let values: Vec<f64> = (0..case.model.columns()).map(|j| value(&case.model, &case.state, j)).collect();
        let sums =
            Sums { count: values.len() as f64, ln: values.iter().map(|v| v.ln()).sum(), plain: values.iter().sum() };
        let ln = |state: &State, sums: Sums| {
            let law = Pool::law(&state.theta[0].hyper);
            sums.ln(law) + POOL.ln_density(law)
        };
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(ln(&moved, sums) - ln(&case.state, sums), joint, &case.name);
        // A column that is left out shows.
        let fewer = Sums { count: sums.count - 1.0, ..sums };
        assert!(gap(ln(&moved, fewer) - ln(&case.state, fewer), joint) > 1e-3, "{}", case.name);
    }
}

/// Moves the hyperparameters, all precisions, and the weights of the columns without missing cells, which are integrated out.
fn with_moved_noise(case: &mut Case, complete: &[usize]) -> State {
    let mut moved = with_moved_pool(case);
    for j in complete {
        moved = with_moved_weights(&case.model, &moved, *j, &mut case.rng);
    }
    for j in 0..case.model.columns() {
        moved.theta[0].values[(0, j)] *= case.rng.random_range(0.4..2.0);
    }
    moved
}

#[test]
fn level_and_spread_with_the_noise_integrated_out_match_the_joint() {
    for mut case in pooled(&POOLED[..1]) {
        let columns = case.model.columns();
        for integrate in [false, true] {
            let is_complete = |j: &usize| case.model.y().col(*j).iter().all(|y| !y.is_nan());
            let complete: Vec<usize> = (0..columns).filter(|j| integrate && is_complete(j)).collect();
            let moved = with_moved_noise(&mut case, &complete);
            let model = &case.model;
            let conditional = |state: &State| {
                let mut at = state.clone();
                let view = model.block_view(0, &mut at, 1.0);
                let family = model.blocks()[0].family.as_gaussian().unwrap();
                let spectrum = if integrate { family.spectrum(&view).unwrap() } else { None };
                let seen = family.seen(&view, &family.evidence(&view, spectrum.as_ref()));
                let law: Gamma = Pool::law(&state.theta[0].hyper);
                let of_column = |j: usize| {
                    let [power, sum] = seen[j];
                    let (own, shape, rate) = (value(model, state, j), law.shape + power, law.rate + sum);
                    // λ_j in its own units: their ratio does not depend on the state.
                    ln_integrated(law, power, sum) + ln_gamma_density(own, shape, rate)
                };
                let of_weights = |j: &usize| {
                    in_column(model, state, 0, *j, |column| {
                        let cholesky = Cholesky::new(gram(column.h, None, &column.precision), "weights").unwrap();
                        let own = GaussianConditional::new(family, column, &cholesky);
                        let mut beta = column.beta.clone();
                        *beta.last_mut().unwrap() -= column.unit.centre;
                        own.ln_density(column.theta[0], &beta) - ln_gamma_density(column.theta[0], own.shape, own.rate)
                    })
                };
                (0..columns).map(of_column).sum::<f64>()
                    + complete.iter().map(of_weights).sum::<f64>()
                    + POOL.ln_density(law)
            };
            let joint = ln_joint(model, &moved) - ln_joint(model, &case.state);
            assert_same(conditional(&moved) - conditional(&case.state), joint, &case.name);
        }
    }
}
