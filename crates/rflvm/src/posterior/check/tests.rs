//! Statistics computed by hand, and a table that its model could not have generated.

use super::*;
use crate::dist::normals;
use crate::model::family::{Family, Gaussian, Multinomial, Poisson, Theta};
use crate::model::{Block, ModelSpec};
use crate::simulate::{blank, draw_data, draw_prior};
use std::sync::Arc;

fn computed(
    statistic: Statistic,
    y: &Mat,
    family: Arc<dyn Family>,
    columns: std::ops::Range<usize>,
    theta: &Theta,
) -> f64 {
    let f = Mat::from_fn(y.rows(), y.cols(), |n, j| (n + j) as f64 * 0.5);
    statistic::value(statistic, &Sample { y, f: &f, theta, block: &Block { columns, family }, other: None })
}

#[test]
fn statistics_are_what_they_say_and_skip_holes_and_other_blocks() {
    let hole = f64::NAN;
    let y = Mat::from_vec(3, 3, vec![99.0, 0.0, 2.0, 99.0, 4.0, hole, 99.0, 2.0, 0.0]);
    let of = |statistic| computed(statistic, &y, Arc::new(Poisson), 1..3, &Theta::none(2));
    let close = |statistic, expected: f64| {
        let found = of(statistic);
        assert!((found - expected).abs() < 1e-12, "{}: {found} for {expected}", statistic.name());
    };
    close(Statistic::Zeros, 2.0 / 5.0);
    close(Statistic::Largest, 4.0);
    // Columns 0 4 2 and 2 0: variances 8/3 and 1, means 2 and 1.
    close(Statistic::VarianceToMean, (4.0 / 3.0 + 1.0) / 2.0);
    // Row means 1, 4, 1.
    close(Statistic::RowMeans, 2.0_f64.sqrt());
    close(Statistic::RowTotals, 2.0 * 2.0_f64.sqrt());
    close(Statistic::ColumnMeans, 0.5);
    close(Statistic::Entropy, 0.0);
    let theta = Theta { values: Mat::from_vec(1, 2, vec![4.0, 1.0]), hyper: Vec::new() };
    let of = |statistic| computed(statistic, &y, Arc::new(Gaussian::default()), 1..3, &theta);
    // f is ½ 1, 1 ·, 1½ 2; residuals times √precision −1 1, 6 ·, 1 −2.
    assert!((of(Statistic::LargestResidual) - 6.0).abs() < 1e-12);
    let mean = 1.0;
    let (second, fourth) = [-1.0, 1.0, 6.0, 1.0, -2.0]
        .iter()
        .fold((0.0, 0.0), |(s, q), r: &f64| (s + (r - mean).powi(2) / 5.0, q + (r - mean).powi(4) / 5.0));
    assert!((of(Statistic::Kurtosis) - fourth / (second * second)).abs() < 1e-12);
}

/// Two categories with one answer per row: 3 rows of each of two pairs of answers, and one that breaks the rule; the row with a hole does not count.
#[test]
fn the_association_of_two_categories_is_cramers_v() {
    let family = || Arc::new(Multinomial) as Arc<dyn Family>;
    let mut answers = vec![(0, 0); 3];
    answers.extend([(1, 1), (1, 1), (1, 1), (0, 1)]);
    let y = Mat::from_fn(8, 5, |n, j| match answers.get(n) {
        None => f64::NAN,
        Some(&(a, b)) => f64::from(u8::from(if j < 2 { j == a } else { j - 2 == b })),
    });
    let block = |columns| Block { columns, family: family() };
    // χ²/n of the table 3 1 | 0 3 is (3·3 − 1·0)²/(4·3·3·4).
    let v = statistic::association(&y, &block(0..2), &block(2..5));
    assert!((v - (81.0_f64 / 144.0).sqrt()).abs() < 1e-12, "{v}");
    // Compositions have no association.
    let doubled = Mat::from_fn(8, 5, |n, j| 2.0 * y[(n, j)]);
    assert!(statistic::association(&doubled, &block(0..2), &block(2..5)).is_nan());
}

/// Three categories of which the first two always agree: under parameters that know nothing of it, their association is not reproduced.
#[test]
fn a_relation_of_categories_that_the_model_does_not_know_is_seen() {
    let spec = ModelSpec { features: 4, ..ModelSpec::default() };
    let blocks = (0..3).map(|_| (2, Arc::new(Multinomial) as Arc<dyn Family>)).collect();
    let mut model = blank(60, blocks, 1, spec).unwrap();
    let mut truth = draw_prior(&model, Stream::new(2)).unwrap();
    truth.beta.as_mut_slice().fill(0.0);
    let answer = |n: usize, block: usize| if block < 2 { n % 2 } else { usize::from(n * n % 13 < 6) };
    model.set_values(&Mat::from_fn(60, 6, |n, j| f64::from(u8::from(answer(n, j / 2) == j % 2))));
    let mut checks = Checks::new(&model);
    (0..200).for_each(|i| checks.add(&Parameters::from(&truth), Stream::new(4).at(i)));
    let pairs: Vec<Check> = checks.finish().into_iter().filter(|c| c.statistic == Statistic::Association).collect();
    let of = |block, other| pairs.iter().find(|c| (c.block, c.other) == (block, Some(other))).unwrap();
    assert!(pairs.len() == 3 && of(0, 1).p() < 0.02 && of(0, 1).observed() == 1.0, "{pairs:?}");
    assert!(of(0, 2).p() > 0.02 && of(1, 2).p() > 0.02, "{pairs:?}");
}

/// Checks of a table under the parameters that generated it, and under Poisson rates that do not produce its zeros.
#[test]
fn a_table_of_the_model_passes_and_one_with_more_zeros_does_not() {
    let spec = ModelSpec { features: 6, ..ModelSpec::default() };
    let mut model = blank(60, vec![(5, Arc::new(Poisson) as Arc<dyn Family>)], 1, spec).unwrap();
    let truth = draw_prior(&model, Stream::new(2)).unwrap();
    let table = draw_data(&model, &truth, Stream::new(3));
    let parameters = Parameters::from(&truth);
    let run = |model: &Model| {
        let mut checks = Checks::new(model);
        (0..400).for_each(|i| checks.add(&parameters, Stream::new(4).at(i)));
        checks.finish()
    };
    model.set_values(&table);
    let good = run(&model);
    assert_eq!(good.len(), 4);
    // The parameters are the true ones, so each p is uniform.
    good.iter().for_each(|check| assert!(check.p() > 0.005 && check.interval()[0] <= check.mean(), "{check:?}"));
    let thinned = normals(300, &mut Stream::new(5).rng());
    model.set_values(&Mat::from_fn(60, 5, |n, j| if thinned[5 * n + j] > 0.0 { table[(n, j)] } else { 0.0 }));
    let zeros = &run(&model)[0];
    assert!(zeros.observed() > zeros.interval()[1] && zeros.above() < 0.01 && zeros.p() < 0.01, "{zeros:?}");
}
