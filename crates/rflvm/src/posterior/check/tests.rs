//! Statistics computed by hand, and a table that its model could not have generated.

use super::*;
use crate::dist::normals;
use crate::model::family::{Family, Gaussian, Poisson, Theta};
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
    statistic::value(statistic, &Sample { y, f: &f, theta, block: &Block { columns, family } })
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
