//! Gradients and changes against differences of predictors.

use super::*;
use crate::draws::Kept;
use crate::posterior::link::expected;
use crate::posterior::parameters::Stored;
use crate::posterior::tests::fixture::{fit, open};
use crate::posterior::tests::mixed::model;
use crate::rng::Stream;

#[test]
fn gradients_are_limits_of_differences_and_paths_have_their_ends() {
    let model = model();
    let path = fit(&model, "gradient", &Kept::DEFAULT);
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let frame = fitted.frame().unwrap();
    let (direction, at) = ([0.6, -0.8], [0.3, 0.4]);
    let there = fitted.gradient(&frame, &direction, Some(&at), 4).unwrap();
    let mean = fitted.gradient(&frame, &direction, None, 4).unwrap();
    let points = Mat::from_vec(3, 2, vec![0.3, 0.4, 1.5, -1.0, -0.5, 0.2]);
    let changes = fitted.change(&frame, &points, 0.25, 4).unwrap();
    let mut stored = Stored::open(&store, &model).unwrap();
    let mut sums = vec![[0.0; 6]; model.columns()];
    for (chain, draw) in fitted.visited_in_map(4).unwrap() {
        let parameters = stored.at(chain, draw).unwrap();
        let placement = frame.of(&parameters.x, &parameters.w);
        let f = |x: &Mat| {
            let f = parameters.f(placement.back(x), &vec![0.25; x.rows()], Mat::zeros(x.rows(), 3));
            // The first three columns of the model are the categories.
            Mat::from_fn(x.rows(), 6, |n, j| {
                f[(n, j)] - if j < 3 { f.row(n)[..3].iter().sum::<f64>() / 3.0 } else { 0.0 }
            })
        };
        let rows = placement.carry(&parameters.x);
        let slope = |x: &Mat| {
            let moved = |by: f64| f(&Mat::from_fn(x.rows(), 2, |n, d| x[(n, d)] + by * direction[d]));
            let (up, down) = (moved(1e-5), moved(-1e-5));
            move |j: usize| (0..up.rows()).map(|n| (up[(n, j)] - down[(n, j)]) / 2e-5).sum::<f64>() / up.rows() as f64
        };
        let (own, all) = (slope(&Mat::from_vec(1, 2, at.to_vec())), slope(&rows));
        let along = f(&points);
        let cells =
            expected(&model, &parameters.theta, &parameters.f(placement.back(&points), &[0.25; 3], Mat::zeros(3, 3)));
        for (j, sum) in sums.iter_mut().enumerate() {
            let (low, high) = along.col(j).into_iter().fold((f64::MAX, f64::MIN), |(a, b), f| (a.min(f), b.max(f)));
            let found = [own(j), all(j), along[(2, j)] - along[(0, j)], high - low, cells[(0, j)], cells[(2, j)]];
            sum.iter_mut().zip(found).for_each(|(sum, found)| *sum += found / 4.0);
        }
    }
    for (j, [own, all, link, range, from, to]) in sums.into_iter().enumerate() {
        let close =
            |a: f64, b: f64, within: f64| assert!((a - b).abs() < within * (1.0 + b.abs()), "column {j}: {a} {b}");
        close(there[j].mean, own, 1e-6);
        close(mean[j].mean, all, 1e-6);
        close(changes[j].link.mean, link, 1e-9);
        close(changes[j].range.mean, range, 1e-9);
        close(changes[j].ends[0], from, 1e-9);
        close(changes[j].ends[1], to, 1e-9);
        close(changes[j].cells.mean, to - from, 1e-9);
        assert!(range >= link.abs() - 1e-9);
    }
    // Shares of the categories add up to one, so that their changes cancel.
    assert!(changes[..3].iter().map(|change| change.cells.mean).sum::<f64>().abs() < 1e-9);
    std::fs::remove_dir_all(path).unwrap();
}
