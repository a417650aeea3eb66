//! Does the chosen map also predict best? Held-out log density of each map that a search finds, and of their stacking. One line of CSV per
//! map on stdout, the chosen one first: seed, map, start, log evidence, its error, continuity, stacking weight, mean log density of a
//! held-out cell; then a line for the stacking. The weights come from the cells that were fitted.

mod table;

use clap::Parser;
use rflvm::internal::draws::{Draw, Draws, Memory};
use rflvm::internal::error::StoreError;
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::posterior::Posterior;
use rflvm::internal::posterior::heldout::TestPoints;
use rflvm::internal::posterior::stacking::mean_ln_density;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::{Run, Settings};
use rflvm::internal::spec;
use rflvm::internal::split::{HeldOut, split};
use std::ops::ControlFlow;
use std::path::PathBuf;
use table::Error;

#[derive(Parser)]
struct Args {
    /// A table, .npy with two axes of f64; without it, simulated S-curves of counts, 500×80.
    table: Option<PathBuf>,
    #[arg(long, default_value = "gaussian")]
    likelihood: String,
    #[arg(long, default_value_t = 2)]
    latent_dim: usize,
    /// Seeds: of the held-out cells and of the fit.
    #[arg(long, default_value_t = 1)]
    from: u64,
    #[arg(long, default_value_t = 1)]
    to: u64,
    /// How many maps to sample.
    #[arg(long, default_value_t = 3)]
    modes: usize,
    #[arg(long, default_value_t = 0.1)]
    held_out: f64,
    #[arg(long, default_value_t = 1000)]
    warmup: u64,
    #[arg(long, default_value_t = 1000)]
    draws: u64,
    /// Chains of each map.
    #[arg(long, default_value_t = 2)]
    chains: usize,
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

/// The draws of a chain, and the log density of each held-out cell in each.
struct Sink<'a> {
    memory: Memory,
    points: &'a TestPoints,
    ln_density: Vec<Vec<f64>>,
}

impl Draws for Sink<'_> {
    fn push(&mut self, draw: &Draw<'_>) -> Result<(), StoreError> {
        self.ln_density.push(self.points.ln_densities(draw.model, draw.state));
        self.memory.push(draw)
    }
}

/// ln of the mean density of each held-out cell over the draws of some chains.
fn heldout(sinks: &[Sink<'_>], used: &[usize]) -> Vec<f64> {
    let draws: Vec<&Vec<f64>> = used.iter().flat_map(|&chain| &sinks[chain].ln_density).collect();
    let of = |i: usize| {
        let top = draws.iter().map(|draw| draw[i]).fold(f64::NEG_INFINITY, f64::max);
        top + (draws.iter().map(|draw| (draw[i] - top).exp()).sum::<f64>() / draws.len() as f64).ln()
    };
    (0..draws.first().map_or(0, |draw| draw.len())).map(of).collect()
}

fn main() -> Result<(), Error> {
    let args = Args::parse();
    let table = args.table.as_deref().map(table::read).transpose()?;
    for seed in args.from..=args.to {
        let (y, likelihood) = match &table {
            Some(y) => (y.clone(), &args.likelihood[..]),
            None => (table::counts(500, 80, seed)?.y, "poisson"),
        };
        let parts = split(&y, &[], HeldOut::Share(args.held_out), Stream::new(seed).named("held out"))?;
        let settings = Settings {
            warmup: args.warmup,
            draws: args.draws,
            chains: args.chains * args.modes,
            modes: args.modes,
            threads: args.threads,
            seed,
            ..Settings::default()
        };
        let spec = ModelSpec { latent_dim: args.latent_dim, ..ModelSpec::default() };
        let blocks = vec![((0..y.cols()).collect(), spec::family(likelihood, None)?)];
        let model = Model::with_blocks(Observations::new(parts[0].train.clone())?, blocks, spec)?;
        let points = TestPoints::new(&model, &parts[0].test);
        let mut run = Run::start(&model, &settings, None)?;
        let sink = |_| Sink { memory: Memory::default(), points: &points, ln_density: Vec::new() };
        let mut sinks: Vec<Sink<'_>> = (0..settings.chains).map(sink).collect();
        run.go_on(&mut sinks, |_| ControlFlow::Continue(()))?;
        let found: Vec<_> = run.modes().found.iter().filter(|found| !found.chains.is_empty()).collect();
        let groups: Vec<Vec<usize>> = found.iter().map(|found| found.chains.clone()).collect();
        let chains = sinks.iter_mut().map(|sink| std::mem::take(&mut sink.memory)).collect();
        let posterior = Posterior::of_modes(model.clone(), chains, &groups, seed)?;
        let weights: Vec<f64> = posterior.modes().iter().map(|map| map.weight).collect();
        let mut scores = Vec::new();
        for (map, found) in posterior.modes().iter().zip(&found) {
            let of = heldout(&sinks, &map.used);
            let mean = mean_ln_density(std::slice::from_ref(&of), &[1.0]);
            println!(
                "{seed},{},\"{}\",{:.1},{:.1},{:.4},{:.3},{mean:.4}",
                scores.len() + 1,
                found.start,
                found.evidence,
                found.error,
                found.continuity,
                map.weight
            );
            scores.push(of);
        }
        println!("{seed},stacking,,,,,1,{:.4}", mean_ln_density(&scores, &weights));
    }
    Ok(())
}
