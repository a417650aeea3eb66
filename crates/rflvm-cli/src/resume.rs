//! `rflvm resume`: continues an interrupted fit, or draws more from a finished one.

use crate::args::ResumeArgs;
use crate::begin::check_page;
use crate::console::Console;
use crate::failure::Failure;
use crate::fit::{Shown, sample};
use crate::ranks::Ranks;
use crate::report;
use rflvm_study::folder::{FolderLock, config_path, is_replacing};
use rflvm_study::identity::checkpoint;
use rflvm_study::{Config, Error, Fit, write};

/// Runs the command.
pub fn run(args: &ResumeArgs, ranks: &Ranks) -> Result<(), Failure> {
    let console = ranks.console(Console::from(&args.console));
    if !config_path(&args.dir).exists() && !is_replacing(&args.dir) {
        return Err(Error::NoFit { dir: args.dir.display().to_string() }.into());
    }
    let lock = if ranks.is_first() { Some(FolderLock::take(&args.dir)?) } else { None };
    let change = |config: &mut Config| {
        config.compute.threads = args.threads.or(config.compute.threads);
        config.compute.device = args.device.or(config.compute.device);
        // With a further warm-up, there may be fewer than before.
        config.sampling.draws = args.draws.filter(|_| args.warmup.is_none()).or(config.sampling.draws);
    };
    let mut fit = match ranks.all() {
        Some(ranks) => Fit::open_shared(&args.dir, change, ranks)?,
        None => Fit::open(&args.dir, change)?,
    };
    fit.check_table()?;
    fit.check_outputs()?;
    check_page(&args.page, &fit)?;
    let from = checkpoint(&fit)?;
    if from.is_none() {
        console.say("the fit was stopped before its first checkpoint, so it starts over");
    }
    if let Some(sweeps) = args.warmup {
        fit.warm_again(sweeps, args.draws, from.as_ref())?;
    }
    let is_extended = args.warmup.is_some() || from.as_ref().is_none_or(|from| from.draws() < fit.settings.draws);
    let report = args.dir.join(report::FILE);
    // Nothing changes in the folder before all have read it.
    ranks.wait();
    if args.page.no_report && is_extended && lock.is_some() && report.exists() {
        // It would be that of fewer draws.
        write::remove(&report)?;
    }
    sample(
        &fit,
        lock.as_ref(),
        from,
        &Shown { debug: args.debug && ranks.is_first(), page: &args.page, ranks },
        console,
    )
}
