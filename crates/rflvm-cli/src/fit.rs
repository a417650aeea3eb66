//! `rflvm fit`: from a table to latent positions with their uncertainty.

use crate::args::{FitArgs, PageArgs};
use crate::crowd::Crowd;
use crate::failure::Failure;
use crate::map;
use crate::progress::Follower;
use crate::results;
use crate::voice::Voice;
use crate::wording::Flags;
use rflvm::chunks::Tally;
use rflvm::error::SpecError;
use rflvm::run::checkpoint::Checkpoint;
use rflvm_study::apart::{OutputError, is_same, keep_apart};
use rflvm_study::bytes::in_words;
use rflvm_study::choices::Method;
use rflvm_study::folder::{Claim, RESULTS, config_path, holds_fit};
use rflvm_study::wording::render;
use rflvm_study::{Config, Fit, idle};
use serde_json::json;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Runs the command.
pub fn run(args: &FitArgs, crowd: &Crowd) -> Result<(), Failure> {
    run_with(args, args.typed(), crowd)
}

/// Runs `fit --method map` under its earlier name.
pub fn as_map(args: &FitArgs, crowd: &Crowd) -> Result<(), Failure> {
    let words = "`rflvm map` is now `rflvm fit --method map`; the earlier name will be removed in version 0.4";
    crowd.voice(Voice::from(&args.voice)).warn(words);
    let mut typed = args.typed();
    typed.sampling.method = Some(Method::Map);
    run_with(args, typed, crowd)
}

fn run_with(args: &FitArgs, typed: Config, crowd: &Crowd) -> Result<(), Failure> {
    let voice = crowd.voice(Voice::from(&args.voice));
    let file = Config::given(args.file.as_deref())?;
    voice.notes(Config::earlier(args.file.as_deref()).as_slice());
    let noted = file.noted_table(&typed);
    let config = typed.clone().or(file).filled();
    idle::check(&typed, &config)?;
    if config.sampling.method == Some(Method::Map) {
        return map::run(args, config, noted, crowd);
    }
    let fit = match crowd.ranks() {
        Some(ranks) => Fit::shared(config, &args.out, ranks)?,
        None => Fit::new(config, &args.out)?,
    };
    fit.check_noted(noted)?;
    check_page(&args.page, &fit)?;
    check_settings(args.file.as_deref(), &args.out)?;
    // The table may lie in the folder, which is cleared once all have read it.
    crowd.wait();
    let claim = if crowd.is_first() { Some(fit.claim(args.overwrite)?) } else { None };
    crowd.wait();
    tell(&fit, voice);
    sample(&fit, claim.as_ref(), None, &Shown { debug: false, page: &args.page, crowd }, voice)
}

/// Announces what is fitted.
pub fn tell(fit: &Fit, voice: Voice) {
    fit.table.notes.iter().for_each(|note| voice.insist(&render(&note.text, &Flags)));
    if !fit.table.named {
        voice.say("the file does not name its columns, so they are named 1, 2, …");
    }
    if let Some(timeline) = &fit.timeline {
        voice.say(&timeline.line());
        voice.notes(&timeline.notes());
    }
    if let Some(dynamics) = fit.model.dynamics() {
        voice.say(&dynamics.describe());
        if let Some(kernel) = fit.model.spec().residual {
            voice.say(&format!("each column also has its own path, with the {} kernel", kernel.name()));
        }
    }
    fit.model.warnings().iter().for_each(|warning| voice.warn(warning));
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
    voice.say(&format!("{rows} rows × {columns} columns, {told}; seed {seed}"));
    voice.event("start", json!({ "rows": rows, "columns": columns, "families": families, "seed": seed }));
}

/// The files of a fit or of a point estimate in a folder.
pub fn results(dir: &Path) -> Vec<String> {
    let files = RESULTS.iter().map(|name| dir.join(name)).filter(|file| file.exists());
    files.map(|file| file.display().to_string()).collect()
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
    pub crowd: &'a Crowd,
}

/// Samples, and writes the results; a process without a claim only samples.
pub fn sample(
    fit: &Fit,
    claim: Option<&Claim>,
    from: Option<Checkpoint>,
    shown: &Shown<'_>,
    voice: Voice,
) -> Result<(), Failure> {
    let follower =
        Follower::new(voice, fit.settings.chains, fit.settings.sweeps(), shown.debug, shown.crowd.is_first());
    let Some(claim) = claim else { return Ok(fit.assist(from, &follower)?) };
    fit.run(claim, from, &follower)?;
    if let (Some(traffic), Some(part)) = (shown.crowd.traffic(), &fit.part) {
        let Tally { short, divided, long, gathered } = part.chunks().tally();
        let [short, divided, long, gathered] = [short, divided, long, gathered].map(|n| n.load(Ordering::Relaxed));
        voice.detail(&format!(
            "{traffic}: {short} numbers in short sums, {long} in {divided} long sums, {gathered} gathered, {} branches",
            part.chunks().branches()
        ));
    }
    if fit.model.has_table() {
        return results::write(&fit.dir, fit, shown.page, voice);
    }
    if let Some(whole) = fit.with_table()? {
        return results::write(&fit.dir, &whole, shown.page, voice);
    }
    results::write(&fit.dir, fit, shown.page, voice)?;
    let (dir, bytes) = (fit.dir.display(), in_words(fit.bytes_of_results()));
    voice.say(&format!(
        "this process cannot hold the whole table, so there is no report, and no cell is imputed; where {bytes} are free, run: \
         rflvm report {dir}, or rflvm impute {dir}"
    ));
    Ok(())
}
