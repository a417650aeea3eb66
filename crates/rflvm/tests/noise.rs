//! The noise of columns that learn from each other: columns whose noise differs keep it, and a column of few values is not fitted exactly.

use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::{Gaussian, Theta};
use rflvm::internal::model::pool::Pool;
use rflvm::internal::model::priors::Noise;
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Settings;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::simulate::s_curve;
use rflvm::internal::table::Host;

/// Posterior means of ln σ_j in units of the column's spread, and of the positions' distances within and between groups of rows.
fn fitted(model: &Model, groups: &[usize]) -> (Vec<f64>, f64) {
    let settings = Settings { warmup: 200, draws: 100, threads: 1, ..Settings::default() };
    let mut chain = Chain::new(model, &settings, 0, Box::new(Host::default())).unwrap();
    let (mut ln_noise, mut explained) = (vec![0.0; model.columns()], 0.0);
    for i in 0..settings.sweeps() {
        chain.advance().unwrap();
        if i < settings.warmup {
            continue;
        }
        let state = chain.state();
        for (j, ln) in ln_noise.iter_mut().enumerate() {
            *ln -= 0.5 * (state.theta[0].values[(0, j)] * model.units()[j].scale.powi(2)).ln() / settings.draws as f64;
        }
        explained += between(state.features.x(), groups) / settings.draws as f64;
    }
    (ln_noise, explained)
}

fn pooled() -> Gaussian {
    Gaussian { noise: Noise::Pooled(Pool::default()) }
}

/// Share of the variance of positions that lies between groups of rows.
fn between(x: &Mat, groups: &[usize]) -> f64 {
    let mean = |rows: &[usize], d: usize| rows.iter().map(|&n| x[(n, d)]).sum::<f64>() / rows.len() as f64;
    let all: Vec<usize> = (0..x.rows()).collect();
    let (mut inside, mut total) = (0.0, 0.0);
    for d in 0..x.cols() {
        let centre = mean(&all, d);
        total += all.iter().map(|&n| (x[(n, d)] - centre).powi(2)).sum::<f64>();
        for group in 0..=groups.iter().copied().max().unwrap_or(0) {
            let rows: Vec<usize> = all.iter().copied().filter(|&n| groups[n] == group).collect();
            let centre = if rows.is_empty() { 0.0 } else { mean(&rows, d) };
            inside += rows.iter().map(|&n| (x[(n, d)] - centre).powi(2)).sum::<f64>();
        }
    }
    1.0 - inside / total
}

#[test]
fn columns_keep_noise_that_differs_by_a_factor_of_thirty() {
    const COLUMNS: usize = 12;
    let noise = |j: usize| if j.is_multiple_of(2) { 0.05_f64 } else { 1.5 };
    let theta = Theta { values: Mat::from_fn(1, COLUMNS, |_, j| noise(j).powi(-2)), hyper: Vec::new() };
    let curve = s_curve(200, COLUMNS, &Gaussian::default(), &theta, 1, Stream::new(6)).unwrap();
    let spec = ModelSpec { features: 40, ..ModelSpec::default() };
    let model = Model::new(Observations::new(curve.y).unwrap(), pooled(), spec).unwrap();
    let (ln_noise, _) = fitted(&model, &vec![0; 200]);
    for (j, ln) in ln_noise.iter().enumerate() {
        let ratio = ln.exp() * model.units()[j].scale / noise(j);
        println!("column {j}: {ratio:.2} times its noise");
        assert!((0.6..1.6).contains(&ratio), "column {j}: {ratio}");
    }
}

#[test]
fn a_column_of_three_values_keeps_noise_and_does_not_part_the_rows() {
    // Four columns along a curve with noise, and a year that has nothing to do with them.
    let theta = Theta { values: Mat::from_fn(1, 4, |_, _| 9.0), hyper: Vec::new() };
    let curve = s_curve(150, 4, &Gaussian::default(), &theta, 1, Stream::new(7)).unwrap();
    let years: Vec<usize> = (0..150).map(|n| (n * 7 + n / 5) % 3).collect();
    let y = Mat::from_fn(150, 5, |n, j| if j < 4 { curve.y[(n, j)] } else { 2007.0 + years[n] as f64 });
    let spec = ModelSpec { features: 40, ..ModelSpec::default() };
    let model = Model::new(Observations::new(y).unwrap(), pooled(), spec).unwrap();
    let (ln_noise, explained) = fitted(&model, &years);
    println!("noise of the year {:.3}, variance of positions between years {explained:.3}", ln_noise[4].exp());
    assert!(ln_noise[4].exp() > 0.25, "{}", ln_noise[4].exp());
    assert!(explained < 0.3, "{explained}");
}
