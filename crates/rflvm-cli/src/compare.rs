//! `rflvm compare`: the same table fitted in several ways, each scored on held-out cells.

mod ledger;
mod report;

use crate::args::CompareArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Watch;
use crate::stop;
use ledger::Ledger;
use report::Report;
use rflvm::internal::error::SpecError;
use rflvm::internal::run::{Progress, Run};
use rflvm::internal::split::HeldOut;
use rflvm_study::blocks::Given;
use rflvm_study::choices::KernelKind;
use rflvm_study::comparison::{Comparison, Lists, Piece, Plan, Ranked};
use rflvm_study::config::{Config, ModelConfig, SamplingConfig};
use rflvm_study::folder::FolderLock;
use rflvm_study::outputs::inputs;
use rflvm_study::sample::Follow;
use rflvm_study::{idle, reading};
use serde_json::Value;

/// Default warm-up sweeps and draws: scores of cells need fewer than intervals do.
pub const SWEEPS: u64 = 300;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let console = Console::from(&args.console);
    let config = config(args)?;
    let comparison = Comparison::new(config, &Given::default(), &plan(args), reading::read)?;
    Ledger::check(&args.out, &inputs(comparison.config()), args.overwrite)?;
    let _lock = FolderLock::take(&args.out)?;
    stop::listen(true);
    let ledger = Ledger::open(&args.out, &settings_in_words(&comparison), args.overwrite)?;
    let ranked = fit_all(&comparison, &ledger, console)?;
    Report { title: title(&comparison), ranked }.tell(&args.out, console)
}

fn plan(args: &CompareArgs) -> Plan {
    let CompareArgs { latent_dims, likelihoods, kernels, feature_counts, folds, held_out, loo, .. } = args;
    let lists = Lists {
        latent_dims: latent_dims.clone(),
        likelihoods: likelihoods.clone(),
        kernels: kernels.clone(),
        feature_counts: feature_counts.clone(),
    };
    Plan { lists, folds: *folds, held_out: *held_out, loo: *loo }
}

/// The settings that all candidates share; a comparison that is resumed without a seed keeps its own.
fn config(args: &CompareArgs) -> Result<Config, Failure> {
    let given = &args.config.0;
    let stored = [("keep", given.sampling.keep.is_some()), ("checkpoint", given.compute.checkpoint.is_some())];
    if let Some((setting, _)) = stored.into_iter().find(|(_, is_given)| *is_given) {
        let rule = "a comparison stores no draws; omit it, or fit the model that you choose".into();
        return Err(SpecError::Setting { setting, value: "given".into(), rule }.into());
    }
    let seed = if args.overwrite { None } else { Ledger::seed(&args.out) };
    let sampling = SamplingConfig { warmup: Some(SWEEPS), draws: Some(SWEEPS), seed, ..SamplingConfig::default() };
    let all = given.clone().or(Config { sampling, ..Config::default() }).filled();
    // A candidate may need what others do not.
    let kernel = args.kernels.iter().flatten().find(|kernel| **kernel == KernelKind::Rbf).copied();
    let kernel = kernel.or(all.model.kernel);
    let likelihood = all.likelihood.clone().filter(|_| args.likelihoods.is_none());
    idle::check(given, &Config { likelihood, model: ModelConfig { kernel, ..all.model.clone() }, ..all.clone() })?;
    Ok(all)
}

/// Settings that all stored scores of a comparison must share, by name.
fn settings_in_words(comparison: &Comparison) -> Vec<(String, String)> {
    let held_out = match comparison.held_out() {
        HeldOut::Share(share) => share.to_string(),
        HeldOut::Folds(folds) => format!("{folds} folds"),
    };
    let mut words = vec![
        ("table".to_string(), format!("{:016x}", ledger::table_hash(comparison.table()))),
        ("program".to_string(), env!("CARGO_PKG_VERSION").to_string()),
        ("held-out".to_string(), held_out),
    ];
    // All settings of a run that affect the draws. Those of the model are in the candidates' fingerprints.
    let Config { sampling, compute, .. } = comparison.config();
    let all = [serde_json::to_value(sampling), serde_json::to_value(compute)].map(Result::unwrap_or_default);
    let given = all.iter().filter_map(Value::as_object).flatten();
    let changes_draws = |name: &str| !["method", "threads", "keep", "checkpoint"].contains(&name);
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    let mut run: Vec<(String, String)> = given
        .filter(|(name, value)| changes_draws(name) && !value.is_null())
        .map(|(name, value)| (name.clone(), word(value)))
        .collect();
    run.sort();
    words.extend(run);
    words
}

/// Runs the fits that are not in the ledger yet.
fn fit_all<'a>(comparison: &'a Comparison, ledger: &Ledger, console: Console) -> Result<Ranked<'a>, Failure> {
    let (tasks, settings, table) = (comparison.tasks(), comparison.settings(), comparison.table());
    let mut pieces: Vec<Option<Piece>> = Vec::new();
    for task in &tasks {
        pieces.push(ledger.find(task)?);
    }
    let (all, done) = (tasks.len(), pieces.iter().flatten().count());
    let (rows, columns, seed) = (table.rows, table.columns.len(), settings.seed);
    let count = comparison.candidates().len();
    console.say(&format!(
        "{rows} rows × {columns} columns, {count} candidates, {all} fits, {done} of them done; seed {seed}"
    ));
    for (i, task) in tasks.iter().enumerate() {
        if pieces[i].is_none() {
            console.say(&format!("fit {} of {all}: {}", i + 1, task.words()));
            let watching = Watching { watch: Watch::new(console, settings.chains, settings.sweeps(), false) };
            let Some(piece) = comparison.run(task, None, &watching)? else {
                let done = pieces.iter().flatten().count();
                return Err(Failure::Paused { dir: ledger.dir().display().to_string(), done, all });
            };
            pieces[i] = Some(ledger.keep(task, &piece)?);
        }
    }
    let pieces: Vec<Piece> = pieces.into_iter().flatten().collect();
    Ok(comparison.ranked(&pieces)?)
}

/// Shows one fit.
struct Watching {
    watch: Watch,
}

impl Follow for Watching {
    fn see(&self, progress: Progress<'_>) {
        self.watch.see(progress);
    }

    fn is_stopped(&self) -> bool {
        stop::is_requested()
    }

    fn end(&self, _run: &Run<'_>) {
        self.watch.finish();
    }
}

/// The title of the picture.
fn title(comparison: &Comparison) -> String {
    let name = || comparison.table().path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    comparison.config().title.clone().unwrap_or_else(name)
}
