use super::*;
use crate::dist::LN_SQRT_2PI;
use crate::dist::ln_sum_exp;
use crate::model::ModelSpec;
use crate::model::family::Trials;
use crate::simulate::{blank, draw_data, draw_prior};
use crate::spec::{FAMILIES, about, family};

fn drawn(name: &str, latent_dim: usize) -> (Model, State) {
    let trials = about(name).unwrap().cells.have_trials().then_some(Trials::Same(5));
    let spec = ModelSpec { latent_dim, features: 8, ..ModelSpec::default() };
    let mut model = blank(3, vec![(6, family(name, trials).unwrap())], 20, spec).unwrap();
    let state = draw_prior(&model, Stream::new(8).named(name)).unwrap();
    let y = draw_data(&model, &state, Stream::new(9).named(name));
    model.set_values(&y);
    (model, state)
}

/// ∫ p(y_n | x) N(x; 0, I) dx on a grid.
fn by_quadrature(density: &RowDensity<'_>, n: usize, dim: usize) -> f64 {
    let step: f64 = if dim == 1 { 0.002 } else { 0.03 };
    let half = (8.0 / step) as i64;
    let (mut values, mut scratch) = (Vec::new(), density.positions.scratch());
    for a in -half..=half {
        for b in if dim == 1 { 0..=0 } else { -half..=half } {
            let x: Vec<f64> = [a, b][..dim].iter().map(|&i| i as f64 * step).collect();
            let ln_likelihood = density.positions.ln_lik(n, &x, &mut scratch);
            let square: f64 = x.iter().map(|v| v * v).sum();
            values.push(ln_likelihood + density.positions.constant(n, &scratch) - 0.5 * square);
        }
    }
    ln_sum_exp(&values) + dim as f64 * (step.ln() - LN_SQRT_2PI)
}

/// The mean ratio of many estimates to the exact value is one, within four standard errors. Returns their largest deviation.
fn is_unbiased(name: &str, dim: usize) -> f64 {
    const COUNT: u64 = 400;
    let (model, state) = drawn(name, dim);
    let density = RowDensity::of_state(&model, &state);
    let deviation = |n: usize| {
        let exact = by_quadrature(&density, n, dim);
        let one = |i: u64| (density.ln(n, Stream::new(10).at(i)).unwrap() - exact).exp();
        let (mean, sd) = crate::posterior::spread::mean_and_sd(&(0..COUNT).map(one).collect::<Vec<_>>());
        assert!((mean - 1.0).abs() < 4.0 * sd / (COUNT as f64).sqrt() + 1e-6, "{name} row {n}: {mean} ± {sd}");
        sd
    };
    (0..model.rows()).map(deviation).fold(0.0, f64::max)
}

/// In one dimension a single estimate is accurate, too.
#[test]
fn the_integral_over_a_line_is_right_for_every_family() {
    for name in FAMILIES {
        let deviation = is_unbiased(name, 1);
        assert!(deviation < 0.6, "{name}: {deviation}");
    }
}

/// Six columns drawn from the prior leave a row several modes on a plane, more than are searched for: single estimates vary.
#[test]
fn the_integral_over_a_plane_is_right() {
    is_unbiased("poisson", 2);
    is_unbiased("multinomial", 2);
}
