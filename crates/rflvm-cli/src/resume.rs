//! `rflvm resume`: continues an interrupted fit, or draws more from a finished one.

use crate::args::ResumeArgs;
use crate::crowd::Crowd;
use crate::failure::Failure;
use crate::fit::{Shown, check_page, sample};
use crate::report;
use crate::voice::Voice;
use rflvm_study::folder::{Claim, config_path, is_replacing};
use rflvm_study::identity::checkpoint;
use rflvm_study::{Config, Error, Fit, write};

/// Runs the command.
pub fn run(args: &ResumeArgs, crowd: &Crowd) -> Result<(), Failure> {
    let voice = crowd.voice(Voice::from(&args.voice));
    if !config_path(&args.dir).exists() && !is_replacing(&args.dir) {
        return Err(Error::NoFit { dir: args.dir.display().to_string() }.into());
    }
    let claim = if crowd.is_first() { Some(Claim::take(&args.dir)?) } else { None };
    let change = |config: &mut Config| {
        config.compute.threads = args.threads.or(config.compute.threads);
        config.compute.device = args.device.or(config.compute.device);
        // With a further warm-up, there may be fewer than before.
        config.sampling.draws = args.draws.filter(|_| args.warmup.is_none()).or(config.sampling.draws);
    };
    let mut fit = match crowd.ranks() {
        Some(ranks) => Fit::open_shared(&args.dir, change, ranks)?,
        None => Fit::open(&args.dir, change)?,
    };
    fit.check_table()?;
    fit.check_outputs()?;
    check_page(&args.page, &fit)?;
    let from = checkpoint(&fit)?;
    if from.is_none() {
        voice.say("the fit was stopped before its first checkpoint, so it starts over");
    }
    if let Some(sweeps) = args.warmup {
        fit.warm_again(sweeps, args.draws, from.as_ref())?;
    }
    let is_extended = args.warmup.is_some() || from.as_ref().is_none_or(|from| from.draws() < fit.settings.draws);
    let report = args.dir.join(report::FILE);
    // Nothing changes in the folder before all have read it.
    crowd.wait();
    if args.page.no_report && is_extended && claim.is_some() && report.exists() {
        // It would be that of fewer draws.
        write::remove(&report)?;
    }
    sample(&fit, claim.as_ref(), from, &Shown { debug: args.debug && crowd.is_first(), page: &args.page, crowd }, voice)
}
