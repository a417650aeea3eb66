//! ln p(Y | F, θ): the direct form against the fast ones, and against the definition of a density.

use crate::fixtures::{FAMILIES, FIXED, LEARNED, single, with_moved_weights};
use crate::fixtures::{assert_same, case, cases, censored, in_column, ln_joint, mixed, setting};
use rflvm::internal::dist::normals;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Cells, Family, Row, Theta, Unit};
use rflvm::internal::model::{Model, ModelSpec, joint};
use rflvm::internal::observations::{Observations, Offset};

#[test]
fn likelihood_of_the_states_f_is_the_plain_one() {
    for case in cases() {
        let plain = joint::ln_likelihood(&case.model, &case.state);
        assert_same(case.model.ln_likelihood(&case.state), plain, &case.name);
    }
}

#[test]
fn fast_ln_lik_changes_as_the_joint_does() {
    for mut case in cases() {
        for j in (0..case.model.columns()).filter(|&j| case.model.is_free(j)) {
            let moved = with_moved_weights(&case.model, &case.state, j, &mut case.rng);
            let fast = case.model.ln_lik(&moved) - case.model.ln_lik(&case.state);
            let prior = joint::ln_weights(&case.model, &moved) - joint::ln_weights(&case.model, &case.state);
            let whole = ln_joint(&case.model, &moved) - ln_joint(&case.model, &case.state);
            assert_same(fast + prior, whole, &case.name);
        }
    }
}

#[test]
fn columns_see_the_prior_of_the_joint() {
    // The prior of the weights in a column's update (Column::precision and unit) is that of the joint.
    for case in cases() {
        let mut total = 0.0;
        for (b, block) in case.model.blocks().iter().enumerate() {
            for (local, j) in block.columns.clone().enumerate().filter(|&(_, j)| case.model.is_free(j)) {
                let scale = case.model.weight_scale(&case.state.theta, j);
                total += in_column(&case.model, &case.state, b, local, |column| {
                    let last = column.beta.len() - 1;
                    let of_weight = |(m, beta): (usize, &f64)| {
                        let centre = if m == last { column.unit.centre } else { 0.0 };
                        rflvm::internal::dist::ln_normal(*beta, centre, 1.0 / (column.precision[m] * scale))
                    };
                    column.beta.iter().enumerate().map(of_weight).sum::<f64>()
                });
            }
        }
        assert_same(total, joint::ln_weights(&case.model, &case.state), &case.name);
    }
}

#[test]
fn mixed_table_is_the_product_of_its_blocks() {
    // The table in its own order of columns, cut by hand into a model for each block.
    for holes in [false, true] {
        for amplitude in [FIXED, LEARNED] {
            let case = case("mixed", mixed(), setting(holes, amplitude), 5);
            let model = &case.model;
            let mut table = Mat::zeros(model.rows(), model.columns());
            for (c, &place) in model.order().iter().enumerate() {
                table.set_col(place, &model.y().col(c));
            }
            // The model of that table is the one from which it was taken.
            let again = Model::with_blocks(Observations::new(table.clone()).unwrap(), mixed(), model.spec().clone());
            let (again, bits) =
                (again.unwrap(), |y: &Mat| y.as_slice().iter().map(|v| v.to_bits()).collect::<Vec<_>>());
            assert_eq!(bits(again.y()), bits(model.y()));
            let mut total = 0.0;
            let mut start = 0;
            for (b, (columns, family)) in mixed().into_iter().enumerate() {
                let range = start..start + columns.len();
                start = range.end;
                let y = Mat::from_fn(table.rows(), columns.len(), |n, j| table[(n, columns[j])]);
                let data = Observations::new(y).unwrap().with_offset(Offset::Given(model.offset().to_vec())).unwrap();
                let local = (0..columns.len()).collect();
                // A model cannot have more latent dimensions than columns; the likelihood given F does not depend on them.
                let spec = ModelSpec { latent_dim: 1, ..model.spec().clone() };
                let part = Model::with_blocks(data, vec![(local, family)], spec).unwrap();
                for n in 0..model.rows() {
                    let block = &part.blocks()[0];
                    let row = part.row(block, n, &case.state.theta[b]);
                    total += block.family.ln_density(row, &case.state.f.row(n)[range.clone()]);
                }
            }
            assert_same(joint::ln_likelihood(model, &case.state), total, &case.name);
        }
    }
}

#[test]
fn a_missing_cell_says_nothing() {
    // The likelihood does not depend on f where a cell is missing.
    for case in cases() {
        for n in 0..case.model.rows() {
            let mut f = case.state.f.row(n).to_vec();
            let before = case.model.ln_lik_row(&case.state.theta, n, &f);
            (0..f.len()).filter(|&j| case.model.y()[(n, j)].is_nan()).for_each(|j| f[j] += 1.3);
            assert_same(case.model.ln_lik_row(&case.state.theta, n, &f), before, &case.name);
        }
    }
}

/// Σ_y p(y) and Σ_y y p(y) of the first column over all y, or the integral, for a given f and θ.
fn mass_and_mean(name: &str, f: f64, theta: &Theta) -> (f64, f64) {
    let (_, family) = single(name).remove(0);
    let density = |y: f64| family.ln_density(Row { n: 3, first: 0, y: &[y], theta }, &[f]).exp();
    let cells = family.about().unwrap().cells;
    if !cells.are_counts() {
        let place = |t: f64| if cells == Cells::Positive { (f + t).exp() } else { f + t.sinh() };
        let stretch = |t: f64| if cells == Cells::Positive { (f + t).exp() } else { t.cosh() };
        // ∫ by y = f + sinh(t), or y = e^(f + t) where y > 0: the trapezoidal rule is exact to rounding for such integrands.
        let step = 1e-3;
        let terms = (-14_000..=14_000).map(|i| {
            let t = f64::from(i) * step;
            let weight = step * stretch(t) * density(place(t));
            (weight, weight * place(t))
        });
        return terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1));
    }
    let top = match cells {
        Cells::Binary => 1,
        Cells::Trials => crate::fixtures::trials(3, 0) as u32,
        Cells::Levels => family.levels() as u32,
        _ => 3000,
    };
    let terms = (family.any_cell() as u32..=top).map(|y| (density(f64::from(y)), f64::from(y)));
    terms.fold((0.0, 0.0), |sum, (p, y)| (sum.0 + p, sum.1 + y * p))
}

#[test]
fn densities_have_mass_one_and_the_stated_mean() {
    for name in FAMILIES {
        let (_, family) = single(name).remove(0);
        if family.is_whole() {
            continue;
        }
        let unit = [Unit::new(0.3, 0.9)];
        for seed in 0..4 {
            let mut rng = rflvm::internal::rng::Stream::new(seed).rng();
            let mut theta = family.draw_prior(&unit, &mut rng);
            if name.ends_with("negative-binomial") {
                // For a small r the tail is too long to sum.
                theta.values[(0, 0)] += 0.5;
            }
            let f = normals(1, &mut rng)[0];
            let mut mean = [0.0];
            family.mean(Row { n: 3, first: 0, y: &[0.0], theta: &theta }, &[f], &mut mean);
            let (mass, first) = mass_and_mean(name, f, &theta);
            assert_same(mass, 1.0, name);
            assert_same(first, mean[0], name);
        }
    }
}

#[test]
fn multinomial_has_mass_one_and_the_stated_mean() {
    let (_, family) = single("multinomial").remove(0);
    let (f, theta, total) = ([0.4, -0.9, 0.2], Theta::none(3), 5_u32);
    let (mut mass, mut first, mut mean) = (0.0, [0.0; 3], [0.0; 3]);
    for a in 0..=total {
        for b in 0..=total - a {
            let y = [a, b, total - a - b].map(f64::from);
            let p = family.ln_density(Row { n: 0, first: 0, y: &y, theta: &theta }, &f).exp();
            mass += p;
            first.iter_mut().zip(y).for_each(|(m, y)| *m += y * p);
        }
    }
    family.mean(Row { n: 0, first: 0, y: &[2.0, 0.0, 3.0], theta: &theta }, &f, &mut mean);
    assert_same(mass, 1.0, "multinomial");
    first.iter().zip(mean).for_each(|(a, b)| assert_same(*a, b, "multinomial"));
}

#[test]
fn censored_cells_have_mass_one_and_the_stated_mean() {
    for is_logarithmic in [false, true] {
        let family = censored(4, is_logarithmic);
        let theta = Theta { values: Mat::from_fn(1, 4, |_, _| 1.7), hyper: Vec::new() };
        for (n, j) in (0..6).flat_map(|n| (0..4).map(move |j| (n, j))) {
            let [lower, upper] = family.limits.of(n, j);
            let f = 0.4;
            let row = |y: &[f64]| {
                let mut all = [f64::NAN; 4];
                all[j] = y[0];
                family.ln_density(Row { n, first: 0, y: &all, theta: &theta }, &[f; 4]).exp()
            };
            // At the limits, and between them by the trapezoidal rule in z.
            let step = 1e-4;
            let amount = |z: f64| if is_logarithmic { z.exp() } else { z };
            let inner = (-90_000..90_000).map(|i| (f64::from(i) + 0.5) * step);
            let [low, high] = [lower, upper].map(|limit| if is_logarithmic { limit.ln() } else { limit });
            let (mut mass, mut first) = (0.0, 0.0);
            for z in inner.filter(|z| *z > low && *z < high) {
                let weight = step * row(&[amount(z)]) * if is_logarithmic { amount(z) } else { 1.0 };
                mass += weight;
                first += weight * amount(z);
            }
            for limit in [lower, upper].into_iter().filter(|limit| limit.is_finite() && *limit != 0.0) {
                mass += row(&[limit]);
                first += limit * row(&[limit]);
            }
            let mut mean = [0.0; 4];
            family.mean(Row { n, first: 0, y: &[0.0; 4], theta: &theta }, &[f; 4], &mut mean);
            // The rule cuts a cell of width 1e-4 at each limit.
            assert!((mass - 1.0).abs() < 1e-4, "{n}, {j}: {mass}");
            assert!((first - mean[j]).abs() < 3e-4 * mean[j].abs().max(1.0), "{n}, {j}: {first}, {}", mean[j]);
        }
    }
}
