//! s, the scale of the linear part: with its slopes held, with their products held, and with all weights integrated out.

use crate::fixtures::{
    FIXED, LEARNED, SHARED, Setting, assert_same, case, cases, ln_joint, setting, single, timed_cases,
};
use rflvm::internal::dist::normal;
use rflvm::internal::model::collapsed::CollapsedData;
use rflvm::internal::model::joint;
use rflvm::internal::steps::amplitudes::ln_centred;
use rflvm::internal::steps::linear;

#[test]
fn with_slopes_held_it_matches_the_joint() {
    for mut case in cases().into_iter().chain(timed_cases()).filter(|case| case.model.has_linear()) {
        let u = 2.0 * case.state.features.plain().s().ln();
        let v = u + 0.7 * normal(&mut case.rng);
        let ln = |v: f64| linear::ln_held(&case.model, &case.state, v);
        let mut moved = case.state.clone();
        moved.features.set_s((0.5 * v).exp());
        moved.refresh(&case.model);
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(ln(v) - ln(u), joint, &case.name);
    }
}

#[test]
fn with_products_held_it_matches_the_joint_and_its_jacobian() {
    for mut case in cases().into_iter().chain(timed_cases()).filter(|case| case.model.has_linear()) {
        let u = 2.0 * case.state.features.plain().s().ln();
        let v = u + 0.7 * normal(&mut case.rng);
        let (count, square) = linear::weights(&case.model, &case.state);
        let free = (0..case.model.columns()).filter(|&j| case.model.is_free(j)).count();
        assert_eq!(count, (free * case.model.latent_dim()) as f64);
        let ln = |v: f64| ln_centred(case.model.spec().priors.linear, count, square, v);
        let mut moved = case.state.clone();
        linear::rescale(&case.model, &mut moved, v);
        moved.refresh(&case.model);
        for (old, new) in case.state.f.as_slice().iter().zip(moved.f.as_slice()) {
            assert_same(*new, *old, "F");
        }
        // Each slope shrinks by the factor e^{(u − v)/2}.
        let jacobian = 0.5 * (u - v) * count;
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(ln(v) - ln(u), joint + jacobian, &case.name);
    }
}

#[test]
fn with_weights_integrated_out_it_is_the_collapsed_joint() {
    for amplitude in [FIXED, LEARNED, SHARED] {
        let setting = Setting { plain: true, ..setting(false, amplitude) };
        let case = case("gaussian", single("gaussian"), setting, 22);
        let (target, plain) = (CollapsedData::new(&case.model, &case.state.theta), case.state.features.plain());
        let evidence = target.along_s(case.state.features.h(), case.model.linear(), plain.s(), &case.state.tau2);
        let directly = |s: f64| {
            let mut moved = case.state.clone();
            moved.features.set_s(s);
            target.ln_marginal(moved.features.h(), &moved.tau2).unwrap()
        };
        for s in [0.2, 3.0] {
            let along = evidence.ln(s, &case.state.tau2) - evidence.ln(plain.s(), &case.state.tau2);
            assert_same(along, directly(s) - directly(plain.s()), &case.name);
        }
    }
}

#[test]
fn its_prior_is_in_the_joint() {
    for case in cases() {
        let prior = joint::ln_linear(&case.model, &case.state);
        assert_eq!(prior != 0.0, case.model.has_linear(), "{}", case.name);
    }
}
