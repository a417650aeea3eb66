//! `rflvm demo`: the Poisson S-curve, made on the spot, fitted before your eyes.

use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::fit::{report_chains, sample};
use crate::picture::Colour;
use crate::{atomic, output};
use rflvm::error::RunError;
use rflvm::gibbs::chain::Settings;
use rflvm::model::family::{Poisson, Theta};
use rflvm::model::{Model, ModelSpec};
use rflvm::observations::Observations;
use rflvm::posterior::score::affine_r2;
use rflvm::rng::Stream;
use rflvm::simulate::s_curve;
use std::time::Instant;

/// Rows and columns of the table.
const SHAPE: (usize, usize) = (500, 100);

/// Runs the command.
pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    let (rows, columns) = SHAPE;
    let stream = Stream::new(args.seed).named("demo");
    let curve = s_curve(rows, columns, &Poisson, &Theta::none(columns), 1, stream)
        .map_err(|source| Failure::Run(RunError::Numerical { chain: 0, sweep: 0, source }))?;
    let model = Model::new(Observations::new(curve.y)?, Poisson, ModelSpec::default())?;
    let settings = Settings {
        warmup: args.warmup,
        draws: args.draws,
        seed: args.seed,
        threads: args.threads,
        ..Settings::default()
    };
    settings.check()?;
    atomic::prepare_dir(&args.out)?;
    if !args.quiet {
        eprintln!("{rows} rows of {columns} Poisson counts, born on an S-shaped curve; 2 chains, seed {}", args.seed);
    }
    let begun = Instant::now();
    let posterior = sample(&model, &settings, args.quiet)?;
    let seconds = begun.elapsed().as_secs_f64();
    report_chains(&posterior, &|line| eprintln!("{line}"));
    let embedding = posterior.embedding();
    let ids: Vec<String> = (1..=rows).map(|n| n.to_string()).collect();
    let along: Vec<String> = curve.t.iter().map(|t| format!("{t:.4}")).collect();
    let (table, picture) = (args.out.join("embedding.csv"), args.out.join("latent.svg"));
    output::write(&table, &output::embedding_csv(&embedding, &ids, Some(&along)))?;
    let colour = Colour::Value { values: &curve.t, name: "position along the S" };
    output::write(&picture, &output::latent_svg("An S-curve found in Poisson counts", &embedding, colour))?;
    println!("R² of the posterior-mean positions against the true S: {:.4}", affine_r2(&embedding.mean, &curve.x));
    println!("{seconds:.0} seconds of sampling");
    println!("picture: {}", picture.display());
    println!("table:   {}", table.display());
    Ok(())
}
