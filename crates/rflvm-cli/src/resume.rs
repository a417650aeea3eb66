//! `rflvm resume`: goes on with a fit that ended early.

use crate::args::ResumeArgs;
use crate::failure::Failure;
use crate::fit::Fit;
use crate::sample::checkpoint_path;
use crate::voice::Voice;
use rflvm::error::StoreError;
use rflvm::gibbs::checkpoint::{self, Checkpoint};
use std::path::Path;

/// Runs the command.
pub fn run(args: &ResumeArgs) -> Result<(), Failure> {
    let voice = Voice::from(&args.voice);
    let fit = Fit::open(&args.dir, |config| config.run.threads = args.threads.or(config.run.threads))?;
    let from = checkpoint(&fit, &args.dir)?;
    if from.is_none() {
        voice.say("the fit was stopped before its first checkpoint, so it begins anew");
    }
    fit.sample(from, args.debug, voice)
}

/// Where a fit was when it ended; `None` if that was before its first checkpoint.
pub fn checkpoint(fit: &Fit, dir: &Path) -> Result<Option<Checkpoint>, StoreError> {
    let path = checkpoint_path(dir);
    if !path.exists() {
        return Ok(None);
    }
    let checkpoint = checkpoint::load(&path)?;
    let damaged = |problem: &str| StoreError::Damaged { path: path.display().to_string(), problem: problem.into() };
    if checkpoint.version != env!("CARGO_PKG_VERSION") {
        let problem = format!(
            "the fit was begun by rflvm {}, and other versions may draw otherwise; resume it with that version",
            checkpoint.version
        );
        return Err(damaged(&problem));
    }
    if checkpoint.fingerprint != checkpoint::fingerprint(&fit.model) {
        let problem = "it belongs to another table or other settings; the table or config.toml was changed since the fit began, \
                       so put back what it was, or start a new fit";
        return Err(damaged(problem));
    }
    Ok(Some(checkpoint))
}
