//! `rflvm check`: does the model make tables like the one that was fitted?
//!
//! A command of its own and not a flag of `predict`: it is asked of every fit, as `summary` is.

pub mod report;

use crate::args::CheckArgs;
use crate::drawn::{Drawn, check_csv};
use crate::failure::Failure;
use crate::fit::Fit;
use crate::output;
use crate::results::warn_of_chains;
use crate::voice::{Voice, tell, tell_json};
use report::Report;
use rflvm::posterior::check::REPLICATES;

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let file = args.out.clone().unwrap_or_else(|| args.dir.join("check.csv"));
    check_csv(&file)?;
    let picture = file.with_extension("svg");
    let fit = Fit::open(&args.dir, |_| ())?;
    fit.use_instructions();
    let (drawn, convergence) = Drawn::judged(&fit)?;
    warn_of_chains(&convergence, Voice::default());
    let checks = drawn.fitted(&fit, "check").check(REPLICATES)?;
    let report = Report { checks: &checks, model: &fit.model, convergence: &convergence };
    output::write(&file, &report.csv())?;
    output::write(&picture, &report.svg(&fit.title()))?;
    if args.json {
        return tell_json(&report.as_json());
    }
    report.lines().iter().try_for_each(|line| tell(line))?;
    tell(&format!("table and picture: {} {}", file.display(), picture.display()))
}
