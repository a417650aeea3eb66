//! Column processes: β_j and the path together, the scales with the path integrated out, and everything else given the paths.

use crate::fixtures::{Case, assert_same, column_process_cases, in_column, near};
use rflvm::internal::dist::ln_normal;
use rflvm::internal::model::joint;
use rflvm::internal::model::{Model, State};
use rflvm::internal::rng::StreamRng;
use rflvm::internal::steps::column_process::{Scales, weights_without_path};

/// The Gaussian cases, with each of their Gaussian columns.
fn gaussian_columns() -> Vec<(Case, usize, usize)> {
    let mut found = Vec::new();
    for case in column_process_cases() {
        let place = case.model.blocks().iter().position(|block| block.family.as_gaussian().is_some());
        if let Some(b) = place {
            found.push((case, b, 1));
        }
    }
    assert!(found.len() >= 8);
    found
}

/// ln p(Y, β, G, s², ℓ, θ), with respect to the paths themselves.
fn ln_joint(model: &Model, state: &State) -> f64 {
    let whitened = joint::ln_column_process(model, state, true);
    joint::ln_joint(model, state).unwrap() - whitened + joint::ln_column_process(model, state, false)
}

/// A cell of column j as a Gaussian column has it.
fn response(model: &Model, j: usize, y: f64) -> f64 {
    let is_of = |block: &&rflvm::internal::model::Block| block.columns.contains(&j);
    let is_logarithmic = model.blocks().iter().find(is_of).is_some_and(|block| block.family.is_logarithmic());
    if is_logarithmic { y.ln() } else { y }
}

/// Residuals without the path and variances of the noise of a Gaussian column, zero and infinite where missing.
fn seen(model: &Model, state: &State, j: usize) -> (Vec<f64>, Vec<f64>) {
    let noise = 1.0 / model.weight_scale(&state.theta, j);
    let cells = model.y().col(j).into_iter().enumerate();
    let of = |(n, y): (usize, f64)| match y.is_nan() {
        true => (0.0, f64::INFINITY),
        false => (response(model, j, y) - state.f[(n, j)] + state.column_process.g[(n, j)], noise),
    };
    cells.map(of).unzip()
}

/// ln p(g_j | y_j, β_j, s_j, ℓ_j, σ_j²) by Bayes: the path's prior and the cells' density, over the filter's density.
fn ln_path(model: &Model, state: &State, j: usize) -> f64 {
    let (law, own) = (model.column_process().unwrap(), state.column_process.scales[j]);
    let (path, amplitude) = (law.path(own.length_scale), own.amplitude(&model.units()[j]));
    let ((r, variance), g) = (seen(model, state, j), state.column_process.g.col(j));
    let cells = r.iter().zip(&variance).zip(&g).filter(|((_, v), _)| v.is_finite());
    let of_cells: f64 = cells.map(|((r, v), g)| ln_normal(*r, *g, *v)).sum();
    path.ln_density(amplitude, &g) + of_cells - path.through(amplitude, &variance).ln_density(&r)
}

/// The state with another path of column j, of the same kind.
fn with_moved_path(model: &Model, state: &State, j: usize, rng: &mut StreamRng) -> State {
    let mut moved = state.clone();
    let (law, own) = (model.column_process().unwrap(), moved.column_process.scales[j]);
    let drawn = law.path(own.length_scale).draw(own.amplitude(&model.units()[j]), rng);
    moved.column_process.g.set_col(j, &drawn);
    moved.refresh(model);
    moved
}

#[test]
fn f_is_the_sum_of_offsets_weights_and_paths() {
    for Case { name, model, state, .. } in column_process_cases() {
        assert!(state.column_process.g.as_slice().iter().any(|g| g.abs() > 0.1), "{name}");
        assert_same(model.ln_likelihood(&state), joint::ln_likelihood(&model, &state), &name);
        let without = State { column_process: Default::default(), ..state.clone() };
        assert!((joint::ln_likelihood(&model, &without) - model.ln_likelihood(&state)).abs() > 1e-3, "{name}");
    }
}

#[test]
fn weights_and_path_are_drawn_together() {
    for (Case { name, model, state, mut rng }, b, local) in gaussian_columns() {
        let j = model.blocks()[b].columns.start + local;
        let ln = |state: &State| {
            let (law, own) = (model.column_process().unwrap(), state.column_process.scales[j]);
            let path = law.path(own.length_scale);
            let (_, variance) = seen(&model, state, j);
            let through = path.through(own.amplitude(&model.units()[j]), &variance);
            in_column(&model, state, b, local, |column| {
                let known = |n: usize| column.offset[n] - state.column_process.g[(n, j)];
                let y = |n: usize| response(&model, j, column.y[n]);
                let rest = |n: usize| if column.y[n].is_nan() { 0.0 } else { y(n) - known(n) };
                let r: Vec<f64> = (0..column.y.len()).map(rest).collect();
                let (h, r) = (through.whiten_rows(column.h), through.whiten(&r));
                let scale = model.weight_scale(&state.theta, j);
                weights_without_path(column, scale, &h, &r).unwrap().ln_density(&column.beta)
            }) + ln_path(&model, state, j)
        };
        let mut moved = with_moved_path(&model, &state, j, &mut rng);
        let beta = near(&state.beta.col(j), 0.6, &mut rng);
        moved.beta.set_col(j, &beta);
        moved.refresh(&model);
        let joint = ln_joint(&model, &moved) - ln_joint(&model, &state);
        assert_same(ln(&moved) - ln(&state), joint, &name);
    }
}

#[test]
fn scales_are_drawn_with_the_path_integrated_out() {
    for (Case { name, model, state, mut rng }, b, local) in gaussian_columns() {
        let j = model.blocks()[b].columns.start + local;
        let (law, unit) = (model.column_process().unwrap(), model.units()[j].scale);
        let ln = |state: &State| {
            let (r, variance) = seen(&model, state, j);
            let precision = model.weight_scale(&state.theta, j);
            let noise = in_column(&model, state, b, local, |column| {
                let prior = model.blocks()[b].family.noise_prior(column.hyper, &column.unit).unwrap();
                let rate = prior.rate + 0.5 * column.weighted_square();
                [prior.shape + 0.5 * column.beta.len() as f64, rate / unit.powi(2)]
            });
            let scales = Scales {
                law: &law,
                r: r.iter().map(|r| r / unit).collect(),
                variance: variance.iter().map(|v| v / unit.powi(2)).collect(),
                precision: precision * unit.powi(2),
                noise: Some(noise),
            };
            let own = state.column_process.scales[j];
            let at = [own.share.ln(), own.length_scale.ln(), scales.precision.ln()];
            // The joint is a density of the precision, not of its logarithm.
            scales.ln(at) - precision.ln() + ln_path(&model, state, j)
        };
        let mut moved = state.clone();
        let at = near(&[0.0; 3], 0.5, &mut rng);
        moved.column_process.scales[j].share *= at[0].exp();
        moved.column_process.scales[j].length_scale *= at[1].exp();
        moved.theta[b].values[(0, local)] *= at[2].exp();
        moved = with_moved_path(&model, &moved, j, &mut rng);
        let joint = ln_joint(&model, &moved) - ln_joint(&model, &state);
        assert_same(ln(&moved) - ln(&state), joint, &name);
    }
}
