//! `rflvm fit`: from a table to latent positions with their uncertainty.

use crate::args::{FitArgs, PageArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::message::Flags;
use crate::progress::Follower;
use crate::ranks::Ranks;
use crate::results;
use rflvm::internal::chunks::Tally;
use rflvm::internal::error::SpecError;
use rflvm::internal::run::checkpoint::Checkpoint;
use rflvm_study::apart::{OutputError, is_same, keep_apart};
use rflvm_study::bytes::in_words;
use rflvm_study::folder::{FolderLock, RESULTS, config_path, holds_fit};
use rflvm_study::message::render;
use rflvm_study::{Config, Fit, idle};
use serde_json::json;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Runs the command.
pub fn run(args: &FitArgs, ranks: &Ranks) -> Result<(), Failure> {
    let console = ranks.console(Console::from(&args.console));
    let file = Config::given(args.file.as_deref())?;
    let noted = file.noted_table(&args.config.0);
    let config = args.config.0.clone().or(file).filled();
    idle::check(&args.config.0, &config)?;
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

/// Announces what is fitted.
pub fn tell(fit: &Fit, console: Console) {
    fit.table.notes.iter().for_each(|note| console.insist(&render(&note.text, &Flags)));
    if !fit.table.named {
        console.say("the file does not name its columns, so they are named 1, 2, …");
    }
    if let Some(timeline) = &fit.timeline {
        console.say(&timeline.line());
        console.notes(&timeline.notes());
    }
    if let Some(dynamics) = fit.model.dynamics() {
        console.say(&dynamics.describe());
        if let Some(kernel) = fit.model.spec().column_process {
            console.say(&format!("each column also has a column process, with the {} kernel", kernel.name()));
        }
    }
    fit.model.warnings().iter().for_each(|warning| console.warn(warning));
    let (rows, columns, seed) = (fit.model.rows(), fit.model.columns(), fit.settings.seed);
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for block in fit.model.blocks() {
        let (name, columns) = (block.family.name(), block.columns.len());
        match counts.iter_mut().find(|count| count.0 == name) {
            Some(count) => count.1 += columns,
            None => counts.push((name, columns)),
        }
    }
    let families: Vec<&str> = counts.iter().map(|count| count.0).collect();
    let told = match &counts[..] {
        [(name, _)] => name.to_string(),
        several => several.iter().map(|(name, columns)| format!("{columns} {name}")).collect::<Vec<_>>().join(", "),
    };
    console.say(&format!("{rows} rows × {columns} columns, {told}; seed {seed}"));
    console.event("start", json!({ "rows": rows, "columns": columns, "families": families, "seed": seed }));
}

/// Refuses pictures of the wrong size before anything is run.
pub fn check_page(page: &PageArgs, fit: &Fit) -> Result<(), SpecError> {
    page.image.map_or(Ok(()), |image| image.check(fit.table.columns.len()))
}

/// Refuses to replace the file with the settings, unless it is that of the fit to be replaced.
pub fn check_settings(file: Option<&Path>, out: &Path) -> Result<(), OutputError> {
    let Some(file) = file.filter(|file| !(holds_fit(out) && is_same(file, &config_path(out)))) else { return Ok(()) };
    keep_apart(&[file.to_path_buf()], RESULTS.map(|name| out.join(name)))
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
