//! `rflvm compare`: the same table fitted in several ways, each scored on held-out cells.

mod candidate;
mod ledger;
mod piece;
mod report;
mod task;

use crate::args::CompareArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::stop;
use candidate::{Candidate, candidates};
use ledger::Ledger;
use piece::Piece;
use report::{Outcome, Report};
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Settings;
use rflvm::internal::split::{HeldOut, Split, split};
use rflvm_study::choices::KernelKind;
use rflvm_study::config::{Config, ModelConfig, SamplingConfig};
use rflvm_study::folder::FolderLock;
use rflvm_study::outputs::inputs;
use rflvm_study::table::Table;
use rflvm_study::times::Timeline;
use rflvm_study::{idle, model, reading, run};
use serde_json::Value;
use task::{Common, Job, Task};

/// Default warm-up sweeps and draws: scores of cells need fewer than intervals do.
pub const SWEEPS: u64 = 300;
/// Default fraction of the cells to hold out.
const SHARE: f64 = 0.1;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<(), Failure> {
    let console = Console::from(&args.console);
    let config = config(args)?;
    let how = held_out(args)?;
    let comparison = Comparison::new(args, config, how)?;
    Ledger::check(&args.out, &inputs(&comparison.config), args.overwrite)?;
    let _lock = FolderLock::take(&args.out)?;
    stop::listen(true);
    let ledger = Ledger::open(&args.out, &comparison.settings_in_words(), args.overwrite)?;
    let outcomes = comparison.fit_all(&ledger, console)?;
    Report::new(comparison.title(), &outcomes, comparison.note())?.tell(&args.out, console)
}

/// The settings that all candidates share; a comparison that is resumed without a seed keeps its own.
fn config(args: &CompareArgs) -> Result<Config, Failure> {
    let given = &args.config.0;
    let stored = [("keep", given.sampling.keep.is_some()), ("checkpoint", given.compute.checkpoint.is_some())];
    if let Some((setting, _)) = stored.into_iter().find(|(_, is_given)| *is_given) {
        let rule = "a comparison stores no draws; omit it, or fit the model that you choose".into();
        return Err(SpecError::Setting { setting, value: "given".into(), rule }.into());
    }
    if given.sampling.modes.is_some_and(|modes| modes > 1) {
        let rule =
            "a comparison samples one mode of each model; omit it, and sample several modes of the model that you choose"
                .into();
        return Err(SpecError::Setting { setting: "modes", value: "given".into(), rule }.into());
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

fn held_out(args: &CompareArgs) -> Result<HeldOut, SpecError> {
    match (args.folds, args.held_out) {
        (0, _) => {
            let rule = "it must be at least 1".into();
            Err(SpecError::Setting { setting: "folds", value: "0".into(), rule })
        }
        (1, share) => Ok(HeldOut::Share(share.unwrap_or(SHARE))),
        (_, Some(share)) => {
            let rule = "several folds hold out every cell once; omit one of the two".into();
            Err(SpecError::Setting { setting: "held-out", value: share.to_string(), rule })
        }
        (folds, None) => Ok(HeldOut::Folds(folds)),
    }
}

/// A comparison with all its candidates checked; nothing is written yet.
struct Comparison {
    config: Config,
    table: Table,
    timeline: Option<Timeline>,
    candidates: Vec<Candidate>,
    how: HeldOut,
    splits: Vec<Split>,
    settings: Settings,
    loo: bool,
}

impl Comparison {
    /// Reads the table, and checks every candidate against it.
    fn new(args: &CompareArgs, config: Config, how: HeldOut) -> Result<Self, Failure> {
        let settings = run::settings(&config);
        settings.check()?;
        model::time_spec(&config)?;
        if args.loo && config.time.is_some() {
            let rule = "rows with times share a path, so no row can be left out by itself; omit one of the two flags";
            return Err(SpecError::Setting { setting: "loo", value: "given".into(), rule: rule.into() }.into());
        }
        // Text can be fitted if the families are chosen automatically.
        let has_auto = args.likelihoods.iter().flatten().any(|name| name.eq_ignore_ascii_case("auto"));
        let asked = has_auto.then(|| Config { likelihood: Some("auto".into()), ..config.clone() });
        let mut table = reading::read(asked.as_ref().unwrap_or(&config))?;
        let timeline = Timeline::of(&config, &table)?;
        let candidates = candidates(args, &config, &table, timeline.as_ref())?;
        // Offsets do not depend on the held-out cells: size factors are those of the whole table.
        table.offset = candidates.first().map(|c| c.offset.clone());
        let wholes = candidates.first().map_or(&[][..], |c| &c.wholes);
        let y = Mat::from_vec(table.rows, table.columns.len(), table.values.clone());
        let splits = split(&y, wholes, how, Stream::new(settings.seed).named("held out"))?;
        Ok(Comparison { config, table, timeline, candidates, how, splits, settings, loo: args.loo })
    }

    /// Settings that all stored scores of a comparison must share, by name.
    fn settings_in_words(&self) -> Vec<(String, String)> {
        let held_out = match self.how {
            HeldOut::Share(share) => share.to_string(),
            HeldOut::Folds(folds) => format!("{folds} folds"),
        };
        let mut words = vec![
            ("table".to_string(), format!("{:016x}", ledger::table_hash(&self.table))),
            ("program".to_string(), env!("CARGO_PKG_VERSION").to_string()),
            ("held-out".to_string(), held_out),
        ];
        // All settings of a run that affect the draws. Those of the model are in the candidates' fingerprints.
        let Config { sampling, compute, .. } = &self.config;
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
    fn fit_all(&self, ledger: &Ledger, console: Console) -> Result<Vec<Outcome<'_>>, Failure> {
        run::use_instructions(&self.config);
        let common = Common { table: &self.table, timeline: self.timeline.as_ref(), settings: &self.settings };
        let mut tasks: Vec<Task<'_>> = Vec::new();
        for candidate in &self.candidates {
            let splits = self.splits.iter().enumerate();
            tasks.extend(splits.map(|(i, split)| Task { candidate, job: Job::Split { number: i + 1, split } }));
            tasks.extend(self.loo.then_some(Task { candidate, job: Job::LeaveOut }));
        }
        let mut pieces: Vec<Option<Piece>> = Vec::new();
        for task in &tasks {
            pieces.push(ledger.find(task)?);
        }
        let (all, done) = (tasks.len(), pieces.iter().flatten().count());
        let (rows, columns, seed) = (self.table.rows, self.table.columns.len(), self.settings.seed);
        let count = self.candidates.len();
        console.say(&format!(
            "{rows} rows × {columns} columns, {count} candidates, {all} fits, {done} of them done; seed {seed}"
        ));
        for (i, task) in tasks.iter().enumerate() {
            if pieces[i].is_none() {
                console.say(&format!("fit {} of {all}: {}", i + 1, task.words()));
                let Some(piece) = task.run(&common, console)? else {
                    let done = pieces.iter().flatten().count();
                    return Err(Failure::Paused { dir: ledger.dir().display().to_string(), done, all });
                };
                pieces[i] = Some(ledger.keep(task, &piece)?);
            }
        }
        let pieces: Vec<Piece> = pieces.into_iter().flatten().collect();
        let each = self.candidates.iter().zip(pieces.chunks(all / count));
        Ok(each.map(|(candidate, pieces)| Outcome::new(candidate, pieces)).collect())
    }

    /// The title of the picture.
    fn title(&self) -> String {
        let name = || self.table.path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        self.config.title.clone().unwrap_or_else(name)
    }

    /// A caveat for the reader of the scores.
    fn note(&self) -> Option<&'static str> {
        let reals = self.candidates.iter().filter(|c| c.is_real).count();
        ((1..self.candidates.len()).contains(&reals)).then_some(
            "densities of real columns are compared with probabilities of counts, as if each count were an interval of width 1, \
             which is an approximation",
        )
    }
}
