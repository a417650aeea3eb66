//! A small fit on disk, and its predictions for its own rows by index and by position.

use super::*;
use crate::draws::Kept;
use crate::draws::zarr::Reader;
use crate::model::ModelSpec;
use crate::model::family::{Family, Gaussian, NegativeBinomial};
use crate::observations::{Observations, Offset};
use crate::posterior::fitted::DRAWS;
use crate::posterior::tests::fixture::{DRAWN, fit, open};
use std::sync::Arc;

/// Two families with alternating columns, so that the model's order differs from the table's; a missing cell, and offsets.
fn model() -> Model {
    let value = |n: usize, j: usize| match (n * 7 + j * 3) % 11 {
        5 => f64::NAN,
        v => (v + j) as f64,
    };
    let families: [(Vec<usize>, Arc<dyn Family>); 2] =
        [(vec![1, 3], Arc::new(NegativeBinomial::default())), (vec![0, 2], Arc::new(Gaussian::default()))];
    let spec = ModelSpec { features: 8, ..ModelSpec::default() };
    let offset = Offset::Given((0..16).map(|n| 0.1 * f64::from(n % 3)).collect());
    let data = Observations::new(Mat::from_fn(16, 4, value)).unwrap().with_offset(offset).unwrap();
    Model::with_blocks(data, families.into(), spec).unwrap()
}

fn fitted<'a>(store: &'a Reader, model: &'a Model) -> Fitted<'a> {
    Fitted { store, model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1).named("predict") }
}

/// The position of a row in a draw, mapped to the frame and back, gives the same f as the row.
#[test]
fn a_place_of_the_frame_is_the_same_place_in_every_draw() {
    let model = model();
    let path = fit(&model, "predict-places", &Kept::DEFAULT);
    let store = open(&path);
    let frame = fitted(&store, &model).frame().unwrap();
    let mut stored = Stored::open(&store, &model).unwrap();
    for (chain, draw) in [(0, 0), (1, 19), (0, 7)] {
        let parameters = stored.at(chain, draw).unwrap();
        let placed = frame.of(&parameters.x, &parameters.w).carry(&parameters.x);
        for n in [0, 3, 15] {
            let x = Mat::from_vec(1, 2, placed.row(n).to_vec());
            let none = Mat::zeros(1, 0);
            let place = Points::Places { frame: &frame, x: &x, offset: model.offset()[n], covariates: &none };
            let (there, own) = (place.f(&model, &parameters, 0..1), Points::Rows(&[n]).f(&model, &parameters, 0..1));
            for j in 0..4 {
                assert!((there[(0, j)] - own[(0, j)]).abs() < 1e-12, "{} {}", there[(0, j)], own[(0, j)]);
            }
        }
    }
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn cells_have_the_moments_of_the_replicas_however_many_are_held() {
    let model = model();
    let path = fit(&model, "predict-cells", &Kept::DEFAULT);
    let store = open(&path);
    let fitted = fitted(&store, &model);
    let (frame, x) = (fitted.frame().unwrap(), Mat::from_fn(3, 2, |i, d| (i + d) as f64 * 0.3));
    let rows = [9, 2, 5];
    let none = Mat::zeros(3, 0);
    for points in [Points::Rows(&rows), Points::Places { frame: &frame, x: &x, offset: 0.1, covariates: &none }] {
        let cells = fitted.predict(points, DRAWS).unwrap();
        // Two points at a time, and one.
        for held in [2 * 4 * 2 * DRAWN as usize, 1] {
            assert_eq!(cells, fitted.predict_holding(points, DRAWS, held).unwrap());
        }
        let mut replicas = Vec::new();
        let take = |_, table: &Mat| {
            replicas.push(table.clone());
            Ok::<(), RunError>(())
        };
        fitted.replicas(points, 2 * DRAWN as usize, take).unwrap();
        for (i, row) in cells.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let mut drawn: Vec<f64> = replicas.iter().map(|r| r[(i, j)]).collect();
                drawn.sort_by(f64::total_cmp);
                assert!((cell.sd - crate::posterior::spread::mean_and_sd(&drawn).1).abs() < 1e-12);
                assert_eq!(cell.quantiles[1], (drawn[19] + drawn[20]) / 2.0);
            }
        }
    }
    // A row gets the same prediction whatever else is requested; and its mean is that of E[y | f] over the draws.
    let (three, one) =
        (fitted.predict(Points::Rows(&rows), DRAWS).unwrap(), fitted.predict(Points::Rows(&[2]), DRAWS).unwrap());
    assert_eq!(three[1], one[0]);
    let mut stored = Stored::open(&store, &model).unwrap();
    let gaussian = (2..4).map(|j| {
        let f = |chain: usize, draw: usize, stored: &mut Stored<'_>| {
            stored.at(chain, draw).unwrap().f_of_rows(&model, &[2])[(0, j)]
        };
        let all: f64 = (0..40).map(|i| f(i / 20, i % 20, &mut stored)).sum();
        (j, all / 40.0)
    });
    for (j, mean) in gaussian.collect::<Vec<_>>() {
        assert!((one[0][j].mean - mean).abs() < 1e-12);
    }
    std::fs::remove_dir_all(path).unwrap();
}
