//! ψ and its rates where axes have their own scales, and the rotation of the axes into each other.

use crate::fixtures::{Case, FIXED, assert_same, case, ln_joint, mixture, setting, single};
use rflvm::internal::dist::{gamma, ln_gamma_density, normals};
use rflvm::internal::linalg::{Mat, orthonormalise};
use rflvm::internal::model::State;
use rflvm::internal::model::spectral::{Kernel, Mixture, Scales};
use rflvm::internal::model::{axes, joint};
use rflvm::internal::steps::relevance;

/// √ψ_d ~ half-Cauchy(1.4).
fn learned() -> Mixture {
    Mixture { scales: Scales::Learned(1.4), ..mixture() }
}

fn example(dim: usize, seed: u64) -> Case {
    let setting = crate::fixtures::Setting { dim, kernel: Kernel::Learned(learned()), ..setting(false, FIXED) };
    case("poisson", single("poisson"), setting, seed)
}

#[test]
fn scales_match_the_joint() {
    for seed in 0..5 {
        let mut case = example(3, seed);
        for d in 0..3 {
            let mut new = case.state.clone();
            new.spectral.psi[d] = gamma(2.0, 1.0, &mut case.rng);
            let (shape, rate) = relevance::conditional(&learned(), &case.state.spectral, d);
            let ln = |state: &State| ln_gamma_density(state.spectral.psi[d], shape, rate);
            let joint = ln_joint(&case.model, &new) - ln_joint(&case.model, &case.state);
            assert_same(ln(&new) - ln(&case.state), joint, "ψ");
            let mut new = case.state.clone();
            new.spectral.psi_rate[d] = gamma(2.0, 1.0, &mut case.rng);
            let rate = 1.4 * 1.4 + case.state.spectral.psi[d];
            let ln = |state: &State| ln_gamma_density(state.spectral.psi_rate[d], 1.0, rate);
            let joint = ln_joint(&case.model, &new) - ln_joint(&case.model, &case.state);
            assert_same(ln(&new) - ln(&case.state), joint, "r");
        }
    }
}

#[test]
fn roots_of_scales_are_half_cauchy() {
    // With r integrated out, p(ψ) = s / (π √ψ (ψ + s²)): by summing the joint's two gammas over a fine grid of ln r.
    let scale: f64 = 1.4;
    for psi in [0.01, 0.3, 2.0, 40.0] {
        let (step, from): (f64, f64) = (0.01, -40.0);
        let cell = |i: i32| {
            let ln_rate = from + step * f64::from(i);
            let rate = ln_rate.exp();
            step * (ln_rate + ln_gamma_density(psi, 0.5, rate) + ln_gamma_density(rate, 0.5, scale * scale)).exp()
        };
        let sum: f64 = (0..6000).map(cell).sum();
        assert_same(sum, scale / (std::f64::consts::PI * psi.sqrt() * (psi + scale * scale)), "half-Cauchy");
    }
}

/// A random rotation or reflection.
fn rotation(case: &mut Case, dim: usize) -> Mat {
    let mut basis = Mat::from_vec(dim, dim, normals(dim * dim, &mut case.rng));
    orthonormalise(&mut basis);
    basis
}

#[test]
fn a_turn_changes_the_joint_by_the_traces_alone() {
    for seed in 0..5 {
        let mut case = example(3, seed);
        let rotation = rotation(&mut case, 3);
        let mut moved = case.state.clone();
        relevance::rotate(&mut moved, &rotation).unwrap();
        let mut fresh = moved.clone();
        fresh.refresh(&case.model);
        fresh.f.as_slice().iter().zip(case.state.f.as_slice()).for_each(|(new, old)| assert_same(*new, *old, "F"));
        let positions = |state: &State| joint::ln_positions(&case.model, state).unwrap();
        assert_same(positions(&moved), positions(&case.state), "X");
        let trace = |state: &State| -> f64 {
            let of_cluster = |precision: Mat| (0..3).map(|d| state.spectral.psi[d] * precision[(d, d)]).sum::<f64>();
            -0.5 * state.spectral.clusters.iter().map(|c| of_cluster(c.precision())).sum::<f64>()
        };
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert!(joint.abs() > 1e-3, "nothing moved");
        assert_same(trace(&moved) - trace(&case.state), joint, "turn");
    }
}

#[test]
fn information_is_the_same_for_turned_axes_and_that_of_differences() {
    let mut case = example(3, 7);
    let told = axes::information(&case.model, &case.state);
    assert!(told.is_sorted_by(|a, b| a >= b) && told[2] >= 0.0);
    let mut moved = case.state.clone();
    relevance::rotate(&mut moved, &rotation(&mut case, 3)).unwrap();
    moved.refresh(&case.model);
    told.iter().zip(axes::information(&case.model, &moved)).for_each(|(a, b)| assert!((a - b).abs() < 1e-6 * told[0]));
    // The trace: a Poisson cell's information is e^f, and slopes come from differences of F.
    let (rows, columns) = (case.model.rows(), case.model.columns());
    let mut trace = 0.0;
    for d in 0..3 {
        let slopes = |sign: f64| {
            let (mut state, step) = (case.state.clone(), 1e-5 * sign);
            let x = state.features.x();
            let x = Mat::from_fn(rows, 3, |n, e| x[(n, e)] + if e == d { step } else { 0.0 });
            let w = state.features.w().clone();
            state.features.set(x.as_slice(), w.as_slice());
            state.refresh(&case.model);
            state.f
        };
        let (up, down) = (slopes(1.0), slopes(-1.0));
        for n in 0..rows {
            for j in 0..columns {
                let slope = (up[(n, j)] - down[(n, j)]) / 2e-5;
                trace += case.state.f[(n, j)].exp() * slope * slope / rows as f64;
            }
        }
    }
    let ours: f64 = told.iter().sum();
    // The family's information is itself a difference, one thousandth wide.
    assert!((ours / trace - 1.0).abs() < 2e-3, "{ours} {trace}");
}
