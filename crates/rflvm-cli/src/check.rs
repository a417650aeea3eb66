//! `rflvm check`: does the model generate tables like the one that was fitted, and does its posterior contradict its priors?
//!
//! A separate command rather than a flag of `predict`, because every fit should be checked, as with `summary`.

pub mod report;

use crate::answer::{check_csv, outputs, warn_of_chains};
use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::message::Flags;
use crate::reply::{Reply, names};
use report::Shown;
use rflvm_study::answers::checks::checks;
use rflvm_study::drawn::Drawn;
use rflvm_study::{Fit, write};
use serde_json::json;

/// Runs the command.
pub fn run(args: &CheckArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let file = args.out.clone().unwrap_or_else(|| args.dir.join("check.csv"));
    check_csv(&file)?;
    let picture = file.with_extension("svg");
    let fit = Fit::open(&args.dir, |_| ())?;
    let mut outputs = outputs(&fit).own(&args.dir, &["check.csv", "check.svg"]).overwrite(args.replace.overwrite);
    outputs.either(&file, args.out.is_some())?;
    outputs.unnamed(&picture)?;
    let (drawn, convergence) = Drawn::open(&fit)?;
    warn_of_chains(&convergence, reply.console());
    let report = checks(&fit, &drawn, &convergence)?;
    let shown = Shown(&report);
    write::text(&file, &report.answer(&Flags).csv())?;
    write::text(&picture, &shown.picture(&fit.title()).svg())?;
    shown.lines().iter().try_for_each(|line| reply.line(line))?;
    reply.line(&format!("table and picture: {} {}", file.display(), picture.display()))?;
    let mut told = report.as_json(&Flags);
    told["files"] = json!(names(&[file, picture]));
    reply.object(&told)
}
