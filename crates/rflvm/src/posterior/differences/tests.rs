//! Differences between groups against means of predictors computed row by row.

use super::*;
use crate::draws::Kept;
use crate::posterior::parameters::Stored;
use crate::posterior::tests::fixture::{fit, open};
use crate::posterior::tests::mixed::model;
use crate::rng::Stream;

#[test]
fn differences_are_those_of_rows_with_the_same_covariates_and_offset() {
    let model = model();
    let path = fit(&model, "differences", &Kept::DEFAULT);
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let contrasts =
        [Contrast { of: vec![0, 3, 5], against: vec![1, 2] }, Contrast { of: vec![1, 2], against: vec![0, 3, 5] }];
    let sizes = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];
    let found = fitted.differences(&contrasts, &sizes, 0.25, 8).unwrap();
    let mut stored = Stored::open(&store, &model).unwrap();
    let (mut link, mut means) = (vec![Vec::new(); 6], vec![[0.0; 2]; 6]);
    for (chain, draw) in fitted.visited(8).unwrap() {
        let parameters = stored.at(chain, draw).unwrap();
        let one = |n: usize, j: usize| {
            // What the row has, minus its own covariates and offset.
            let first = model.spec().features;
            let known: f64 = (0..3).map(|c| model.covariates()[(n, c)] * parameters.beta[(first + c, j)]).sum();
            parameters.f_of_rows(&model, &[n])[(0, j)] - model.offset()[n] - known
        };
        let group = |rows: &[usize], j: usize| -> [f64; 2] {
            let of = |n: usize| {
                let f: Vec<f64> = (0..6).map(|j| one(n, j) + 0.25).collect();
                let total: f64 = f[..3].iter().map(|f| f.exp()).sum();
                match j {
                    0..=2 => [f[j] - f[..3].iter().sum::<f64>() / 3.0, f[j].exp() / total],
                    3 => [f[j], f[j].exp()],
                    _ => [f[j], f[j]],
                }
            };
            rows.iter().map(|&n| of(n)).fold([0.0; 2], |sum, v| [0, 1].map(|i| sum[i] + v[i] / rows.len() as f64))
        };
        for j in 0..6 {
            let (a, b) = (group(&[0, 3, 5], j), group(&[1, 2], j));
            link[j].push(a[0] - b[0]);
            means[j][0] += a[1] / 8.0;
            means[j][1] += b[1] / 8.0;
        }
    }
    for j in 0..6 {
        let [one, other] = [0, 1].map(|c| found[c][j]);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "column {j}: {a} {b}");
        close(one.link.mean, link[j].iter().sum::<f64>() / 8.0);
        close(one.means[0], means[j][0]);
        close(one.means[1], means[j][1]);
        close(one.cells.mean, means[j][0] - means[j][1]);
        let (up, down) = (link[j].iter().filter(|d| **d > sizes[j]), link[j].iter().filter(|d| **d < -sizes[j]));
        close(one.probability, up.count().max(down.count()) as f64 / 8.0);
        // The other way round.
        close(other.link.mean, -one.link.mean);
        close(other.probability, one.probability);
        close(other.link.positive, 1.0 - one.link.positive);
    }
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn the_expected_share_of_false_discoveries_grows_along_the_list() {
    let one = |(probability, quantiles): (f64, [f64; 2])| {
        let summary = Summary { mean: 0.0, sd: 1.0, quantiles, positive: probability };
        Difference { link: summary, cells: summary, means: [0.0; 2], probability }
    };
    let found = [(0.5, [9.0, 10.0]), (1.0, [-1.0, 1.0]), (0.9, [1.0, 8.0]), (0.9, [-5.0, -4.0])].map(one);
    let (order, expected) = ranked(&found, &[1.0; 4]);
    // The second is smaller in units of its column.
    assert_eq!(ranked(&found, &[1.0, 1.0, 1.0, 10.0]).0, [1, 2, 3, 0]);
    assert_eq!(order, [1, 3, 2, 0]);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    [0.0, 0.05, 0.2 / 3.0, 0.175].into_iter().zip(expected).for_each(|(a, b)| close(a, b));
    assert_eq!(ranked(&[], &[]).0, Vec::<usize>::new());
}
