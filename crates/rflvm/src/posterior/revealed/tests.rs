//! Scores of revealed cells against plain formulas.

use super::*;
use crate::draws::Kept;
use crate::linalg::Cholesky;
use crate::model::ModelSpec;
use crate::model::family::Gaussian;
use crate::model::latent::TimeKernel;
use crate::observations::{Observations, Times};
use crate::posterior::parameters::Parameters;
use crate::posterior::tests::fixture::{fit, open};
use crate::rng::Stream;

const ROWS: usize = 14;

fn value(n: usize, j: usize) -> f64 {
    (0.7 * n as f64 + j as f64).sin() + 0.3 * ((n * 7 + j * 5) % 11) as f64
}

fn is_hidden(n: usize, j: usize) -> bool {
    (n * 5 + j * 3) % 7 == 2
}

fn model(column_process: Option<TimeKernel>, is_whole: bool) -> Model {
    let cell = |n, j| if is_hidden(n, j) && !is_whole { f64::NAN } else { value(n, j) };
    let spec = ModelSpec { features: 6, column_process, ..ModelSpec::default() };
    let times = Times::new((0..ROWS).map(|n| n as f64 + 0.3 * (n % 3) as f64).collect());
    let data = Observations::new(Mat::from_fn(ROWS, 3, cell)).unwrap().with_times(times).unwrap();
    Model::new(data, Gaussian::default(), spec).unwrap()
}

/// Mean and variance of a cell's predictive distribution under one draw, by dense matrices.
fn plain(model: &Model, parameters: &Parameters, (n, j): (usize, usize)) -> (f64, f64) {
    let f = parameters.f(parameters.x.clone(), model.offset(), Mat::default());
    let noise = model.weight_scale(&parameters.theta, j).recip();
    let Some(law) = model.column_process() else { return (f[(n, j)], noise) };
    let (own, times) = (&parameters.column_process.scales[j], &model.dynamics().unwrap().times().at);
    let span = model.dynamics().unwrap().span();
    let amplitude = own.amplitude(&model.units()[j]);
    let k = |a: usize, b: usize| {
        let k = (1.0 - 1e-6) * law.kernel().at((times[a] - times[b]) / span, own.length_scale);
        amplitude.powi(2) * (k + if a == b { 1e-6 } else { 0.0 })
    };
    let seen: Vec<usize> = (0..ROWS).filter(|&n| !model.y()[(n, j)].is_nan()).collect();
    let among = |a: usize, b: usize| k(seen[a], seen[b]) + if a == b { noise } else { 0.0 };
    let factor = Cholesky::new(&Mat::from_fn(seen.len(), seen.len(), among), "test").unwrap();
    let mut solved: Vec<f64> = seen.iter().map(|&m| k(n, m)).collect();
    factor.solve(&mut solved);
    let told = |of: &dyn Fn(usize) -> f64| solved.iter().zip(&seen).map(|(s, &m)| s * of(m)).sum::<f64>();
    (f[(n, j)] + told(&|m| model.y()[(m, j)] - f[(m, j)]), k(n, n) - told(&|m| k(n, m)) + noise)
}

#[test]
fn densities_integrate_column_processes_out() {
    for (name, column_process) in
        [("none", None), ("matern12", Some(TimeKernel::Matern12)), ("matern32", Some(TimeKernel::Matern32))]
    {
        let (model, truth) = (model(column_process, false), model(column_process, true));
        let path = fit(&model, &format!("revealed-{name}"), &Kept::DEFAULT);
        let store = open(&path);
        let stream = Stream::new(1).named("revealed");
        let fitted = Fitted { store: &store, model: &model, used: &[0, 1], modes: &[], is_pooled: false, stream };
        let cells = fitted.revealed(&truth, 8).unwrap();
        assert_eq!(cells.len(), (0..ROWS).map(|n| (0..3).filter(|&j| is_hidden(n, j)).count()).sum::<usize>());
        let visited = fitted.visited(8).unwrap();
        let mut stored = Stored::open(&store, &model).unwrap();
        let draws: Vec<Parameters> = visited.iter().map(|&(c, d)| stored.at(c, d).unwrap()).collect();
        for Revealed { row, column, truth, outlook } in cells {
            assert!(is_hidden(row, column) && truth == value(row, column));
            let each = draws.iter().map(|parameters| {
                let (mean, variance) = plain(&model, parameters, (row, column));
                ln_normal(truth, mean, variance).exp()
            });
            let plain = (each.sum::<f64>() / 8.0).ln();
            let found = outlook.ln_density.unwrap();
            assert!((found - plain).abs() < 1e-6, "{name}, {row}, {column}: {found} for {plain}");
        }
        std::fs::remove_dir_all(path).unwrap();
    }
}
