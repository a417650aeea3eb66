//! Which maps a search finds, and which one it chooses: simulated S-curves with their truth, or any table. One line of CSV per map on stdout,
//! the chosen one first: table, seed, start, evidence, error, continuity, trustworthiness, R² of the truth (or of the first seed's map).

mod table;

use clap::Parser;
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::Poisson;
use rflvm::internal::model::{Model, ModelSpec};
use rflvm::internal::observations::Observations;
use rflvm::internal::posterior::score::affine_r2;
use rflvm::internal::run::Settings;
use rflvm::internal::run::modes::{Found, Plan, reached, search};
use rflvm::internal::spec;
use std::path::PathBuf;
use table::Error;

#[derive(Parser)]
struct Args {
    /// A table, .npy with two axes of f64; without it, S-curves of counts.
    table: Option<PathBuf>,
    #[arg(long, default_value = "gaussian")]
    likelihood: String,
    #[arg(long, default_value_t = 2)]
    latent_dim: usize,
    /// Seeds: of the simulated table, or of the search.
    #[arg(long, default_value_t = 1)]
    from: u64,
    #[arg(long, default_value_t = 1)]
    to: u64,
    #[arg(long, default_value_t = 500)]
    rows: usize,
    #[arg(long, default_value_t = 80)]
    columns: usize,
    /// Sweeps of a chain of the run, half of them warm-up.
    #[arg(long, default_value_t = 2000)]
    sweeps: u64,
    #[arg(long, default_value_t = 2)]
    chains: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Folder for the positions of the chosen map, SEED.csv: for seeds that are searched by separate programs.
    #[arg(long)]
    positions: Option<PathBuf>,
}

fn main() -> Result<(), Error> {
    let args = Args::parse();
    let table = args.table.as_deref().map(table::read).transpose()?;
    let mut first: Option<Mat> = None;
    for seed in args.from..=args.to {
        let settings = Settings {
            warmup: args.sweeps / 2,
            draws: args.sweeps / 2,
            chains: args.chains,
            threads: args.threads,
            seed,
            ..Settings::default()
        };
        let spec = ModelSpec { latent_dim: args.latent_dim, ..ModelSpec::default() };
        let (model, truth) = match &table {
            Some(y) => {
                let family = spec::family(&args.likelihood, None)?;
                let columns = (0..y.cols()).collect();
                (Model::with_blocks(Observations::new(y.clone())?, vec![(columns, family)], spec)?, None)
            }
            None => {
                let curve = table::counts(args.rows, args.columns, seed)?;
                (Model::new(Observations::new(curve.y)?, Poisson, spec)?, Some(curve.x))
            }
        };
        let plan = Plan::new(&model, &settings).ok_or("too few sweeps for a search")?;
        let pools: Vec<_> = (0..args.threads)
            .map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build())
            .collect::<Result<_, _>>()?;
        let clock = std::time::Instant::now();
        let maps = search(&model, &settings, &plan, &pools, None, &|| false)?.unwrap_or_default();
        let seconds = clock.elapsed().as_secs_f64();
        let mut found = maps.found.clone();
        if let Some(truth) = &truth {
            found.push(pools[0].install(|| reached(&model, &settings, &plan, truth))?);
        }
        let reference = truth.as_ref().or(first.as_ref());
        for (i, Found { start, evidence, error, continuity, trustworthiness, positions, .. }) in
            found.iter().enumerate()
        {
            let r2 = reference.map_or(1.0, |x| affine_r2(positions, x));
            println!(
                "{seed},{i},\"{start}\",{evidence:.1},{error:.1},{continuity:.4},{trustworthiness:.4},{r2:.3},{seconds:.1}"
            );
        }
        if let (Some(folder), Some(chosen)) = (&args.positions, found.first()) {
            let x = &chosen.positions;
            let line = |n: usize| x.row(n).iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
            std::fs::write(folder.join(format!("{seed}.csv")), (0..x.rows()).map(line).collect::<String>())?;
        }
        first = first.or_else(|| found.first().map(|f| f.positions.clone()));
    }
    Ok(())
}
