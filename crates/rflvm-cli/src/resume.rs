//! `rflvm resume`: goes on with a fit that ended early, or draws more from one that is done.

use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::fit::Fit;
use crate::folder::{Claim, config_path};
use crate::identity::checkpoint;
use crate::voice::Voice;

/// Runs the command.
pub fn run(args: &ResumeArgs) -> Result<(), Failure> {
    let voice = Voice::from(&args.voice);
    if !config_path(&args.dir).exists() {
        return Err(Failure::NoFit { dir: args.dir.display().to_string() });
    }
    let claim = Claim::take(&args.dir)?;
    let fit = Fit::open(&args.dir, |config| {
        config.run.threads = args.threads.or(config.run.threads);
        config.run.draws = args.draws.or(config.run.draws);
    })?;
    check_table(&fit)?;
    let from = checkpoint(&fit)?;
    if from.is_none() {
        voice.say("the fit was stopped before its first checkpoint, so it begins anew");
    }
    fit.sample(&claim, from, args.debug, voice)
}

/// The fit goes on with the table that its store holds. Where the file of that table says something else by now, somebody changed it and
/// would be surprised.
fn check_table(fit: &Fit) -> Result<(), Failure> {
    let Some(path) = fit.config.table.as_ref().filter(|path| path.is_file()) else { return Ok(()) };
    let now = Fit::new(fit.saved.clone(), &fit.dir)?.identity();
    if now.data == fit.identity().data {
        return Ok(());
    }
    let problem = "the table was changed since the fit began, and is now another table; put it back, remove it (the fit has a copy of \
                   what it began with), or start a new fit in another folder";
    Err(Failure::Foreign { path: path.display().to_string(), problem: problem.into() })
}
