//! Differences between groups against regressions on the cells, which they must be in a Gaussian table, and against sums over the stored draws.

use super::*;
use crate::dist::normals;
use crate::draws::Kept;
use crate::model::ModelSpec;
use crate::model::family::{Family, Gaussian, Multinomial, Poisson};
use crate::observations::Observations;
use crate::posterior::parameters::Stored;
use crate::posterior::tests::fixture::{fit, open};
use crate::rng::Stream;
use std::sync::Arc;

const ROWS: usize = 40;
const DRAWS: usize = 4000;

/// The first 16 rows are one group; of the others every fifth has none.
fn groups() -> Vec<Option<usize>> {
    (0..ROWS).map(|n| if n < 16 { Some(0) } else { (n % 5 > 0).then_some(1) }).collect()
}

/// More of the second batch in the second group.
fn batch(n: usize) -> f64 {
    let is_second = if n < 16 { n.is_multiple_of(4) } else { !n.is_multiple_of(3) };
    if is_second { 0.5 } else { -0.5 }
}

fn found(
    data: Observations,
    families: Vec<(Vec<usize>, Arc<dyn Family>)>,
    name: &str,
    check: impl FnOnce(&Fitted<'_>, &[Difference], &[Difference]),
) {
    let spec = ModelSpec { features: 8, ..ModelSpec::default() };
    let model = Model::with_blocks(data, families, spec).unwrap();
    let path = fit(&model, name, &Kept::DEFAULT);
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let of = groups();
    let both = [Contrast { of: 0, against: Some(1) }, Contrast { of: 1, against: None }];
    let sizes = vec![0.1; model.columns()];
    let found = fitted.differences(Groups { of: &of, count: 2 }, &both, &sizes, 0.0, DRAWS).unwrap();
    check(&fitted, &found[0], &found[1]);
    std::fs::remove_dir_all(path).unwrap();
}

fn gaussian() -> Mat {
    let noise = normals(3 * ROWS, &mut Stream::new(4).rng());
    let apart = |n: usize, j: usize| if n < 16 { [2.0, 0.5, 0.0][j] } else { 0.0 };
    Mat::from_fn(ROWS, 3, |n, j| (0.3 * n as f64).sin() + apart(n, j) + 2.0 * batch(n) + noise[3 * n + j])
}

/// The coefficient of the first group in a regression of a column on it, the batch if asked for, and one.
fn regression(y: &Mat, j: usize, on_batch: bool) -> f64 {
    let rows: Vec<usize> = (0..ROWS).filter(|&n| groups()[n].is_some()).collect();
    let within = |value: &dyn Fn(usize) -> f64| {
        let means = [0, 1].map(|g| {
            let own: Vec<f64> = rows.iter().filter(|&&n| groups()[n] == Some(g)).map(|&n| value(n)).collect();
            own.iter().sum::<f64>() / own.len() as f64
        });
        let rest: Vec<f64> = rows.iter().map(|&n| value(n) - means[groups()[n].unwrap()]).collect();
        (means[0] - means[1], rest)
    };
    let ((of_y, y), (of_batch, batch)) = (within(&|n| y[(n, j)]), within(&batch));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    of_y - if on_batch { of_batch * product(&batch, &y) / product(&batch, &batch) } else { 0.0 }
}

#[test]
fn gaussian_differences_are_the_coefficients_of_a_regression() {
    for has_batch in [false, true] {
        let y = gaussian();
        let mut data = Observations::new(y.clone()).unwrap();
        if has_batch {
            let covariates = Mat::from_fn(ROWS, 2, |n, c| if c == 0 { batch(n) } else { -batch(n) });
            data = data.with_covariates(covariates, ["b=1", "b=2"].map(String::from).to_vec()).unwrap();
        }
        let families: Vec<(Vec<usize>, Arc<dyn Family>)> = vec![(vec![0, 1, 2], Arc::new(Gaussian::default()))];
        found(data, families, &format!("differences-{has_batch}"), |_, of, against| {
            for j in 0..3 {
                let wanted = regression(&y, j, has_batch);
                // Four Monte Carlo errors, and what the priors of the effects shrink.
                let error = 4.0 * of[j].link.sd / (DRAWS as f64).sqrt() + 0.02 * wanted.abs();
                assert!((of[j].link.mean - wanted).abs() < error, "{has_batch} {j}: {:?} {wanted} {error}", of[j]);
                assert!((of[j].link.mean + against[j].link.mean).abs() < 1e-9);
                assert!((of[j].p_value - against[j].p_value).abs() < 1e-12);
                assert!((of[j].means[0] - of[j].means[1] - of[j].cells.mean).abs() < 1e-9);
            }
            // Without the covariate, the batch counts as a difference.
            assert!((regression(&y, 2, false) - regression(&y, 2, true)).abs() > 0.3);
        });
    }
}

#[test]
fn standard_deviations_count_the_rows_as_a_sample() {
    let families: Vec<(Vec<usize>, Arc<dyn Family>)> = vec![(vec![0, 1, 2], Arc::new(Gaussian::default()))];
    found(Observations::new(gaussian()).unwrap(), families, "differences-sd", |fitted, of, _| {
        let model = fitted.model;
        let mut stored = Stored::open(fitted.store, model).unwrap();
        let all: Vec<usize> = (0..ROWS).collect();
        let visited = fitted.visited(DRAWS).unwrap();
        for (j, found) in of.iter().enumerate() {
            let (mut of_noise, mut of_rows) = (0.0, 0.0);
            for &(chain, draw) in &visited {
                let parameters = stored.at(chain, draw).unwrap();
                let f = parameters.f_of_rows(model, &all);
                for g in 0..2 {
                    let own: Vec<f64> = all.iter().filter(|&&n| groups()[n] == Some(g)).map(|&n| f[(n, j)]).collect();
                    let (count, mean) = (own.len() as f64, own.iter().sum::<f64>() / own.len() as f64);
                    let square: f64 = own.iter().map(|f| (f - mean).powi(2)).sum();
                    of_rows += square / (count - 1.0) / count / visited.len() as f64;
                    of_noise += 1.0 / (parameters.theta[0].values[(0, j)] * count) / visited.len() as f64;
                }
            }
            let wanted = (of_noise + of_rows).sqrt();
            assert!((found.link.sd / wanted - 1.0).abs() < 0.05, "{j}: {} {wanted}", found.link.sd);
            // The bound above would see that the rows are left out; the part of the noise is tested with the effects of groups.
            assert!(of_noise.sqrt() < 0.8 * wanted, "{j}: {of_noise} {of_rows}");
        }
    });
}

#[test]
fn expected_cells_of_groups_are_the_means_of_their_cells() {
    let level = |n: usize| if n < 16 { 0 } else { n % 3 };
    let cell = |n: usize, j: usize| match j {
        0 => (n * 7 % 5) as f64 + if n < 16 { 6.0 } else { 0.0 },
        1 => f64::from(u8::from(n == 21)),
        _ => f64::from(u8::from((level(n) + n) % 3 == j - 2)),
    };
    let families: Vec<(Vec<usize>, Arc<dyn Family>)> =
        vec![(vec![0, 1], Arc::new(Poisson)), (vec![2, 3, 4], Arc::new(Multinomial))];
    let data = Observations::new(Mat::from_fn(ROWS, 5, cell)).unwrap();
    found(data, families, "differences-cells", |_, of, _| {
        for j in [0, 2, 3, 4] {
            for g in 0..2 {
                let own: Vec<f64> = (0..ROWS).filter(|&n| groups()[n] == Some(g)).map(|n| cell(n, j)).collect();
                let wanted = own.iter().sum::<f64>() / own.len() as f64;
                let is_near = (of[j].means[g] - wanted).abs() < 0.04 + 0.06 * wanted;
                assert!(is_near, "column {j}, group {g}: {} {wanted}", of[j].means[g]);
            }
        }
        // The map leaves most of this out.
        assert!(of[0].p_value < 1e-3 && of[0].link.mean > 0.8, "{:?}", of[0]);
        // One count in 35 rows is no difference.
        assert!(of[1].link.mean.is_finite() && of[1].p_value > 0.2, "{:?}", of[1]);
        // Log shares are relative to those of all categories.
        assert!(of[2..].iter().map(|d| d.link.mean).sum::<f64>().abs() < 1e-9);
    });
}

#[test]
fn groups_told_apart_by_a_covariate_have_no_difference_free_of_it() {
    let families: Vec<(Vec<usize>, Arc<dyn Family>)> = vec![(vec![0, 1, 2], Arc::new(Gaussian::default()))];
    let model = |is_same: bool| {
        let covariate = |n: usize, _| {
            if !is_same {
                batch(n)
            } else if n < 16 {
                0.5
            } else {
                -0.5
            }
        };
        let data = Observations::new(gaussian()).unwrap();
        let data = data.with_covariates(Mat::from_fn(ROWS, 1, covariate), vec!["b".into()]).unwrap();
        Model::with_blocks(data, families.clone(), ModelSpec::default()).unwrap()
    };
    let of = groups();
    let apart = |model: &Model| {
        let groups = Groups { of: &of, count: 2 };
        groups.are_apart_from_covariates(model, &Contrast { of: 0, against: None })
    };
    assert!(apart(&model(false)) && !apart(&model(true)));
}

fn summary(mean: f64, sd: f64) -> Summary {
    Summary { mean, sd, quantiles: [mean - 1.645 * sd, mean + 1.645 * sd], positive: 0.5 }
}

#[test]
fn p_values_are_of_both_tails_beyond_the_size() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-4, "{a} {b}");
    // R: 2 * pt(-2, 10); pt(-2, 10) + pt(-4, 10).
    close(p_value(&summary(-2.0, 1.0), 0.0, Some(10.0)), 0.073_388);
    close(p_value(&summary(3.0, 1.0), 1.0, Some(10.0)), 0.036_694 + 0.001_259);
    assert_eq!(p_value(&summary(0.0, 1.0), 0.0, Some(10.0)), 1.0);
    assert!(p_value(&summary(1.0, 0.0), 0.0, Some(10.0)).is_nan() && p_value(&summary(1.0, 1.0), 0.0, None).is_nan());
    // Welch's for equal variances: both groups count when they are of one size, and the smaller one when it is much smaller.
    close(degrees([25, 25], 0).unwrap(), 48.0);
    close(degrees([25, 25], 3).unwrap(), 45.0);
    assert!((degrees([12, 100_000], 0).unwrap() - 11.0).abs() < 0.01);
    assert_eq!(degrees([2, 40], 0), None);
}

#[test]
fn rates_are_adjusted_p_values_and_the_order_is_by_the_least_size() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    // R: p.adjust(c(0.01, 0.04, 0.03, 0.5), "BH").
    let rates = adjusted(&[0.01, 0.04, f64::NAN, 0.03, 0.5]);
    [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.5].into_iter().zip([0, 1, 3, 4]).for_each(|(a, i)| close(a, rates[i]));
    assert!(rates[2].is_nan() && adjusted(&[]).is_empty());
    let one =
        |(mean, sd)| Difference { link: summary(mean, sd), cells: summary(mean, sd), means: [0.0; 2], p_value: 0.5 };
    let found = [(1.0, 0.1), (-3.0, 0.2), (9.0, 5.0), (0.2, 0.01)].map(one);
    assert_eq!(ranked(&found, &[1.0; 4]), [1, 0, 2, 3]);
    assert_eq!(ranked(&found, &[1.0, 100.0, 1.0, 1.0]), [0, 2, 3, 1]);
}
