//! Origins, baselines and scores, against known answers.

use super::baseline::Series;
use super::*;
use crate::dist::normals;
use crate::linalg::Mat;
use crate::model::family::{Binomial, Family, Gaussian, Poisson, Trials};
use crate::observations::{Observations, Times};
use crate::posterior::outlook::{Scores, units};
use crate::rng::Stream;
use std::sync::Arc;

fn settings() -> Settings {
    Settings { warmup: 10, draws: 20, chains: 2, seed: 3, ..Settings::default() }
}

fn request(origins: usize, horizon: usize) -> Request {
    Request { origins, horizon, period: None, kernels: Vec::new(), offsets: true }
}

fn model(y: Mat, times: Times, family: impl Family + 'static) -> Model {
    let data = Observations::new(y).unwrap().with_times(times).unwrap();
    Model::new(data, family, ModelSpec { features: 6, latent_dim: 1, ..ModelSpec::default() }).unwrap()
}

fn go(model: &Model, request: &Request) -> Backtest {
    backtest(model, &settings(), request, &mut |_| (), &|_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn origins_move_over_the_last_third_and_hide_what_follows() {
    let times =
        Times { at: (0..40).rev().map(f64::from).collect(), sequence: (0..40).map(|n| usize::from(n >= 30)).collect() };
    let all = origins(&times, 3, 2).unwrap();
    // Sequence 0 has 30 rows, latest first: 10, 6 and 2 of them are hidden; sequence 1 has 10 rows, of which 4, 3 and 2 are.
    let ends: Vec<(usize, usize)> = all.iter().map(|o| (o.train.len(), o.test.len())).collect();
    assert_eq!(ends, [(20 + 6, 4), (24 + 7, 4), (28 + 8, 4)]);
    assert_eq!(all[0].test[0], Ahead { row: 9, sequence: 0, step: 1 });
    assert_eq!(all[2].test[3], Ahead { row: 30, sequence: 1, step: 2 });
    for origin in &all {
        for ahead in &origin.test {
            let own = origin.train.iter().filter(|&&n| times.sequence[n] == ahead.sequence);
            assert!(own.map(|&n| times.at[n]).all(|t| t < times.at[ahead.row]));
        }
    }
    // A sequence that is too short is fitted and not scored.
    let short = origins(&times, 4, 3).unwrap();
    assert!(short.iter().all(|o| o.test.iter().all(|a| a.sequence == 0) && o.train.contains(&39)));
    for (count, horizon, words) in [(0, 1, "origins"), (1, 0, "nothing"), (27, 1, "26 origins"), (1, 26, "at most 25")]
    {
        let sentence = origins(&times, count, horizon).unwrap_err().to_string();
        let is_asked = if (count, horizon) == (27, 1) { "room for 25 origins" } else { words };
        assert!(sentence.contains(is_asked), "{sentence}");
    }
    let sentence = origins(&Times::new(vec![0.0, 1.0, 2.0]), 1, 1).unwrap_err().to_string();
    assert!(sentence.contains("3 rows") && sentence.contains("at least 6"), "{sentence}");
}

#[test]
fn baselines_have_known_forecasts_and_errors() {
    let nan = f64::NAN;
    let series =
        Series { times: (0..9).map(f64::from).collect(), values: vec![1.0, 2.0, 3.0, nan, 5.0, 6.0, 7.0, 8.0, nan] };
    let at = |baseline: Baseline| baseline.point(&series, 9, 10.0).unwrap();
    assert_eq!(at(Baseline::Last), 8.0);
    assert!((at(Baseline::Line) - 11.0).abs() < 1e-12);
    // One period of 4 before 10 is row 6; of 1.5, two periods are needed, to row 7; of 7, row 3 is missing, and row 2 is as near as row 4.
    let seasonal = [4.0, 1.5, 7.0].map(|period| at(Baseline::Seasonal(period)));
    assert_eq!(seasonal, [7.0, 8.0, 3.0]);
    assert_eq!(Baseline::Last.errors(&series, 8, 2), [2.0, 2.0]);
    assert_eq!(Baseline::Last.errors(&series, 8, 1), [1.0, 1.0, 1.0]);
    let line = Baseline::Line.errors(&series, 8, 1);
    assert!(line.len() == 3 && line.iter().all(|e| e.abs() < 1e-12), "{line:?}");
    let empty = Series { values: vec![nan; 9], ..series };
    assert_eq!(Baseline::Line.point(&empty, 9, 10.0), None);
}

#[test]
fn the_last_value_beats_the_line_on_a_random_walk_and_intervals_hold_their_share() {
    let steps = normals(400 * 4, &mut Stream::new(5).rng());
    let mut y = Mat::from_vec(400, 4, steps);
    (1..400).for_each(|n| (0..4).for_each(|j| y[(n, j)] += y[(n - 1, j)]));
    let model = model(y, Times::new((0..400).map(f64::from).collect()), Gaussian::default());
    let Backtest { methods, mut cells, units } = Backtest {
        methods: vec!["last value".into(), "straight line".into()],
        cells: Vec::new(),
        units: units(&model),
    };
    let baselines = Baseline::all(model.dynamics().unwrap().times(), &[], None).unwrap();
    for (number, origin) in origins(model.dynamics().unwrap().times(), 40, 3).unwrap().iter().enumerate() {
        let begin = cells.len();
        for ahead in &origin.test {
            let held = |column| Held {
                origin: number,
                step: ahead.step,
                row: ahead.row,
                column,
                truth: model.y()[(ahead.row, column)],
                outlooks: Vec::new(),
            };
            cells.extend((0..4).map(held));
        }
        baseline::add(&baselines, &model, origin, &mut cells[begin..]);
    }
    let told = Backtest { methods, cells, units };
    for step in 1..=3 {
        let [last, line]: [Scores; 2] = told.scores(|cell| cell.step == step).try_into().unwrap();
        assert!(last.crps < line.crps && last.mse < line.mse && last.mae < line.mae, "{last:?} {line:?}");
        assert_eq!((last.cells, last.ln_density), (160, None));
        // 160 cells: three binomial standard errors.
        assert!((last.coverage[0] - 0.5).abs() < 0.12 && (last.coverage[1] - 0.9).abs() < 0.075, "{last:?}");
    }
}

#[test]
fn a_perfect_forecast_has_a_perfect_score() {
    let exact = |truth: f64| Outlook::of(truth, &mut [truth; 7], truth);
    let off = |truth: f64| Outlook::of(truth + 2.0, &mut [truth + 1.0, truth + 3.0], truth);
    let cell = |row: usize| Held {
        origin: 0,
        step: row,
        row,
        column: 0,
        truth: row as f64,
        outlooks: vec![exact(row as f64), off(row as f64)],
    };
    let told = Backtest { methods: vec!["a".into(), "b".into()], cells: vec![cell(1), cell(2)], units: vec![2.0] };
    let [exact, off]: [Scores; 2] = told.scores(|_| true).try_into().unwrap();
    assert_eq!((exact.crps, exact.mse, exact.mae, exact.coverage), (0.0, 0.0, 0.0, [1.0, 1.0]));
    // E|Y − y| = 2 and ½E|Y − Y'| = ½, in units of 2.
    assert_eq!((off.crps, off.mse, off.mae, off.coverage), (0.75, 1.0, 1.0, [0.0, 0.0]));
}

#[test]
fn a_back_test_is_deterministic_and_scores_observed_cells_of_every_family() {
    let mut y = Mat::from_fn(24, 2, |n, j| ((n * (j + 2)) % 5) as f64);
    y[(23, 1)] = f64::NAN;
    let trials = Trials::Each(Mat::from_fn(24, 2, |n, j| (4 + n + j) as f64));
    let times =
        || Times { at: (0..24).map(|n| f64::from(n / 2)).collect(), sequence: (0..24).map(|n| n % 2).collect() };
    let families: [Arc<dyn Family>; 2] = [Arc::new(Poisson), Arc::new(Binomial::new(trials))];
    for family in families {
        let data = Observations::new(y.clone()).unwrap().with_times(times()).unwrap();
        let spec = ModelSpec { features: 6, latent_dim: 1, ..ModelSpec::default() };
        let model = Model::with_blocks(data, vec![(vec![0, 1], family)], spec).unwrap();
        let told = go(&model, &request(2, 2));
        assert_eq!(told.methods, ["model", "last value", "straight line"]);
        assert_eq!(told.cells.len(), 2 * 2 * 2 * 2 - 1, "one cell is missing");
        for cell in &told.cells {
            assert_eq!((cell.outlooks.len(), cell.truth), (3, y[(cell.row, cell.column)]));
            assert!(cell.outlooks[0].ln_density.is_some_and(|v| v < 0.0) && cell.outlooks[1].ln_density.is_none());
            assert!(cell.outlooks.iter().all(|o| o.crps >= 0.0 && o.crps.is_finite()));
        }
        assert_eq!(told, go(&model, &request(2, 2)));
    }
}

#[test]
fn rows_after_an_origin_do_not_change_its_forecasts() {
    let y = Mat::from_fn(20, 2, |n, j| ((n * (j + 3)) % 7) as f64);
    let mut other = y.clone();
    (17..20).for_each(|n| other.row_mut(n).fill(50.0));
    let times = || Times::new((0..20).map(f64::from).collect());
    let [a, b] = [y, other].map(|y| go(&model(y, times(), Gaussian::default()), &request(1, 3)));
    for (a, b) in a.cells.iter().zip(&b.cells) {
        assert_ne!(a.truth, b.truth);
        assert!(a.outlooks.iter().zip(&b.outlooks).all(|(a, b)| a.quantiles == b.quantiles && a.mean == b.mean));
    }
}
