//! τ_j²: with the weights held, with the weights in units of τ held, and with β and σ² integrated out; one per column or one per block.

use crate::fixtures::{Case, LEARNED, SHARED, assert_same, case, cases, in_column, ln_joint, setting, single};
use crate::weights::in_gaussian;
use rflvm::internal::dist::normal;
use rflvm::internal::linalg::{Cholesky, Mat};
use rflvm::internal::model::collapsed::CollapsedData;
use rflvm::internal::model::priors::Gamma;
use rflvm::internal::model::{Amplitude, HalfT, Model, State, joint};
use rflvm::internal::steps::amplitudes::{ln_centred, ln_whitened, ln_whitened_block, square};

/// The free columns whose amplitudes are one number, with its prior: each column, or each block.
fn groups(model: &Model) -> Vec<(usize, Vec<usize>, HalfT)> {
    let mut groups = Vec::new();
    for (b, block) in model.blocks().iter().enumerate() {
        let free = block.columns.clone().filter(|&j| model.is_free(j));
        match model.amplitude(block) {
            Amplitude::Fixed(_) => {}
            Amplitude::Learned(prior) => groups.extend(free.map(|j| (b, vec![j], prior))),
            Amplitude::Shared(prior) => groups.push((b, free.collect(), prior)),
        }
    }
    groups
}

/// The state with another τ² of some columns; with their weights in units of τ held, if asked.
fn with_moved(model: &Model, state: &State, b: usize, columns: &[usize], v: f64, whitened: bool) -> State {
    let mut moved = state.clone();
    let factor = (0.5 * (v - state.tau2[columns[0]].ln())).exp();
    let last = state.beta.rows() - 1;
    for &j in columns {
        moved.tau2[j] = v.exp();
        for m in (0..=last).filter(|_| whitened) {
            let centre = if m == last { model.units()[j].centre } else { 0.0 };
            moved.beta[(m, j)] = centre + factor * (state.beta[(m, j)] - centre);
        }
    }
    if columns.len() > 1 {
        // All columns of a shared block, the one without weights too.
        moved.tau2[model.blocks()[b].columns.clone()].fill(v.exp());
    }
    moved.refresh(model);
    moved
}

/// All cases with amplitudes to learn, with each number that is, and another value of its logarithm.
fn learned() -> Vec<(Case, usize, Vec<usize>, HalfT, f64)> {
    let mut found = Vec::new();
    for case in cases() {
        for (b, columns, prior) in groups(&case.model) {
            let mut case = Case {
                name: case.name.clone(),
                model: case.model.clone(),
                state: case.state.clone(),
                rng: case.rng.clone(),
            };
            let v = case.state.tau2[columns[0]].ln() + 0.7 * normal(&mut case.rng);
            found.push((case, b, columns, prior, v));
        }
    }
    assert!(found.len() > 100, "cases with learned amplitudes: {}", found.len());
    found
}

#[test]
fn amplitudes_given_weights_match_the_joint() {
    for (case, b, columns, prior, v) in learned() {
        let Case { model, state, .. } = &case;
        let count = (columns.len() * state.beta.rows()) as f64;
        let square: f64 = columns.iter().map(|&j| square(model, state, j)).sum();
        let ln = |u: f64| ln_centred(prior, count, square, u);
        let moved = with_moved(model, state, b, &columns, v, false);
        let joint = ln_joint(model, &moved) - ln_joint(model, state);
        assert_same(ln(v) - ln(state.tau2[columns[0]].ln()), joint, &case.name);
        // As if the intercept did not know τ: one weight less.
        let wrong = |u: f64| ln_centred(prior, count - columns.len() as f64, square, u);
        assert!((wrong(v) - wrong(state.tau2[columns[0]].ln()) - joint).abs() > 1e-4, "{}", case.name);
    }
}

#[test]
fn amplitudes_given_weights_in_their_units_match_the_joint() {
    for (case, b, columns, prior, v) in learned() {
        let Case { model, state, .. } = &case;
        let u = state.tau2[columns[0]].ln();
        let moved = with_moved(model, state, b, &columns, v, true);
        let ln = |state: &State, v: f64| match columns[..] {
            [j] if model.amplitude(&model.blocks()[b]) == LEARNED => {
                let local = j - model.blocks()[b].columns.start;
                in_column(model, state, b, local, |column| {
                    ln_whitened(model.blocks()[b].family.as_ref(), column, prior, v)
                })
            }
            _ => Some(ln_whitened_block(model, state, b, prior, v)),
        };
        let Some(here) = ln(state, u) else {
            assert_eq!(model.blocks()[b].family.name(), "multinomial");
            continue;
        };
        // The weights' volume grows by e^{½(v − u)} each.
        let volume = 0.5 * (v - u) * (columns.len() * state.beta.rows()) as f64;
        let joint = ln_joint(model, &moved) - ln_joint(model, state) + volume;
        assert_same(ln(state, v).unwrap() - here, joint, &case.name);
        // The way back starts elsewhere and sees the same density.
        assert_same(ln(&moved, v).unwrap() - ln(&moved, u).unwrap(), joint, &case.name);
    }
}

/// ln p(y_j | X, W, τ_j) of a complete Gaussian column, β_j and σ_j² integrated out, by its N×N covariance: a multivariate Student-t.
fn ln_student(model: &Model, state: &State, j: usize) -> f64 {
    let (h, n) = (state.features.h(), model.rows());
    let family = model.blocks()[0].family.as_gaussian().unwrap();
    let last = h.cols() - 1;
    let covariance = Mat::from_fn(n, n, |a, b| {
        let weight = |m: usize| if m == last { model.spec().priors.intercept } else { 1.0 };
        let product: f64 = (0..=last).map(|m| weight(m) * h[(a, m)] * h[(b, m)]).sum();
        state.tau2[j] * product + if a == b { 1.0 } else { 0.0 }
    });
    let cholesky = Cholesky::new(&covariance, "test").unwrap();
    let mut z: Vec<f64> = (0..n).map(|i| model.y()[(i, j)] - model.offset()[i] - model.units()[j].centre).collect();
    cholesky.solve_lower(&mut z);
    let square: f64 = z.iter().map(|z| z * z).sum();
    let Gamma { shape, rate } = family.prior(&state.theta[0].hyper, &model.units()[j]);
    -0.5 * cholesky.ln_det() - (shape + 0.5 * n as f64) * (rate + 0.5 * square).ln()
}

#[test]
fn collapsed_evidence_is_that_of_the_brute_force_student() {
    for amplitude in [LEARNED, SHARED] {
        let Case { model, state, mut rng, .. } = case("gaussian", single("gaussian"), setting(false, amplitude), 11);
        let target = CollapsedData::new(&model, &state.theta);
        let (spectrum, c) = target.at(state.features.h()).unwrap();
        for j in 0..model.columns() {
            let column = target.column(&spectrum, &c, j);
            let mut moved = state.clone();
            // Signals a hundredth and a hundred times as strong as noise, too.
            for tau2 in [1e-4, 0.3, 7.0, 1e4, (2.0 * normal(&mut rng)).exp()] {
                moved.tau2[j] = tau2;
                let plain = ln_student(&model, &moved, j) - ln_student(&model, &state, j);
                assert_same(column.ln(tau2) - column.ln(state.tau2[j]), plain, "evidence of τ");
                in_gaussian(&model, &moved, (0, j), |law, _| {
                    assert_same(column.rate(tau2), law.rate, "b_j");
                    assert_same(column.shape, law.shape, "a_n");
                    let mean = column.mean(tau2);
                    mean.iter().zip(law.mean()).for_each(|(a, b)| assert_same(*a, *b, "E[β_j]"));
                });
            }
        }
        // Across positions: the marginal of the gradient move.
        let mut moved = state.clone();
        let (x, w) = (state.features.x().clone(), state.features.w().clone());
        let x: Vec<f64> = x.as_slice().iter().map(|x| x + 0.5 * normal(&mut rng)).collect();
        moved.features.set(&x, w.as_slice());
        let whole = |state: &State| (0..model.columns()).map(|j| ln_student(&model, state, j)).sum::<f64>();
        let ln = |state: &State| target.ln_marginal(state.features.h(), &state.tau2).unwrap();
        assert_same(ln(&moved) - ln(&state), whole(&moved) - whole(&state), "evidence of X");
    }
}

#[test]
fn collapsed_evidence_is_the_joint_without_the_weights() {
    // Chib's identity: the joint less ln p(β, σ² | y, X, W, τ), at any β and σ².
    for amplitude in [LEARNED, SHARED] {
        let Case { model, state, mut rng, .. } = case("gaussian", single("gaussian"), setting(false, amplitude), 12);
        let target = CollapsedData::new(&model, &state.theta);
        let of = |state: &State| {
            let chib = joint::ln_joint(&model, state).unwrap() - crate::weights::ln_all_gaussian(&model, state);
            let rest = joint::ln_amplitudes(&model, state)
                + joint::ln_positions(&model, state).unwrap()
                + state.spectral.ln_frequencies(state.features.w());
            chib - rest - target.ln_marginal(state.features.h(), &state.tau2).unwrap()
        };
        let mut moved = state.clone();
        let tau2 = (0.8 * normal(&mut rng)).exp();
        moved.tau2.iter_mut().for_each(|t| *t *= tau2);
        moved.beta.as_mut_slice().iter_mut().for_each(|b| *b += 0.5 * normal(&mut rng));
        moved.theta[0].values.as_mut_slice().iter_mut().for_each(|p| *p *= 1.7);
        let x: Vec<f64> = state.features.x().as_slice().iter().map(|x| x + 0.5 * normal(&mut rng)).collect();
        moved.features.set(&x, state.features.w().as_slice());
        moved.refresh(&model);
        assert_same(of(&moved), of(&state), "collapsed joint");
    }
}
