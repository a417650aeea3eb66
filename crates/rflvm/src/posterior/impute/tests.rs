//! A small fit on disk: the draws read back are those that were made.

use super::*;
use crate::draws::Kept;
use crate::draws::Source;
use crate::model::ModelSpec;
use crate::model::family::{Family, Gaussian, NegativeBinomial};
use crate::observations::Observations;
use crate::posterior::fitted::DRAWS;
use crate::posterior::tests::fixture::{DRAWN, fit, open};
use std::sync::Arc;

/// Two families with alternating columns, so that the model's order differs from the table's, and missing cells in both.
fn model() -> Model {
    let value = |n: usize, j: usize| match (n * 7 + j * 3) % 11 {
        5 => f64::NAN,
        v => (v + j) as f64,
    };
    let families: [(Vec<usize>, Arc<dyn Family>); 2] =
        [(vec![1, 3], Arc::new(NegativeBinomial::default())), (vec![0, 2], Arc::new(Gaussian::default()))];
    let spec = ModelSpec { features: 8, ..ModelSpec::default() };
    Model::with_blocks(Observations::new(Mat::from_fn(16, 4, value)).unwrap(), families.into(), spec).unwrap()
}

#[test]
fn f_of_a_draw_read_back_is_the_f_that_was_drawn() {
    let model = model();
    let path = fit(&model, "impute-f", &[Kept::W, Kept::Beta, Kept::Theta, Kept::F]);
    let store = open(&path);
    let (mut stored, mut f) = (Stored::open(&store, &model).unwrap(), store.cursor("posterior/f").unwrap());
    // Out of order, and across chains: a cursor can go anywhere.
    for (chain, draw) in [(0, 0), (1, 19), (0, 13), (1, 0)] {
        let rows = [3, 0, 15];
        let ours = stored.at(chain, draw).unwrap().f_of_rows(&model, &rows);
        let all = f.at(chain, draw).unwrap();
        for (i, n) in rows.into_iter().enumerate() {
            (0..4).for_each(|j| assert!((ours[(i, j)] - all[n * 4 + j]).abs() < 1e-10));
        }
    }
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn missing_cells_have_the_moments_of_their_draws() {
    let model = model();
    let path = fit(&model, "impute-cells", &Kept::DEFAULT);
    let store = open(&path);
    let fitted = Fitted {
        store: &store,
        model: &model,
        used: &[0, 1],
        modes: &[],
        is_pooled: false,
        stream: Stream::new(1).named("impute"),
    };
    let mut cells = Vec::new();
    fitted.missing_cells(DRAWS, |cell| cells.push(cell)).unwrap();
    let holes = model.y().as_slice().iter().filter(|y| y.is_nan()).count();
    assert_eq!(cells.len(), holes);
    let place = |cell: &Imputed| (cell.row, model.order()[cell.column]);
    assert!(cells.is_sorted_by_key(place));
    // As many tables as draws: the same draws of the cells, arranged differently.
    let mut tables = Vec::new();
    fitted
        .completed_tables(2 * DRAWN as usize, |_, table| {
            tables.push(table.clone());
            Ok::<(), RunError>(())
        })
        .unwrap();
    for cell in &cells {
        let mut drawn: Vec<f64> = tables.iter().map(|t| t[(cell.row, cell.column)]).collect();
        drawn.sort_by(f64::total_cmp);
        assert!((cell.predicted.sd - crate::posterior::spread::mean_and_sd(&drawn).1).abs() < 1e-12);
        assert_eq!(cell.predicted.quantiles[1], (drawn[19] + drawn[20]) / 2.0);
        assert!(cell.predicted.mean.is_finite() && cell.predicted.quantiles.is_sorted());
    }
    for table in &tables {
        let both = table.as_slice().iter().zip(model.y().as_slice());
        both.for_each(|(filled, seen)| assert!(filled == seen || (seen.is_nan() && filled.is_finite())));
    }
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn draws_without_weights_or_of_another_table_are_refused() {
    let model = model();
    let path = fit(&model, "impute-kept", &[Kept::W]);
    let error = Stored::open(&open(&path), &model).unwrap_err().to_string();
    assert!(error.contains("without beta") && error.contains("fit again"), "{error}");
    let mut other = model.clone();
    other.set_values(&Mat::zeros(16, 4));
    let error = Stored::open(&open(&path), &other).unwrap_err().to_string();
    assert!(error.contains("another table"), "{error}");
    std::fs::remove_dir_all(path).unwrap();
}
