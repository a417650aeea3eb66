//! Effects of groups where they are known in closed form.

use super::*;
use crate::model::ModelSpec;
use crate::model::family::Poisson;
use crate::observations::Observations;
use crate::rng::Stream;

#[test]
fn counts_of_groups_are_met_wherever_the_map_is() {
    // The map is far too low, far too high, and the second group has no counts.
    let cell = |n: usize, j: usize| if n.is_multiple_of(2) { [40.0, 3.0, 2.0][j] } else { [80.0, 1.0, 0.0][j] };
    let data = Observations::new(Mat::from_fn(30, 3, cell)).unwrap();
    let model = Model::new(data, Poisson, ModelSpec { features: 4, ..ModelSpec::default() }).unwrap();
    let of: Vec<Option<usize>> = (0..30).map(|n| (n < 28).then_some(n % 2)).collect();
    let f = Mat::from_fn(30, 3, |n, j| [-1.0, 6.0, 0.5][j] + 0.1 * (n % 5) as f64);
    let theta = vec![Theta::none(3)];
    let effects = GroupEffects::of(&model, &theta, &f, &of, 2);
    for (g, j) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)] {
        let a = effects.groups[(g, j)];
        let rows = || (0..28).filter(|n| n % 2 == g);
        // The slope of the log posterior is zero.
        let slope: f64 = rows().map(|n| cell(n, j) - (f[(n, j)] + a).exp()).sum::<f64>() - a / 9.0;
        let curvature: f64 = rows().map(|n| (f[(n, j)] + a).exp()).sum::<f64>() + 1.0 / 9.0;
        assert!((slope / curvature).abs() < 1e-3, "{g} {j}: {a} {slope}");
        let rng = &mut Stream::new(2).rng();
        let draws: Vec<f64> = (0..4000).map(|_| effects.draw(rng)[(g, j)] - a).collect();
        let sd = (draws.iter().map(|d| d * d).sum::<f64>() / 4000.0).sqrt();
        assert!((sd * curvature.sqrt() - 1.0).abs() < 0.06, "{g} {j}: {sd} {}", curvature.sqrt().recip());
    }
}

#[test]
fn a_solution_and_draws_are_those_of_the_whole_matrix() {
    let mut curvature = Curvature::of_prior(2, 2, 0.5);
    for n in 0..9 {
        curvature.add(n % 2, &[(n as f64).sin(), 0.3 * n as f64 - 1.0], 1.0 + 0.1 * n as f64);
    }
    let whole = Mat::from_fn(4, 4, |i, k| match (i, k) {
        (i, k) if i < 2 && k < 2 => {
            if i == k {
                curvature.groups[i]
            } else {
                0.0
            }
        }
        (g, c) if g < 2 => curvature.cross[(g, c - 2)],
        (c, g) if g < 2 => curvature.cross[(g, c - 2)],
        (i, k) => curvature.covariates[(i - 2, k - 2)],
    });
    let factor = Cholesky::new(&whole, "test").unwrap();
    let (mut a, mut b) = (vec![1.0, -2.0], vec![0.5, 3.0]);
    let mut wanted = [a.clone(), b.clone()].concat();
    factor.solve(&mut wanted);
    curvature.solve(&mut a, &mut b);
    a.iter().chain(&b).zip(&wanted).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
    let inverse = factor.inverse();
    let rng = &mut Stream::new(3).rng();
    let mut squares = Mat::zeros(2, 2);
    for _ in 0..20_000 {
        let drawn = curvature.draw(rng);
        (0..4).for_each(|i| squares[(i / 2, i % 2)] += drawn[i / 2] * drawn[i % 2] / 20_000.0);
    }
    for i in 0..4 {
        let (found, wanted) = (squares[(i / 2, i % 2)], inverse[(i / 2, i % 2)]);
        assert!((found - wanted).abs() < 0.05 * inverse[(0, 0)], "{i}: {found} {wanted}");
    }
}
