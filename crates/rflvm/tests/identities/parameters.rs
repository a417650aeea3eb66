//! θ: the dispersions of the negative binomial and their rate, and parameters of the generic families.

use crate::fixtures::{
    Case, INFLATED, ISOTROPIC, assert_same, blocks_of, gap, in_column, ln_joint, ordinal, with_moved_weights,
};
use rflvm::internal::dist::{crt, gamma, ln_gamma, ln_gamma_density, ln_normal, normal, softplus};
use rflvm::internal::linalg::{Cholesky, gram};
use rflvm::internal::model::family::{
    Density, Family, GaussianConditional, NegativeBinomial, Row, StudentT, Theta, Unit, ZeroInflatedPoisson, extra,
    rate_given_dispersions,
};
use rflvm::internal::model::priors::Dispersion;
use rflvm::internal::model::{State, joint};
use rflvm::internal::rng::Stream;
use rflvm::internal::steps::amplitudes::square;

/// The family of block b.
fn family<T: Clone + 'static>(case: &Case, b: usize) -> T {
    case.model.blocks()[b].family.as_any().and_then(|any| any.downcast_ref::<T>()).unwrap().clone()
}

/// Observed cells (y, f) of local column j of block b.
fn seen(case: &Case, b: usize, j: usize) -> Vec<(f64, f64)> {
    let column = case.model.blocks()[b].columns.start + j;
    let (y, f) = (case.model.y().col(column), case.state.f.col(column));
    y.into_iter().zip(f).filter(|(y, _)| !y.is_nan()).collect()
}

/// The state with r_j multiplied by a random factor.
fn with_moved_dispersion(case: &mut Case, b: usize, j: usize) -> State {
    let mut moved = case.state.clone();
    moved.theta[b].values[(0, j)] *= (0.7 * normal(&mut case.rng)).exp();
    moved
}

/// How far r_j's gamma given the tables T is from the joint of r and T; `law` replaces its shape and rate by others.
fn dispersion_gap(case: &mut Case, b: usize, j: usize, law: impl Fn(f64, f64, f64) -> (f64, f64)) -> f64 {
    let moved = with_moved_dispersion(case, b, j);
    let r = |state: &State| state.theta[b].values[(0, j)];
    let seen = seen(case, b, j);
    let tables: Vec<f64> =
        seen.iter().map(|&(y, _)| crt::draw(y as u64, r(&case.state), &mut case.rng) as f64).collect();
    let softplus_sum = seen.iter().map(|&(_, f)| softplus(f)).sum();
    let hyper = &case.state.theta[b].hyper;
    let family: NegativeBinomial = family(case, b);
    let (shape, rate) = family.dispersion_given_tables(tables.iter().sum(), softplus_sum, hyper);
    let (shape, rate) = law(shape, rate, family.law(hyper).rate);
    // The gamma without its constant, which does not exist without the prior if all counts are zero.
    let ln = |r: f64| (shape - 1.0) * r.ln() - rate * r;
    let conditional = ln(r(&moved)) - ln(r(&case.state));
    // p(T | y, r) ∝ Γ(r)/Γ(y+r) r^T.
    let of_tables = |r: f64| {
        let cell = |(&(y, _), t): (&(f64, f64), &f64)| ln_gamma(r) - ln_gamma(y + r) + t * r.ln();
        seen.iter().zip(&tables).map(cell).sum::<f64>()
    };
    let augmented = |state: &State| ln_joint(&case.model, state) + of_tables(r(state));
    gap(conditional, augmented(&moved) - augmented(&case.state))
}

#[test]
fn dispersions_given_tables_match_the_augmented_joint() {
    let mut wrong: f64 = 0.0;
    for (mut case, b) in blocks_of(&["negative-binomial"]) {
        for j in 0..case.model.blocks()[b].columns.len() {
            assert!(dispersion_gap(&mut case, b, j, |shape, rate, _| (shape, rate)) < 1e-8, "{}", case.name);
            // The paper's update omits the prior.
            let prior = family::<NegativeBinomial>(&case, b).law(&case.state.theta[b].hyper).shape;
            let without_prior = |shape: f64, rate: f64, h: f64| (shape - prior, rate - h);
            wrong = wrong.max(dispersion_gap(&mut case, b, j, without_prior));
        }
    }
    assert!(wrong > 1e-2);
}

#[test]
fn rate_of_dispersions_matches_the_joint() {
    for (mut case, b) in blocks_of(&["negative-binomial"]) {
        let r = case.state.theta[b].values.row(0);
        let Dispersion::Shaped(prior) = family::<NegativeBinomial>(&case, b).prior else { continue };
        let (shape, rate) = rate_given_dispersions(&prior, r.len() as f64, r.iter().sum());
        let mut moved = case.state.clone();
        moved.theta[b].hyper[0] *= normal(&mut case.rng).exp();
        let ln = |state: &State| ln_gamma_density(state.theta[b].hyper[0], shape, rate);
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(ln(&moved) - ln(&case.state), joint, &case.name);
    }
}

/// The state with another ρ.
fn with_moved_noise(case: &mut Case, b: usize) -> State {
    let (mut moved, factor) = (case.state.clone(), (0.7 * normal(&mut case.rng)).exp());
    moved.theta[b].hyper[0] *= factor;
    moved.theta[b].values.row_mut(0).iter_mut().for_each(|precision| *precision *= factor);
    moved
}

#[test]
fn shared_noise_given_weights_matches_the_joint() {
    for (mut case, b) in blocks_of(&["isotropic"]) {
        let moved = with_moved_noise(&mut case, b);
        let mut state = case.state.clone();
        let view = case.model.block_view(b, &mut state, 1.0);
        let law = ISOTROPIC.law(&view, &vec![None; view.width()]);
        let ln = |state: &State| ln_gamma_density(state.theta[b].hyper[0], law.shape, law.rate);
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(ln(&moved) - ln(&case.state), joint, &case.name);
    }
}

#[test]
fn shared_noise_with_complete_columns_integrated_out_matches_the_joint() {
    for (mut case, b) in blocks_of(&["isotropic"]) {
        let columns = case.model.blocks()[b].columns.clone();
        let complete: Vec<usize> =
            (0..columns.len()).filter(|j| case.model.y().col(columns.start + j).iter().all(|y| !y.is_nan())).collect();
        let mut moved = with_moved_noise(&mut case, b);
        for j in &complete {
            moved = with_moved_weights(&case.model, &moved, columns.start + j, &mut case.rng);
        }
        let conditional = |state: &State| {
            let mut at = state.clone();
            let view = case.model.block_view(b, &mut at, 1.0);
            let spectrum = ISOTROPIC.0.spectrum(&view).unwrap();
            let law = ISOTROPIC.law(&view, &ISOTROPIC.0.evidence(&view, spectrum.as_ref()));
            let of_weights = |j: &usize| {
                in_column(&case.model, state, b, *j, |column| {
                    let cholesky = Cholesky::new(gram(column.h, None, &column.precision), "weights").unwrap();
                    let own = GaussianConditional::new(&ISOTROPIC.0, column, &cholesky);
                    let mut beta = column.beta.clone();
                    *beta.last_mut().unwrap() -= column.unit.centre;
                    let precision = column.theta[0];
                    own.ln_density(precision, &beta) - ln_gamma_density(precision, own.shape, own.rate)
                })
            };
            ln_gamma_density(state.theta[b].hyper[0], law.shape, law.rate)
                + complete.iter().map(of_weights).sum::<f64>()
        };
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(conditional(&moved) - conditional(&case.state), joint, &case.name);
    }
}

#[test]
fn sliding_dispersion_against_intercept_keeps_the_mean() {
    // r → r e^u with intercept − u: r e^f is unchanged, so only the shape of the count distribution changes. The conditional of u along
    // that line is the joint there times r's Jacobian e^u.
    for (case, b) in blocks_of(&["negative-binomial"]) {
        let of_block: NegativeBinomial = family(&case, b);
        let family = &case.model.blocks()[b].family;
        let column = case.model.blocks()[b].columns.start;
        let slid = |u: f64| {
            let mut state = case.state.clone();
            let last = state.beta.rows() - 1;
            state.beta[(last, column)] -= u;
            state.theta[b].values[(0, 0)] *= u.exp();
            state.refresh(&case.model);
            state
        };
        let mean = |state: &State| {
            let range = case.model.blocks()[b].columns.clone();
            let mut out = vec![0.0; range.len()];
            let row = case.model.row(&case.model.blocks()[b], 1, &state.theta[b]);
            family.mean(row, &state.f.row(1)[range], &mut out);
            out[0]
        };
        let mut at = case.state.clone();
        let view = case.model.block_view(b, &mut at, 1.0);
        let view = view.column(0, Stream::new(0));
        let ln = of_block.ln_slid(&view);
        for u in [-0.8, 0.3, 1.1] {
            assert_same(mean(&slid(u)), mean(&case.state), &case.name);
            let joint = ln_joint(&case.model, &slid(u)) - ln_joint(&case.model, &case.state);
            assert_same(ln(u) - ln(0.0), joint + u, &case.name);
        }
    }
}

/// ln p(θ_j) of a generic family as its density defines it.
fn ln_stated_prior(density: &dyn Density, unit: &Unit, theta: &[f64]) -> f64 {
    density.parameters(unit).iter().zip(theta).map(|(p, &v)| ln_normal(v, p.mean, p.sd * p.sd)).sum()
}

fn check_generic_parameters(density: &dyn Density) {
    for (mut case, b) in blocks_of(&[density.name()]) {
        let columns = case.model.blocks()[b].columns.clone();
        for (local, j) in columns.clone().enumerate() {
            let mut moved = case.state.clone();
            moved.theta[b].values[(0, local)] += normal(&mut case.rng);
            let ln = |state: &State| {
                let theta = state.theta[b].values.col(local);
                let cells = case.model.y().col(j).into_iter().zip(state.f.col(j)).filter(|(y, _)| !y.is_nan());
                let of_cells: f64 = cells.map(|(y, f)| density.ln_density(y, f, &theta)).sum();
                of_cells + ln_stated_prior(density, &case.model.units()[j], &theta)
            };
            let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
            assert_same(ln(&moved) - ln(&case.state), joint, &case.name);
        }
    }
}

#[test]
fn generic_parameters_match_the_joint() {
    check_generic_parameters(&ZeroInflatedPoisson::default());
    check_generic_parameters(&ordinal());
}

#[test]
fn inflation_matches_the_joint() {
    for (mut case, b) in blocks_of(&["zero-inflated-negative-binomial"]) {
        for j in 0..case.model.blocks()[b].columns.len() {
            let mut moved = case.state.clone();
            moved.theta[b].values[(1, j)] += normal(&mut case.rng);
            let ln = |state: &State| {
                in_column(&case.model, &case.state, b, j, |column| {
                    INFLATED.ln_inflation(column, state.theta[b].values[(1, j)])
                })
            };
            let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
            assert_same(ln(&moved) - ln(&case.state), joint, &case.name);
        }
    }
}

#[test]
fn a_zero_is_an_extra_one_as_often_as_bayes_rule_says() {
    for (f, r, t) in [(0.4, 1.3, -0.7), (-2.0, 0.2, 1.5), (3.0, 4.0, -4.0)] {
        let theta = Theta { values: rflvm::internal::linalg::Mat::from_vec(2, 1, vec![r, t]), hyper: vec![0.8] };
        let of_zero = INFLATED.ln_piece(Row { n: 0, first: 0, y: &[0.0], theta: &theta }, 0, &[f]).exp();
        assert_same(extra(f, r, t), 1.0 / (1.0 + (-t).exp()) / of_zero, "extra zeros");
    }
}

#[test]
fn student_noise_and_freedom_match_the_joint() {
    for (mut case, b) in blocks_of(&["student-t"]) {
        for j in 0..case.model.blocks()[b].columns.len() {
            let mut moved = case.state.clone();
            (0..2).for_each(|p| moved.theta[b].values[(p, j)] *= (0.6 * normal(&mut case.rng)).exp());
            let spread = case.model.units()[case.model.blocks()[b].columns.start + j].scale;
            let theta = |state: &State, p: usize| state.theta[b].values[(p, j)];
            let at = |state: &State| [(theta(state, 0) * spread * spread).ln(), theta(state, 1).ln()];
            let ln = |state: &State| {
                in_column(&case.model, &case.state, b, j, |column| {
                    let square = square(&case.model, &case.state, case.model.blocks()[b].columns.start + j)
                        / case.model.weight_scale(&case.state.theta, case.model.blocks()[b].columns.start + j)
                        / column.tau2;
                    family::<StudentT>(&case, b).ln_parameters(column, square, at(state))
                })
            };
            // The slices move logarithms: the joint's density times both.
            let volume: f64 = at(&moved).iter().sum::<f64>() - at(&case.state).iter().sum::<f64>();
            let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
            assert_same(ln(&moved) - ln(&case.state), joint + volume, &case.name);
        }
    }
}

#[test]
fn student_weights_given_the_mixture_match_the_augmented_joint() {
    for (mut case, b) in blocks_of(&["student-t"]) {
        for j in 0..case.model.blocks()[b].columns.len() {
            let column = case.model.blocks()[b].columns.start + j;
            let y = case.model.y().col(column);
            let q: Vec<f64> = y.iter().map(|y| if y.is_nan() { 0.0 } else { gamma(2.0, 1.5, &mut case.rng) }).collect();
            let mut moved = with_moved_weights(&case.model, &case.state, column, &mut case.rng);
            moved.theta[b].values[(0, j)] *= (0.5 * normal(&mut case.rng)).exp();
            let conditional = |state: &State| {
                in_column(&case.model, state, b, j, |column| {
                    let cholesky = Cholesky::new(gram(column.h, Some(&q), &column.precision), "test").unwrap();
                    let mut beta = column.beta.clone();
                    *beta.last_mut().unwrap() -= column.unit.centre;
                    family::<StudentT>(&case, b).given_weights(column, &q, &cholesky).ln_density(column.theta[0], &beta)
                })
            };
            // ln p(y | f, σ²/q) + ln p(β | σ²) + ln p(1/σ²): q's own density knows neither.
            let augmented = |state: &State| {
                let precision = state.theta[b].values[(0, j)];
                let cells = y.iter().zip(state.f.col(column)).zip(&q).filter(|((y, _), _)| !y.is_nan());
                let of_cells: f64 = cells.map(|((&y, f), q)| ln_normal(y, f, 1.0 / (precision * q))).sum();
                let prior =
                    family::<StudentT>(&case, b).column_prior(&state.theta[b].hyper, &case.model.units()[column]);
                of_cells + joint::ln_weights(&case.model, state) + ln_gamma_density(precision, prior.shape, prior.rate)
            };
            assert_same(
                conditional(&moved) - conditional(&case.state),
                augmented(&moved) - augmented(&case.state),
                &case.name,
            );
        }
    }
}

#[test]
fn the_mixture_integrates_out_to_the_student() {
    // ∫ N(r | 0, 1/(p q)) Ga(q | ν/2, ν/2) dq is the t-density; and q given r is the integrand, which is Ga(½(ν+1), ½(ν + p r²)).
    for (case, b) in blocks_of(&["student-t"]) {
        let theta = &case.state.theta[b];
        let (precision, dof) = (theta.values[(0, 0)], theta.values[(1, 0)]);
        let family = &case.model.blocks()[b].family;
        for r in [0.0, 0.7, -4.0] {
            let mut y = vec![f64::NAN; theta.values.cols()];
            y[0] = r;
            let row = Row { n: 0, first: 0, y: &y, theta };
            let density = family.ln_density(row, &vec![0.0; y.len()]);
            for q in [0.3, 1.0, 2.2] {
                let integrand = ln_normal(r, 0.0, 1.0 / (precision * q)) + ln_gamma_density(q, 0.5 * dof, 0.5 * dof);
                let weight = ln_gamma_density(q, 0.5 * (dof + 1.0), 0.5 * (dof + precision * r * r));
                assert_same(integrand - weight, density, &case.name);
            }
        }
    }
}
