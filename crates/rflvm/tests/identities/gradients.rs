//! Derivatives: of each family with respect to f, of the joint and the collapsed joint with respect to X, W and β.

use crate::fixtures::{
    Case, FIXED, LEARNED, RBF, SHARED, Setting, assert_same, assert_slope, case, cases, derivative, ln_joint, near,
    timed_cases,
};
use crate::fixtures::{ordinal, setting, single, with_features};
use rflvm::internal::dist::niw::Niw;
use rflvm::internal::dist::normal;
use rflvm::internal::hmc::frequencies::FrequencyPrior;
use rflvm::internal::hmc::gradient::{Joint, Layout, Split};
use rflvm::internal::hmc::hamiltonian::Potential;
use rflvm::internal::hmc::laplace_term::LaplaceTerm;
use rflvm::internal::hmc::marginal::Marginal;
use rflvm::internal::init::map::{Volume, ln_volume};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::collapsed::CollapsedData;
use rflvm::internal::model::family::{Density, Shift, ZeroInflatedPoisson};
use rflvm::internal::model::spectral::Kernel;
use rflvm::internal::model::{Model, State, joint};

#[test]
fn densities_have_the_stated_derivative() {
    let mut rng = rflvm::internal::rng::Stream::new(3).rng();
    for _ in 0..20 {
        let (f, theta) = (normal(&mut rng), [normal(&mut rng)]);
        let inflated = ZeroInflatedPoisson::default();
        for count in [0.0, 1.0, 7.0] {
            let slope = derivative(|f| inflated.ln_density(count, f, &theta), f);
            assert_slope(inflated.derivative(count, f, &theta), slope, "zero-inflated-poisson");
        }
        let theta = [normal(&mut rng), normal(&mut rng)];
        for level in [1.0, 2.0, 3.0, 4.0] {
            let slope = derivative(|f| ordinal().ln_density(level, f, &theta), f);
            assert_slope(ordinal().derivative(level, f, &theta), slope, "ordinal");
        }
    }
}

#[test]
fn families_have_the_stated_gradient() {
    for mut case in cases() {
        let at = near(case.state.f.as_slice(), 0.3, &mut case.rng);
        let at = Mat::from_vec(case.model.rows(), case.model.columns(), at);
        for (block, theta) in case.model.blocks().iter().zip(&case.state.theta) {
            for n in 0..case.model.rows() {
                let row = case.model.row(block, n, theta);
                let f = &at.row(n)[block.columns.clone()];
                // NaN on entry: a family must write every cell, missing ones too.
                let mut g = vec![f64::NAN; f.len()];
                let value = block.family.gradient(row, f, &mut g);
                assert_same(value, block.family.ln_lik(row, f), &case.name);
                for j in 0..f.len() {
                    let mut moved = f.to_vec();
                    let slope = derivative(
                        |v| {
                            moved[j] = v;
                            block.family.ln_density(row, &moved)
                        },
                        f[j],
                    );
                    assert_slope(g[j], slope, &case.name);
                    assert!(!row.y[j].is_nan() || g[j] == 0.0, "{}: a missing cell has a gradient", case.name);
                }
            }
        }
    }
}

#[test]
fn shifted_ln_lik_is_that_of_the_shifted_row() {
    for mut case in cases() {
        for (block, theta) in case.model.blocks().iter().zip(&case.state.theta) {
            for n in 0..case.model.rows() {
                let row = case.model.row(block, n, theta);
                let f = &case.state.f.row(n)[block.columns.clone()];
                let (u, v) = (near(f, 1.0, &mut case.rng), near(f, 1.0, &mut case.rng));
                let shift = Shift { a: normal(&mut case.rng), u: &u, b: normal(&mut case.rng), v: &v };
                let shifted = block.family.ln_lik_shifted(row, f, shift);
                let by_hand: Vec<f64> = (0..f.len()).map(|j| f[j] + shift.a * u[j] + shift.b * v[j]).collect();
                assert_same(shifted, block.family.ln_lik(row, &by_hand), &case.name);
            }
        }
    }
}

/// The state with X, W and, if q holds it, β from q.
fn scattered(case: &Case, layout: Layout, q: &[f64]) -> State {
    let Split { x, w, beta } = layout.split(q);
    let of = |like: &Mat, values: &[f64]| Mat::from_vec(like.rows(), like.cols(), values.to_vec());
    let (x, w) = (of(case.state.features.x(), x), of(case.state.features.w(), w));
    let mut state = with_features(&case.model, &case.state, &x, &w);
    if !beta.is_empty() {
        state.beta.as_mut_slice().copy_from_slice(beta);
        state.refresh(&case.model);
    }
    state
}

/// Values and slopes of a potential against a plain log density, in the free coordinates.
fn check_potential(
    potential: &mut impl Potential,
    plain: impl Fn(&[f64]) -> f64,
    (here, there): (&[f64], &[f64]),
    may_move: impl Fn(usize) -> bool,
    name: &str,
) {
    let mut g = vec![f64::NAN; here.len()];
    let difference = potential.evaluate(there, &mut g) - potential.evaluate(here, &mut g);
    assert_same(difference, plain(there) - plain(here), name);
    for i in (0..here.len()).filter(|&i| may_move(i)) {
        let mut q = here.to_vec();
        let slope = derivative(
            |v| {
                q[i] = v;
                plain(&q)
            },
            here[i],
        );
        assert_slope(g[i], slope, &format!("{name}, coordinate {i}"));
    }
}

#[test]
fn joint_potential_is_the_joint_with_its_gradient() {
    for mut case in cases().into_iter().chain(timed_cases()) {
        let layout = Layout::new(&case.model, true);
        let here = layout.gather(&case.state);
        let columns = case.model.columns();
        let first_weight = here.len() - case.state.beta.as_slice().len();
        // Fixed weights (the last category of a multinomial) stay unchanged.
        let may_move = |i: usize| i < first_weight || case.model.is_free((i - first_weight) % columns);
        let mut there = near(&here, 0.2, &mut case.rng);
        (0..here.len()).filter(|&i| !may_move(i)).for_each(|i| there[i] = here[i]);
        let (paths, Case { model, state, .. }) = (case.model.paths(&case.state).unwrap(), &case);
        let given = (FrequencyPrior::given(&state.spectral), state.features.plain());
        let mut potential = Joint::new(model, &state.theta, &state.tau2, given, paths.as_ref());
        let plain = |q: &[f64]| ln_joint(&case.model, &scattered(&case, layout, q));
        check_potential(&mut potential, plain, (&here, &there), may_move, &case.name);
    }
}

/// ln p(W | z) = ln p(W, clusters | z) − ln p(clusters | W, z), at any clusters.
fn ln_frequencies(model: &Model, state: &State) -> f64 {
    let (spectral, w) = (&state.spectral, state.features.w());
    let mut total = spectral.ln_frequencies(w);
    if let Kernel::Learned(mixture) = &model.spec().kernel {
        let base = mixture.base(&spectral.psi);
        for (k, cluster) in spectral.clusters.iter().enumerate() {
            let own: Vec<usize> = (0..w.rows()).filter(|&l| spectral.z[l] == k).collect();
            let ln_density = |law: &Niw| law.ln_density(&cluster.mu, &cluster.sigma).unwrap();
            total += ln_density(&base) - ln_density(&base.posterior(own.iter().map(|&l| w.row(l))));
        }
    }
    total
}

#[test]
fn collapsed_potential_is_the_collapsed_joint_with_its_gradient() {
    let settings = [FIXED, LEARNED, SHARED].map(|amplitude| setting(false, amplitude));
    let plain = [FIXED, LEARNED].map(|amplitude| Setting { plain: true, ..setting(false, amplitude) });
    let others = [Setting { kernel: RBF, ..setting(false, FIXED) }];
    for setting in settings.into_iter().chain(others).chain(plain) {
        let mut case = case("gaussian", single("gaussian"), setting, 21);
        let layout = Layout::new(&case.model, false);
        let here = layout.gather(&case.state);
        let there = near(&here, 0.2, &mut case.rng);
        let target = CollapsedData::new(&case.model, &case.state.theta);
        let plain = |q: &[f64]| {
            let state = scattered(&case, layout, q);
            target.ln_marginal(state.features.h(), &state.tau2).unwrap()
                + joint::ln_positions(&case.model, &state).unwrap()
                + ln_frequencies(&case.model, &state)
        };
        let prior = FrequencyPrior::integrated(&case.model.spec().kernel, &case.state.spectral);
        let given = (prior, case.state.features.plain());
        let mut potential = Marginal::new(&target, &case.state.tau2, given, layout);
        check_potential(&mut potential, plain, (&here, &there), |_| true, &case.name);
    }
}

/// The objective of the MAP estimate: with the complexity penalty and the volume besides the joint.
#[test]
fn point_estimate_potential_is_its_objective_with_its_gradient() {
    for mut case in cases().into_iter().chain(timed_cases()) {
        let layout = Layout::new(&case.model, true);
        let here = layout.gather(&case.state);
        let columns = case.model.columns();
        let first_weight = here.len() - case.state.beta.as_slice().len();
        let may_move = |i: usize| i < first_weight || case.model.is_free((i - first_weight) % columns);
        let mut there = near(&here, 0.2, &mut case.rng);
        (0..here.len()).filter(|&i| !may_move(i)).for_each(|i| there[i] = here[i]);
        let (paths, Case { model, state, .. }) = (case.model.paths(&case.state).unwrap(), &case);
        let laplace_term = LaplaceTerm::new(model, state);
        let given = (FrequencyPrior::given(&state.spectral), state.features.plain());
        let joint =
            Joint::new(model, &state.theta, &state.tau2, given, paths.as_ref()).with_laplace_term(&laplace_term);
        let plain = |q: &[f64]| {
            let state = scattered(&case, layout, q);
            ln_joint(&case.model, &state) - laplace_term.ln_freedom(state.features.h()).unwrap()
                + ln_volume(state.features.x(), case.model.frequencies()).unwrap()
        };
        check_potential(&mut Volume::new(joint, model), plain, (&here, &there), may_move, &case.name);
    }
}
