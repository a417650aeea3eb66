//! Whether intervals of positions hold what they say on tables drawn from the model itself: of the distances of some pairs of rows, the
//! share that lies in its 90% interval. One line of CSV on stdout for each table: seed, CPU seconds, ln p(Y | F) at the truth, its mean over the
//! draws of each chain, the share held by the intervals of all chains together, by those of each chain alone, and R̂ and the effective draws of
//! the slowest distance.

use clap::Parser;
use rand::RngExt;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::{Model, ModelSpec, State};
use rflvm::internal::posterior::diagnostics::diagnose;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Settings;
use rflvm::internal::run::chain::Chain;
use rflvm::internal::table::Host;
use rflvm::internal::{simulate, spec};
use std::error::Error;
use std::time::Instant;

#[derive(Parser)]
struct Args {
    #[arg(long, default_value = "poisson")]
    likelihood: String,
    #[arg(long, default_value_t = 80)]
    rows: usize,
    #[arg(long, default_value_t = 20)]
    columns: usize,
    #[arg(long, default_value_t = 2)]
    latent_dim: usize,
    #[arg(long, default_value_t = 100)]
    features: usize,
    /// Seeds of the tables.
    #[arg(long, default_value_t = 1)]
    from: u64,
    #[arg(long, default_value_t = 1)]
    to: u64,
    #[arg(long, default_value_t = 1000)]
    warmup: u64,
    #[arg(long, default_value_t = 1000)]
    draws: u64,
    #[arg(long, default_value_t = 2)]
    chains: usize,
    #[arg(long, default_value_t = 200)]
    pairs: usize,
    /// Fraction of the rows and frequencies that jump in a sweep.
    #[arg(long)]
    jumps: Option<f64>,
    /// Every this number of sweeps the log-likelihood of each chain is written to stderr.
    #[arg(long)]
    every: Option<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    println!("seed,seconds,truth,levels,held,alone,r_hat,ess");
    for seed in args.from..=args.to {
        let family = spec::family(&args.likelihood, None)?;
        let spec = ModelSpec { latent_dim: args.latent_dim, features: args.features, ..ModelSpec::default() };
        let mut model = simulate::blank(args.rows, vec![(args.columns, family)], 1, spec)?;
        let truth = simulate::draw_prior(&model, Stream::new(seed))?;
        model.set_values(&simulate::draw_data(&model, &truth, Stream::new(seed)));
        one(&args, &model, &truth, seed)?;
    }
    Ok(())
}

fn one(args: &Args, model: &Model, truth: &State, seed: u64) -> Result<(), Box<dyn Error>> {
    let rng = &mut Stream::new(seed).named("pairs").rng();
    let pairs: Vec<(usize, usize)> = (0..args.pairs)
        .map(|_| {
            let a = rng.random_range(0..args.rows);
            (a, (a + rng.random_range(1..args.rows)) % args.rows)
        })
        .collect();
    let mut settings = Settings { warmup: args.warmup, draws: args.draws, seed, ..Settings::default() };
    settings.moves.jumps = args.jumps.unwrap_or(settings.moves.jumps);
    let begun = Instant::now();
    // distances[pair][chain][draw]
    let mut distances = vec![vec![Vec::new(); args.chains]; pairs.len()];
    let mut levels = Vec::new();
    for c in 0..args.chains {
        let mut chain = Chain::new(model, &settings, c, Box::new(Host::default()))?;
        let mut level = 0.0;
        for sweep in 1..=args.warmup + args.draws {
            chain.advance()?;
            if args.every.is_some_and(|every| sweep % every == 0) {
                let seconds = begun.elapsed().as_secs_f64();
                eprintln!("{seed} {c} {sweep} {seconds:.1} {:.1}", model.ln_likelihood(chain.state()));
            }
            if sweep > args.warmup {
                level += model.ln_likelihood(chain.state()) / args.draws as f64;
                let found = all(chain.state().features.x(), &pairs);
                distances.iter_mut().zip(found).for_each(|(to, d)| to[c].push(d));
            }
        }
        levels.push(format!("{level:.0}"));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let known = all(truth.features.x(), &pairs);
    let share = |some: &dyn Fn(&Vec<Vec<f64>>) -> Vec<f64>| {
        let held = distances.iter().zip(&known).filter(|(of, d)| holds(some(of), **d)).count();
        held as f64 / pairs.len() as f64
    };
    let together = share(&|of| of.concat());
    let alone: Vec<String> = (0..args.chains).map(|c| format!("{:.3}", share(&|of| of[c].clone()))).collect();
    let diagnoses = distances.iter().map(|of| diagnose(&of.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    let (r_hat, ess) = diagnoses.fold((0.0_f64, f64::INFINITY), |(r, e), d| (r.max(d.r_hat), e.min(d.ess_bulk)));
    let here = model.ln_likelihood(truth);
    println!(
        "{seed},{seconds:.1},{here:.0},{},{together:.3},{},{r_hat:.3},{ess:.0}",
        levels.join(" "),
        alone.join(" ")
    );
    Ok(())
}

fn all(x: &Mat, pairs: &[(usize, usize)]) -> Vec<f64> {
    let distance = |&(a, b): &(usize, usize)| x.row(a).iter().zip(x.row(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    pairs.iter().map(|pair| distance(pair).sqrt()).collect()
}

/// Whether the central 90% of the draws hold a value.
fn holds(mut draws: Vec<f64>, value: f64) -> bool {
    draws.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| draws[(share * (draws.len() - 1) as f64).round() as usize];
    (at(0.05)..=at(0.95)).contains(&value)
}
