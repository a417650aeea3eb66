//! A table of several families with all that a predictor can have, for tests.

use crate::linalg::Mat;
use crate::model::family::{Family, Gaussian, Multinomial, Poisson};
use crate::model::latent::TimeKernel;
use crate::model::{Model, ModelSpec};
use crate::observations::{Observations, Offset, Times};
use std::sync::Arc;

pub const ROWS: usize = 14;

/// Three categories between real numbers and a count; offsets, two covariates of three columns, and a linear part.
pub fn model() -> Model {
    let cell = |n: usize, j: usize| match j {
        1..=3 => f64::from(u8::from((n * n + 2 * n) % 3 + 1 == j)),
        5 => (n * 5 % 7) as f64,
        _ => (0.7 * n as f64 + j as f64).sin() + 0.1 * (n % 3) as f64,
    };
    let families: Vec<(Vec<usize>, Arc<dyn Family>)> = vec![
        (vec![1, 2, 3], Arc::new(Multinomial)),
        (vec![5], Arc::new(Poisson)),
        (vec![0, 4], Arc::new(Gaussian::default())),
    ];
    let covariates =
        Mat::from_fn(ROWS, 3, |n, c| if c == 2 { 0.1 * n as f64 - 0.65 } else { ((n + c) % 2) as f64 - 0.5 });
    let offset = Offset::Given((0..ROWS).map(|n| 0.2 * (n % 4) as f64 - 0.3).collect());
    let data = Observations::new(Mat::from_fn(ROWS, 6, cell)).unwrap();
    let names = ["batch=a", "batch=b", "age"].map(String::from).to_vec();
    let data = data.with_covariates(covariates, names).unwrap().with_offset(offset).unwrap();
    Model::with_blocks(data, families, ModelSpec { features: 8, linear: true, ..ModelSpec::default() }).unwrap()
}

/// Real numbers, each column with its process.
pub fn over_time() -> Model {
    let cell = |n: usize, j: usize| (0.7 * n as f64 + j as f64).sin() + 0.1 * (n % 3) as f64;
    let data = Observations::new(Mat::from_fn(ROWS, 3, cell)).unwrap();
    let data = data.with_times(Times::new((0..ROWS).map(|n| n as f64).collect())).unwrap();
    let spec = ModelSpec { features: 8, column_process: Some(TimeKernel::Matern32), ..ModelSpec::default() };
    Model::new(data, Gaussian::default(), spec).unwrap()
}
