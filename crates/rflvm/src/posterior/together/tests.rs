//! Shares of nearest rows against distances computed pair by pair.

use super::*;
use crate::draws::Kept;
use crate::posterior::stacking::Weighted;
use crate::posterior::tests::fixture::{fit, open};
use crate::posterior::tests::mixed::{ROWS, model};
use crate::rng::Stream;

#[test]
fn shares_are_those_of_the_nearest_rows_with_a_group() {
    let model = model();
    let path = fit(&model, "together", &Kept::DEFAULT);
    let store = open(&path);
    let modes = Weighted::by_chains(vec![vec![0], vec![1]]);
    let stream = Stream::new(1);
    let fitted = Fitted { store: &store, model: &model, used: &[0], modes: &modes, is_pooled: true, stream };
    let groups: Vec<Option<usize>> = (0..ROWS).map(|n| [Some(0), Some(1), None, Some(2), Some(1)][n % 5]).collect();
    let found = fitted.together(&groups, 3, 4, 10).unwrap();
    let mut expected = Mat::zeros(ROWS, 3);
    let mut stored = crate::posterior::parameters::Stored::open(&store, &model).unwrap();
    let visited = fitted.visited(10).unwrap();
    for &(chain, draw) in &visited {
        let x = stored.at(chain, draw).unwrap().x;
        for row in 0..ROWS {
            let mut others: Vec<(f64, usize)> = (0..ROWS)
                .filter(|&other| other != row && other % 5 != 2)
                .map(|other| ((0..2).map(|d| (x[(row, d)] - x[(other, d)]).powi(2)).sum(), other))
                .collect();
            others.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, other) in &others[..4] {
                expected[(row, groups[*other].unwrap())] += 0.25 / visited.len() as f64;
            }
        }
    }
    for (a, b) in found.as_slice().iter().zip(expected.as_slice()) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    assert!(found.iter_rows().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    std::fs::remove_dir_all(path).unwrap();
}
