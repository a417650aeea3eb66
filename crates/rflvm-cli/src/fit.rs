//! `rflvm fit`: a table in, latent positions with their uncertainty out.

use crate::args::{FitArgs, InstructionsArg, KernelArg, ModelArgs, OffsetArg, RunArgs, StartArg};
use crate::failure::Failure;
use crate::picture::Colour;
use crate::progress::Watch;
use crate::table::{self, ReadOptions, Table};
use crate::{atomic, output};
use rflvm::draws::Memory;
use rflvm::error::SpecError;
use rflvm::gibbs::chain::Settings;
use rflvm::gibbs::run;
use rflvm::gibbs::start::Start;
use rflvm::kernels::{self, Level};
use rflvm::linalg::Mat;
use rflvm::model::family::Trials;
use rflvm::model::spectral::{Kernel, Mixture};
use rflvm::model::{Amplitude, Model, ModelSpec};
use rflvm::observations::{Observations, Offset};
use rflvm::posterior::{Posterior, score};
use std::path::Path;

/// Runs the command.
pub fn run(args: &FitArgs) -> Result<(), Failure> {
    let options = ReadOptions {
        id: args.id.clone(),
        labels: args.labels.clone(),
        columns: args.columns.clone(),
        array: args.array.clone(),
        ..ReadOptions::default()
    };
    let mut table = table::read(&args.table, &options)?;
    let model =
        model(args, &mut table).map_err(|error| Failure::Data { file: args.table.display().to_string(), error })?;
    let settings = settings(&args.run);
    settings.check()?;
    kernels::force(match args.run.instructions {
        InstructionsArg::Best => Level::Avx512,
        InstructionsArg::Avx2 => Level::Avx2,
        InstructionsArg::Baseline => Level::Baseline,
    });
    atomic::prepare_dir(&args.out)?;
    let say = |line: String| {
        if !args.run.quiet {
            eprintln!("{line}");
        }
    };
    if !table.named {
        say("the first line holds numbers, so it is taken as data and columns are named 1, 2, …".into());
    }
    model.warnings().iter().for_each(|w| say(format!("warning: {w}")));
    say(format!(
        "{} rows × {} columns, {}; seed {}",
        model.rows(),
        model.columns(),
        model.blocks()[0].family.name(),
        settings.seed
    ));
    let posterior = sample(&model, &settings, args.run.quiet)?;
    report_chains(&posterior, &say);
    let embedding = posterior.embedding();
    let labels = table.labels.as_deref();
    let title = args.table.file_stem().map_or("latent space".into(), |s| s.to_string_lossy().into_owned());
    output::write(&args.out.join("embedding.csv"), &output::embedding_csv(&embedding, &table.ids, labels))?;
    let colour = labels.map_or(Colour::Plain, Colour::Labels);
    output::write(&args.out.join("latent.svg"), &output::latent_svg(&title, &embedding, colour))?;
    if model.has_missing() {
        output::write(&args.out.join("imputed.csv"), &output::imputed_csv(&model, &posterior, &table))?;
    }
    if let Some(labels) = labels {
        let (mean, sd) = score::nearest_neighbour_accuracy(&embedding.mean, labels, 5, 0);
        say(format!("1-nearest-neighbour accuracy of the labels, 5-fold: {mean:.3} ± {sd:.3}"));
    }
    say(format!("results in {}", args.out.display()));
    Ok(())
}

/// Samples all chains.
pub fn sample(model: &Model, settings: &Settings, quiet: bool) -> Result<Posterior, Failure> {
    let watch = Watch::new(quiet, settings.chains, settings.warmup + settings.draws * settings.thin);
    let chains = run::run(model, settings, |_| Memory::default(), |progress| watch.see(progress))?;
    Ok(Posterior::new(chains))
}

/// Says which chains were set aside, and by what rule.
pub fn report_chains(posterior: &Posterior, say: &impl Fn(String)) {
    for (chain, verdict) in posterior.verdicts().iter().enumerate().filter(|(_, v)| !v.used) {
        say(format!(
            "warning: chain {} sits in a lesser mode (log joint {:.0} below the best, {:.0} allowed) and is set aside; \
             run more chains to see how common its mode is",
            chain + 1,
            verdict.below,
            verdict.allowed
        ));
    }
}

/// Takes the values out of the table, so that they are not held twice.
fn model(args: &FitArgs, table: &mut Table) -> Result<Model, SpecError> {
    let columns = table.columns.len();
    let y = Mat::from_vec(table.rows, columns, std::mem::take(&mut table.values));
    let trials = args.trials.as_deref().map(|text| trials(text, table)).transpose()?;
    let family = rflvm::spec::family(&args.likelihood, trials)?;
    let offset = match args.offset {
        OffsetArg::None => Offset::None,
        OffsetArg::SizeFactors => Offset::SizeFactors,
    };
    let data = Observations::named(y, table.columns.clone())?.with_offset(offset)?;
    Model::with_blocks(data, vec![((0..columns).collect(), family)], spec(&args.model)?)
}

/// A number, or a table of the data's shape.
fn trials(text: &str, data: &Table) -> Result<Trials, SpecError> {
    let wrong = |rule: String| SpecError::Setting { setting: "trials", value: format!("'{text}'"), rule };
    if let Ok(number) = text.parse::<u32>() {
        return Ok(Trials::Same(number));
    }
    let options = ReadOptions { columns: Some(data.columns.clone()).filter(|_| data.named), ..ReadOptions::default() };
    let table = table::read(Path::new(text), &options)
        .map_err(|error| wrong(format!("it is neither a whole number nor a readable table ({error})")))?;
    if table.rows != data.rows || table.columns.len() != data.columns.len() {
        let (r, c) = (data.rows, data.columns.len());
        return Err(wrong(format!("it has {}×{} cells, the data {r}×{c}", table.rows, table.columns.len())));
    }
    // A missing number of trials is harmless where the cell itself is missing, and refused elsewhere by the family.
    Ok(Trials::Each(Mat::from_vec(table.rows, table.columns.len(), table.values)))
}

/// The model's settings as typed.
pub fn spec(args: &ModelArgs) -> Result<ModelSpec, SpecError> {
    let kernel = match args.kernel {
        KernelArg::Learned => Kernel::Learned(Mixture::default()),
        KernelArg::Rbf => Kernel::Rbf { length_scale: args.length_scale },
    };
    let amplitude = match args.amplitude.as_str() {
        "learned" => Amplitude::Learned { shape: 2.0, rate: 2.0 },
        number => Amplitude::Fixed(number.parse().map_err(|_| SpecError::Setting {
            setting: "amplitude",
            value: format!("'{number}'"),
            rule: "it must be a positive number or the word learned".into(),
        })?),
    };
    Ok(ModelSpec { latent_dim: args.latent_dim, features: args.features, kernel, amplitude, ..ModelSpec::default() })
}

fn settings(args: &RunArgs) -> Settings {
    Settings {
        warmup: args.warmup,
        draws: args.draws,
        thin: args.thin,
        chains: args.chains,
        seed: args.seed.unwrap_or_else(fresh_seed),
        threads: args.threads,
        start: match args.start {
            StartArg::Pca => Start::Pca,
            StartArg::Random => Start::Random,
        },
        ..Settings::default()
    }
}

/// A seed nobody chose; short enough to type again.
pub fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |t| (t.as_nanos() as u64) % 1_000_000_007)
}
