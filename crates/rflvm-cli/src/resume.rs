//! `rflvm resume`: continues an interrupted fit, or draws more from a finished one.

use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::fit::{Shown, check_page, sample};
use crate::voice::Voice;
use rflvm_study::folder::{Claim, config_path};
use rflvm_study::identity::checkpoint;
use rflvm_study::{Error, Fit};

/// Runs the command.
pub fn run(args: &ResumeArgs) -> Result<(), Failure> {
    let voice = Voice::from(&args.voice);
    if !config_path(&args.dir).exists() {
        return Err(Error::NoFit { dir: args.dir.display().to_string() }.into());
    }
    let claim = Claim::take(&args.dir)?;
    let fit = Fit::open(&args.dir, |config| {
        config.run.threads = args.threads.or(config.run.threads);
        config.run.device = args.device.or(config.run.device);
        config.run.draws = args.draws.or(config.run.draws);
    })?;
    fit.check_table()?;
    check_page(&args.page, &fit)?;
    let from = checkpoint(&fit)?;
    if from.is_none() {
        voice.say("the fit was stopped before its first checkpoint, so it starts over");
    }
    sample(&fit, &claim, from, &Shown { debug: args.debug, page: &args.page }, voice)
}
