//! A small fit of two sequences on disk, and its forecasts.

use super::*;
use crate::draws::Kept;
use crate::draws::zarr::Reader;
use crate::model::Model;
use crate::model::ModelSpec;
use crate::model::family::{Family, Gaussian, NegativeBinomial};
use crate::observations::{Observations, Times};
use crate::posterior::fitted::DRAWS;
use crate::posterior::tests::fixture::{DRAWN, fit, open};
use std::sync::Arc;

/// Two families with alternating columns; rows of two sequences alternate too.
fn model(times: Option<Times>) -> Model {
    let value = |n: usize, j: usize| ((n * 7 + j * 3) % 11) as f64;
    let families: [(Vec<usize>, Arc<dyn Family>); 2] =
        [(vec![1], Arc::new(NegativeBinomial::default())), (vec![0, 2], Arc::new(Gaussian::default()))];
    let spec = ModelSpec { features: 8, ..ModelSpec::default() };
    let mut data = Observations::new(Mat::from_fn(16, 3, value)).unwrap();
    if let Some(times) = times {
        data = data.with_times(times).unwrap();
    }
    Model::with_blocks(data, families.into(), spec).unwrap()
}

fn times() -> Times {
    Times { at: (0..16).map(|n| 2.0 * n as f64).collect(), sequence: (0..16).map(|n| n % 2).collect() }
}

fn moments() -> Vec<NewTime> {
    let moment = |(sequence, time)| NewTime { time, sequence, offset: 0.25, covariates: Vec::new() };
    [(0, 31.0), (1, 32.0), (0, 35.0), (1, 5.0), (1, 300.0)].map(moment).to_vec()
}

fn forecast<'a>(store: &'a Reader, model: &'a Model) -> Fitted<'a> {
    Fitted { store, model, used: &[0, 1], modes: &[], is_pooled: false, stream: Stream::new(1).named("forecast") }
}

fn futures(fitted: &Fitted<'_>, moments: &[NewTime], count: usize) -> Vec<Mat> {
    let mut all = Vec::new();
    let take = |_, table: &Mat| {
        all.push(table.clone());
        Ok::<(), RunError>(())
    };
    fitted.futures(moments, count, take).unwrap();
    all
}

#[test]
fn cells_have_the_moments_of_the_futures_however_many_are_held() {
    let model = model(Some(times()));
    let path = fit(&model, "forecast-cells", &Kept::DEFAULT);
    let store = open(&path);
    let fitted = forecast(&store, &model);
    let cells = fitted.forecast(&moments(), DRAWS).unwrap();
    // Two rows at a time, and one.
    for held in [2 * 3 * 2 * DRAWN as usize, 1] {
        assert_eq!(cells, fitted.forecast_holding(&moments(), DRAWS, held).unwrap());
    }
    // As many futures as draws: the same draws of the cells, arranged differently.
    let futures = futures(&fitted, &moments(), 2 * DRAWN as usize);
    assert_eq!(futures.len(), 2 * DRAWN as usize);
    for (i, row) in cells.iter().enumerate() {
        for (j, cell) in row.iter().enumerate() {
            let mut drawn: Vec<f64> = futures.iter().map(|f| f[(i, j)]).collect();
            drawn.sort_by(f64::total_cmp);
            assert!((cell.sd - crate::posterior::spread::mean_and_sd(&drawn).1).abs() < 1e-12);
            assert_eq!(cell.quantiles[1], (drawn[19] + drawn[20]) / 2.0);
            assert!(cell.mean.is_finite() && cell.quantiles.is_sorted());
        }
    }
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn a_sequence_has_the_same_future_alone() {
    let model = model(Some(times()));
    let path = fit(&model, "forecast-alone", &Kept::DEFAULT);
    let store = open(&path);
    let fitted = forecast(&store, &model);
    let (all, own): (Vec<NewTime>, Vec<usize>) = (moments(), vec![1, 3, 4]);
    let alone: Vec<NewTime> = own.iter().map(|&i| all[i].clone()).collect();
    for (both, one) in futures(&fitted, &all, 4).iter().zip(&futures(&fitted, &alone, 4)) {
        own.iter().enumerate().for_each(|(k, &i)| assert_eq!(both.row(i), one.row(k)));
    }
    std::fs::remove_dir_all(path).unwrap();
}

/// A new row next to an old one has its position, up to noise; one far from all rows has the prior's.
#[test]
fn positions_follow_their_path_near_rows_and_the_prior_far_away() {
    let model = model(Some(times()));
    let path = fit(&model, "forecast-positions", &Kept::DEFAULT);
    let store = open(&path);
    let mut stored = Stored::open(&store, &model).unwrap();
    let mut parameters = stored.at(0, 3).unwrap();
    parameters.axes.iter_mut().for_each(|axis| (axis.length_scale, axis.noise) = (0.1, 1e-6));
    let moment = |time| NewTime { time, sequence: 1, offset: 0.0, covariates: Vec::new() };
    let moments = [moment(10.0), moment(1e4)];
    let dynamics = model.dynamics().unwrap();
    let mut squares = 0.0;
    for i in 0..500 {
        let x = positions(dynamics, &parameters, &moments, 0..2, Stream::new(i)).unwrap();
        (0..2).for_each(|d| assert!((x[(0, d)] - parameters.x[(5, d)]).abs() < 0.02));
        squares += x[(1, 0)].powi(2) + x[(1, 1)].powi(2);
    }
    // χ² of 1000 degrees of freedom.
    assert!((squares / 1000.0 - 1.0).abs() < 4.0 * 0.002_f64.sqrt(), "{squares}");
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn fits_without_times_or_of_other_times_are_refused() {
    let timeless = model(None);
    let path = fit(&timeless, "forecast-none", &Kept::DEFAULT);
    let error = forecast(&open(&path), &timeless).forecast(&moments(), DRAWS).unwrap_err().to_string();
    assert!(error.contains("time is not given") && error.contains("fit again"), "{error}");
    std::fs::remove_dir_all(&path).unwrap();
    let path = fit(&model(Some(times())), "forecast-other", &Kept::DEFAULT);
    let mut later = times();
    later.at[3] += 0.5;
    let error = forecast(&open(&path), &model(Some(later))).forecast(&moments(), DRAWS).unwrap_err().to_string();
    assert!(error.contains("another table"), "{error}");
    std::fs::remove_dir_all(path).unwrap();
}
