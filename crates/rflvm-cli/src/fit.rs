//! `rflvm fit`: from a table to latent positions with their uncertainty.

use crate::args::{FitArgs, PageArgs};
use crate::begin::{check_page, check_settings, tell};
use crate::console::Console;
use crate::failure::Failure;
use crate::map;
use crate::progress::Follower;
use crate::ranks::Ranks;
use crate::results;
use rflvm::internal::chunks::Tally;
use rflvm::internal::run::checkpoint::Checkpoint;
use rflvm_study::bytes::in_words;
use rflvm_study::choices::Method;
use rflvm_study::folder::FolderLock;
use rflvm_study::{Config, Fit, idle};
use std::sync::atomic::Ordering;

/// Runs the command.
pub fn run(args: &FitArgs, ranks: &Ranks) -> Result<(), Failure> {
    run_with(args, args.typed(), ranks)
}

/// Runs `fit --method map` under its earlier name.
pub fn as_map(args: &FitArgs, ranks: &Ranks) -> Result<(), Failure> {
    let words = "`rflvm map` is now `rflvm fit --method map`; the earlier name will be removed in version 0.4";
    ranks.console(Console::from(&args.console)).warn(words);
    let mut typed = args.typed();
    typed.sampling.method = Some(Method::Map);
    run_with(args, typed, ranks)
}

fn run_with(args: &FitArgs, typed: Config, ranks: &Ranks) -> Result<(), Failure> {
    let console = ranks.console(Console::from(&args.console));
    let file = Config::given(args.file.as_deref())?;
    console.notes(Config::earlier(args.file.as_deref()).as_slice());
    let noted = file.noted_table(&typed);
    let config = typed.clone().or(file).filled();
    idle::check(&typed, &config)?;
    if config.sampling.method == Some(Method::Map) {
        return map::run(args, config, noted, ranks);
    }
    let fit = match ranks.all() {
        Some(ranks) => Fit::shared(config, &args.out, ranks)?,
        None => Fit::new(config, &args.out)?,
    };
    fit.check_noted(noted)?;
    check_page(&args.page, &fit)?;
    check_settings(args.file.as_deref(), &args.out)?;
    // The table may lie in the folder, which is cleared once all have read it.
    ranks.wait();
    let lock = if ranks.is_first() { Some(fit.lock(args.overwrite)?) } else { None };
    ranks.wait();
    tell(&fit, console);
    sample(&fit, lock.as_ref(), None, &Shown { debug: false, page: &args.page, ranks }, console)
}

/// What a run shows besides its results.
pub struct Shown<'a> {
    /// One line per sweep.
    pub debug: bool,
    /// The report.
    pub page: &'a PageArgs,
    /// The processes that sample.
    pub ranks: &'a Ranks,
}

/// Samples, and writes the results; a process without a lock only samples.
pub fn sample(
    fit: &Fit,
    lock: Option<&FolderLock>,
    from: Option<Checkpoint>,
    shown: &Shown<'_>,
    console: Console,
) -> Result<(), Failure> {
    let follower =
        Follower::new(console, fit.settings.chains, fit.settings.sweeps(), shown.debug, shown.ranks.is_first());
    let Some(lock) = lock else { return Ok(fit.assist(from, &follower)?) };
    fit.run(lock, from, &follower)?;
    if let (Some(traffic), Some(part)) = (shown.ranks.traffic(), &fit.part) {
        let Tally { short, divided, long, gathered } = part.chunks().tally();
        let [short, divided, long, gathered] = [short, divided, long, gathered].map(|n| n.load(Ordering::Relaxed));
        console.detail(&format!(
            "{traffic}: {short} numbers in short sums, {long} in {divided} long sums, {gathered} gathered, {} branches",
            part.chunks().branches()
        ));
    }
    if fit.model.has_table() {
        return results::write(&fit.dir, fit, shown.page, console);
    }
    if let Some(whole) = fit.with_table()? {
        return results::write(&fit.dir, &whole, shown.page, console);
    }
    results::write(&fit.dir, fit, shown.page, console)?;
    let (dir, bytes) = (fit.dir.display(), in_words(fit.bytes_of_results()));
    console.say(&format!(
        "this process cannot hold the whole table, so there is no report, and no cell is imputed; where {bytes} are free, run: \
         rflvm report {dir}, or rflvm impute {dir}"
    ));
    Ok(())
}
