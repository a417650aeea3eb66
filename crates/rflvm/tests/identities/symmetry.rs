//! Moves that leave F unchanged: the translation, and the stretch of an axis with its Jacobian.

use crate::fixtures::{
    Case, FIXED, RBF, Setting, assert_same, case, cases, gap, ln_joint, setting, single, timed_cases,
};
use rflvm::internal::dist::cluster::Cluster;
use rflvm::internal::dist::{ln_normal, normals};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::latent::{Axis, TimeSpec};
use rflvm::internal::model::{Model, State, joint};
use rflvm::internal::rng::Stream;
use rflvm::internal::steps::{relevance, symmetry};

fn all_cases() -> impl Iterator<Item = Case> {
    cases().into_iter().chain(timed_cases())
}

/// The stored F and a recomputed F both equal the previous one.
#[track_caller]
fn assert_same_f(model: &Model, before: &State, after: &State) {
    let mut fresh = after.clone();
    fresh.refresh(model);
    for (old, new) in before.f.as_slice().iter().zip(fresh.f.as_slice()) {
        assert_same(*new, *old, "F");
    }
    assert_eq!(before.f.as_slice(), after.f.as_slice());
}

#[test]
fn translation_changes_the_joint_by_the_positions_alone() {
    for mut case in all_cases() {
        let mut moved = case.state.clone();
        symmetry::shift(&case.model, &mut moved, &normals(case.model.latent_dim(), &mut case.rng));
        assert_same_f(&case.model, &case.state, &moved);
        let weights = |state: &State| joint::ln_weights(&case.model, state);
        let taken_up = weights(&moved) - weights(&case.state);
        // Only a linear part leaves something for the intercepts.
        assert_eq!(taken_up.abs() > 1e-6, case.model.has_linear(), "{}: {taken_up}", case.name);
        let ln_positions = |state: &State| joint::ln_positions(&case.model, state).unwrap();
        let positions = ln_positions(&moved) - ln_positions(&case.state);
        assert!(positions.abs() > 1e-3, "{}: nothing moved", case.name);
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(joint, positions + taken_up, &case.name);
    }
}

#[test]
fn translation_has_the_stated_conditional() {
    // c ~ N(−x̄, I/N) is the joint of the shifted state.
    for mut case in cases().into_iter().filter(|case| !case.model.has_linear()) {
        let x = case.state.features.x();
        let rows = x.rows() as f64;
        let ln = |c: &[f64]| -> f64 {
            let centre = |d: usize| -x.col(d).iter().sum::<f64>() / rows;
            c.iter().enumerate().map(|(d, c)| ln_normal(*c, centre(d), 1.0 / rows)).sum()
        };
        let c = normals(x.cols(), &mut case.rng);
        let mut moved = case.state.clone();
        symmetry::shift(&case.model, &mut moved, &c);
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same(ln(&c) - ln(&vec![0.0; c.len()]), joint, &case.name);
    }
}

#[test]
fn translation_along_time_has_the_precision_of_the_paths() {
    // ln p of the shifted state, as a function of c, is a parabola: its curvature is 1ᵀC⁻¹1, its top the mean of the draw.
    for case in timed_cases().into_iter().filter(|case| !case.model.has_linear()) {
        let paths = case.model.paths(&case.state).unwrap().unwrap();
        let x = case.state.features.x().clone();
        let at = |d: usize, c: f64| {
            let mut shift = vec![0.0; x.cols()];
            shift[d] = c;
            let mut moved = case.state.clone();
            symmetry::shift(&case.model, &mut moved, &shift);
            ln_joint(&case.model, &moved)
        };
        for d in 0..x.cols() {
            let precision = paths.product(d, |_| 1.0, |_| 1.0);
            let mean = -paths.product(d, |_| 1.0, |n| x[(n, d)]) / precision;
            let ln = |c: f64| ln_normal(c, mean, 1.0 / precision);
            assert_same(at(d, 0.6) - at(d, -0.3), ln(0.6) - ln(-0.3), &case.name);
        }
    }
}

#[test]
fn translation_of_a_linear_part_has_the_stated_conditional() {
    // ln p of the shifted state is −½cᵀPc + cᵀPm up to a constant.
    for mut case in all_cases().filter(|case| case.model.has_linear()) {
        let paths = case.model.paths(&case.state).unwrap();
        let (pull, precision) = symmetry::translation(&case.model, &case.state, paths.as_ref());
        let c = normals(case.model.latent_dim(), &mut case.rng);
        let along = |d: usize| c[d] * (pull[d] - 0.5 * (0..c.len()).map(|e| precision[(d, e)] * c[e]).sum::<f64>());
        let mut moved = case.state.clone();
        symmetry::shift(&case.model, &mut moved, &c);
        let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
        assert_same((0..c.len()).map(along).sum(), joint, &case.name);
    }
}

#[test]
fn translation_lands_where_it_would_from_anywhere() {
    // An exact draw of c forgets its start: from a shifted state the same random numbers lead to the same X.
    for case in all_cases() {
        let paths = case.model.paths(&case.state).unwrap();
        let (mut here, mut there) = (case.state.clone(), case.state.clone());
        symmetry::shift(&case.model, &mut there, &vec![0.9; case.model.latent_dim()]);
        for state in [&mut here, &mut there] {
            symmetry::translate(&case.model, state, paths.as_ref(), &mut Stream::new(4).rng()).unwrap();
        }
        let pairs = here.features.x().as_slice().iter().zip(there.features.x().as_slice());
        pairs.for_each(|(a, b)| assert_same(*a, *b, &case.name));
        let pairs = here.beta.as_slice().iter().zip(there.beta.as_slice());
        pairs.for_each(|(a, b)| assert_same(*a, *b, &case.name));
    }
}

/// The slopes of a linear part, in the memory of β.
fn slopes(model: &Model) -> std::ops::Range<usize> {
    model.linear().start * model.columns()..model.linear().end * model.columns()
}

/// Everything that a stretch moves: X, W and the slopes of a linear part, and for a learned kernel μ_k and the upper triangles of Σ_k.
fn coordinates(model: &Model, state: &State, is_learned: bool) -> Vec<f64> {
    let b = &state.beta.as_slice()[slopes(model)];
    let mut all = [state.features.x().as_slice(), state.features.w().as_slice(), b].concat();
    if is_learned {
        state.spectral.clusters.iter().for_each(|c| all.extend(&c.mu));
        for cluster in &state.spectral.clusters {
            let dim = cluster.mu.len();
            (0..dim).for_each(|i| all.extend((i..dim).map(|j| cluster.sigma[(i, j)])));
        }
    }
    all
}

/// The state with these coordinates.
fn with_coordinates(model: &Model, state: &State, is_learned: bool, all: &[f64]) -> State {
    let mut moved = state.clone();
    let (x, rest) = all.split_at(state.features.x().as_slice().len());
    let (w, rest) = rest.split_at(state.features.w().as_slice().len());
    let (b, rest) = rest.split_at(slopes(model).len());
    moved.features.set(x, w);
    moved.beta.as_mut_slice()[slopes(model)].copy_from_slice(b);
    if is_learned {
        let dim = state.features.x().cols();
        let (means, triangles) = rest.split_at(state.spectral.count() * dim);
        let parts = means.chunks(dim).zip(triangles.chunks(dim * (dim + 1) / 2));
        for (cluster, (mu, triangle)) in moved.spectral.clusters.iter_mut().zip(parts) {
            let mut sigma = Mat::zeros(dim, dim);
            let places = (0..dim).flat_map(|i| (i..dim).map(move |j| (i, j)));
            for ((i, j), value) in places.zip(triangle) {
                (sigma[(i, j)], sigma[(j, i)]) = (*value, *value);
            }
            *cluster = Cluster::new(mu.to_vec(), sigma).unwrap();
        }
    }
    moved
}

/// ln |det| by elimination with pivoting.
fn ln_det(mut a: Mat) -> f64 {
    let n = a.rows();
    let mut total = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&p, &q| a[(p, k)].abs().total_cmp(&a[(q, k)].abs())).unwrap();
        for j in 0..n {
            (a[(k, j)], a[(pivot, j)]) = (a[(pivot, j)], a[(k, j)]);
        }
        total += a[(k, k)].abs().ln();
        for i in k + 1..n {
            let factor = a[(i, k)] / a[(k, k)];
            for j in k..n {
                a[(i, j)] -= factor * a[(k, j)];
            }
        }
    }
    total
}

/// ∂(stretched coordinates)/∂(coordinates). The stretch is linear, so a difference quotient has only rounding error.
fn jacobian(case: &Case, is_learned: bool, d: usize, u: f64) -> Mat {
    const STEP: f64 = 1e-4;
    let here = coordinates(&case.model, &case.state, is_learned);
    let stretched = |all: &[f64]| {
        let mut state = with_coordinates(&case.model, &case.state, is_learned, all);
        symmetry::stretch(&case.model, &mut state, d, u).unwrap();
        coordinates(&case.model, &state, is_learned)
    };
    let base = stretched(&here);
    let mut jacobian = Mat::zeros(here.len(), here.len());
    for i in 0..here.len() {
        let mut moved = here.clone();
        moved[i] += STEP;
        let column: Vec<f64> = stretched(&moved).iter().zip(&base).map(|(a, b)| (a - b) / STEP).collect();
        jacobian.set_col(i, &column);
    }
    jacobian
}

fn stretch_cases() -> Vec<(Case, bool)> {
    let mut found = Vec::new();
    for dim in [2, 3] {
        for kernel in [setting(false, FIXED).kernel, RBF] {
            let is_learned = kernel != RBF;
            let setting = Setting { dim, kernel, ..setting(true, FIXED) };
            let timed = Setting { time: Some(TimeSpec::default()), ..setting.clone() };
            let linear = Setting { plain: true, ..setting.clone() };
            let both = Setting { plain: true, ..timed.clone() };
            for setting in [setting, timed, linear, both] {
                found.push((case("poisson", single("poisson"), setting, 30 + dim as u64), is_learned));
            }
        }
    }
    found
}

#[test]
fn stretch_matches_the_joint_and_its_jacobian() {
    for (case, is_learned) in stretch_cases() {
        for d in 0..case.model.latent_dim() {
            for u in [-0.4, 0.25] {
                let mut moved = case.state.clone();
                symmetry::stretch(&case.model, &mut moved, d, u).unwrap();
                assert_same_f(&case.model, &case.state, &moved);
                let x = case.state.features.x();
                let square: f64 = (0..x.rows()).map(|n| x[(n, d)].powi(2)).sum();
                let scaled = |u: f64| match case.model.dynamics() {
                    None => -0.5 * (2.0 * u).exp() * square + symmetry::ln_stretched(&case.model, &case.state, d, u),
                    Some(dynamics) => symmetry::ln_path_scaled(&case.model, &case.state, dynamics, d, u).unwrap(),
                };
                // The joint has the density of a path's scales; the move has that of their coordinates.
                let mut in_coordinates = 0.0;
                if let Some(dynamics) = case.model.dynamics() {
                    let (prior, old) = (dynamics.prior(), case.state.axes[d]);
                    moved.axes[d] = prior.louder(&old, u);
                    let rest = |axis: &Axis| prior.ln_coordinates(axis) - prior.ln_density(axis);
                    in_coordinates = rest(&moved.axes[d]) - rest(&old);
                }
                let joint = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state) + in_coordinates;
                let volume = ln_det(jacobian(&case, is_learned, d, u));
                assert!(gap(scaled(u) - scaled(0.0), joint + volume) < 1e-7, "{}, axis {d}, u = {u}", case.name);
                // By counting: X has N coordinates on the axis, W has L, b has J, μ_k one, and Σ_k counts D + 1.
                let (n, l) = (case.model.rows() as f64, case.model.frequencies() as f64);
                let of_clusters = case.state.spectral.count() as f64 * (case.model.latent_dim() as f64 + 2.0);
                let slopes = if case.model.has_linear() { case.model.columns() as f64 } else { 0.0 };
                let count = n - l - slopes - if is_learned { of_clusters } else { 0.0 };
                assert_same(scaled(u) - scaled(0.0), joint + count * u, &case.name);
            }
        }
    }
}

#[test]
fn a_covariance_counts_one_more_than_the_dimension() {
    // The stretch of Σ's upper triangle by e^−u on one axis: D − 1 entries once and one entry twice, e^{−(D+1)u}.
    for (case, _) in stretch_cases().into_iter().filter(|(_, is_learned)| *is_learned) {
        let dim = case.model.latent_dim();
        let entries = case.state.spectral.count() * dim * (dim + 1) / 2;
        for d in 0..dim {
            let all = jacobian(&case, true, d, 0.7);
            let start = all.rows() - entries;
            let of_sigma = Mat::from_fn(entries, entries, |i, j| all[(start + i, start + j)]);
            let expected = -0.7 * ((dim + 1) * case.state.spectral.count()) as f64;
            assert!(gap(ln_det(of_sigma), expected) < 1e-7, "{}", case.name);
        }
    }
}

#[test]
fn rotation_leaves_the_joint_alone() {
    // Ψ0 ∝ I and μ0 = 0: rotating X, W and the clusters together changes nothing, which alignment relies on.
    for case in cases().into_iter().filter(|case| !case.model.has_linear()) {
        let (sin, cos) = 0.7_f64.sin_cos();
        let turn = Mat::from_vec(2, 2, vec![cos, -sin, sin, cos]);
        let turned =
            |v: &[f64]| vec![turn[(0, 0)] * v[0] + turn[(0, 1)] * v[1], turn[(1, 0)] * v[0] + turn[(1, 1)] * v[1]];
        let rows = |m: &Mat| m.iter_rows().flat_map(turned).collect::<Vec<f64>>();
        let mut moved = case.state.clone();
        moved.features.set(&rows(case.state.features.x()), &rows(case.state.features.w()));
        for cluster in &mut moved.spectral.clusters {
            let half = Mat::from_vec(2, 2, rows(&cluster.sigma)).transposed();
            *cluster = Cluster::new(turned(&cluster.mu), Mat::from_vec(2, 2, rows(&half))).unwrap();
        }
        assert_same(ln_joint(&case.model, &moved), ln_joint(&case.model, &case.state), &case.name);
    }
}

#[test]
fn slopes_turn_with_the_positions() {
    for case in cases().into_iter().filter(|case| case.model.has_linear()) {
        let (sin, cos) = 0.7_f64.sin_cos();
        let mut moved = case.state.clone();
        relevance::rotate(&mut moved, &Mat::from_vec(2, 2, vec![cos, -sin, sin, cos])).unwrap();
        assert_same_f(&case.model, &case.state, &moved);
        assert_same(ln_joint(&case.model, &moved), ln_joint(&case.model, &case.state), &case.name);
    }
}
