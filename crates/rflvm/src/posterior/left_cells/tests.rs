//! Scores of a small fit on disk.

use super::*;
use crate::dist::ln_sum_exp;
use crate::draws::Kept;
use crate::linalg::Mat;
use crate::model::ModelSpec;
use crate::model::family::{Family, Multinomial, Poisson};
use crate::observations::Observations;
use crate::posterior::tests::fixture::{DRAWN, fit, open};
use crate::rng::Stream;
use std::sync::Arc;

/// Counts with some cells missing, and multinomial rows.
#[test]
fn each_observed_cell_is_scored_and_a_multinomial_row_once() {
    let value =
        |n: usize, j: usize| if (n + 3 * j) % 7 == 2 && j < 3 { f64::NAN } else { ((n * (j + 1)) % 5 + 1) as f64 };
    let families: [(Vec<usize>, Arc<dyn Family>); 2] =
        [(vec![0, 1, 2], Arc::new(Poisson)), (vec![3, 4, 5], Arc::new(Multinomial))];
    let spec = ModelSpec { features: 8, ..ModelSpec::default() };
    let y = Mat::from_fn(14, 6, value);
    let seen = y.as_slice().iter().filter(|y| !y.is_nan()).count() - 2 * 14;
    let model = Model::with_blocks(Observations::new(y).unwrap(), families.into(), spec).unwrap();
    let path = fit(&model, "left-cells", &Kept::DEFAULT);
    let store = open(&path);
    let fitted =
        Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1) };
    let scores = fitted.left_cells().unwrap();
    assert_eq!(scores.ln_density.len(), seen);
    // A cell is predicted worse if it is left out, but no worse than by the draw that predicts it worst.
    let draws: Vec<(usize, usize)> = (0..2).flat_map(|c| (0..DRAWN as usize).map(move |d| (c, d))).collect();
    let mut each: Vec<Vec<f64>> = vec![Vec::new(); seen];
    let take = |_: usize, pieces: &Mat| {
        let seen = pieces.as_slice().iter().filter(|v| !v.is_nan());
        each.iter_mut().zip(seen).for_each(|(all, v)| all.push(*v));
    };
    fitted.ln_cells(&draws, take).unwrap();
    for (score, draws) in scores.ln_density.iter().zip(&each) {
        let mean = ln_sum_exp(draws) - (draws.len() as f64).ln();
        let least = draws.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((least..mean).contains(score), "{score}, mean {mean}, least {least}");
    }
    // From one chain alone the scores are others.
    let alone = Fitted { used: &[1], ..fitted }.left_cells().unwrap();
    assert!(alone.ln_density.len() == seen && alone.ln_density != scores.ln_density);
    std::fs::remove_dir_all(path).unwrap();
}
