//! A user-defined family: waiting times, y ~ Gamma(shape 2, mean e^f).
//!
//! The sampler needs only ln p(y | f) and its derivative; weights, positions, frequencies, missing cells and
//! prediction follow. Run it with `cargo run --release --example own_family`.

use rand::RngExt;
use rflvm::internal::draws::Memory;
use rflvm::internal::model::family::{Density, Generic, Theta};
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::posterior::{Posterior, score};
use rflvm::internal::rng::{Stream, StreamRng};
use rflvm::internal::run;
use rflvm::internal::run::Settings;
use rflvm::internal::simulate::s_curve;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// y ~ Gamma(shape 2, rate 2e^−f): density 4e^−2f · y · exp(−2y e^−f).
#[derive(Debug)]
struct Waiting;

impl Density for Waiting {
    fn name(&self) -> &'static str {
        "waiting-time"
    }

    fn problem(&self, y: f64) -> Option<String> {
        (y <= 0.0).then(|| "is not a waiting time; waiting times are positive".into())
    }

    fn ln_density(&self, y: f64, f: f64, _theta: &[f64]) -> f64 {
        4_f64.ln() - 2.0 * f + y.ln() - 2.0 * y * (-f).exp()
    }

    fn derivative(&self, y: f64, f: f64, _theta: &[f64]) -> f64 {
        -2.0 + 2.0 * y * (-f).exp()
    }

    fn mean(&self, f: f64, _theta: &[f64]) -> f64 {
        f.exp()
    }

    fn simulate(&self, f: f64, _theta: &[f64], rng: &mut StreamRng) -> f64 {
        // The sum of two exponential waits of mean e^f/2.
        let wait = |rng: &mut StreamRng| -(1.0 - rng.random::<f64>()).ln();
        0.5 * f.exp() * (wait(rng) + wait(rng)).max(f64::MIN_POSITIVE)
    }

    fn link(&self, y: f64) -> f64 {
        y.ln()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let curve = s_curve(150, 40, &Generic(Waiting), &Theta::none(40), 1, Stream::new(1))?;
    let mut y = curve.y.clone();
    // Hide a tenth of the cells: missing cells need nothing from the family.
    let hidden: Vec<(usize, usize)> =
        (0..150).flat_map(|n| (0..40).map(move |j| (n, j))).filter(|(n, j)| (7 * n + j) % 10 == 0).collect();
    hidden.iter().for_each(|&(n, j)| y[(n, j)] = f64::NAN);

    let spec = ModelSpec { features: 50, ..ModelSpec::default() };
    let model = Model::new(Observations::new(y)?, Generic(Waiting), spec)?;
    let settings = Settings { warmup: 300, draws: 200, seed: 1, ..Settings::default() };
    let chains = run::run(&model, &settings, |_| Memory::default(), |_| ControlFlow::Continue(()))?;
    let posterior = Posterior::new(model, chains, settings.seed)?;

    println!("R² of the positions: {:.3}", score::affine_r2(&posterior.embedding()?.mean, &curve.x));
    let cells: HashMap<(usize, usize), f64> =
        posterior.impute()?.into_iter().map(|cell| ((cell.row, cell.column), cell.predicted.mean)).collect();
    let error = |guess: &dyn Fn(usize, usize) -> f64| {
        let square = hidden.iter().map(|&(n, j)| (guess(n, j).ln() - curve.f[(n, j)]).powi(2)).sum::<f64>();
        (square / hidden.len() as f64).sqrt()
    };
    println!(
        "hidden cells, error of ln mean: {:.3} (baseline {:.3})",
        error(&|n, j| cells[&(n, j)]),
        error(&|_, _| 1.0)
    );
    Ok(())
}
