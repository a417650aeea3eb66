//! `rflvm report`: a fit as one interactive web page.

use crate::answer::{outputs, warn_of_chains};
use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::message::Flags;
use crate::reply::Reply;
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::convergence::Convergence;
use rflvm_report::{Image, Subject, html};
use rflvm_study::answers::positions::{Positions, positions};
use rflvm_study::drawn::Drawn;
use rflvm_study::{Fit, write};
use std::path::Path;

/// The name of the page in the folder of a fit.
pub const FILE: &str = "report.html";

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let file = args.out.clone().unwrap_or_else(|| args.dir.join(FILE));
    check_html(&file)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    outputs(&fit).own(&args.dir, &[FILE]).named(&file)?;
    let (drawn, convergence) = Drawn::open(&fit)?;
    warn_of_chains(&convergence, reply.console());
    let page = page(&fit, (&drawn, &convergence), &positions(&fit, &drawn, 1)?, args.image)?;
    write::text(&file, &page)?;
    let size = page.len() as f64 / 1e6;
    let line = format!("{} rows × {} columns, {size:.1} MB: {}", fit.model.rows(), fit.model.columns(), file.display());
    reply.files(&[&file], &line)
}

/// Writes the page into the folder of a fit that has just ended.
pub fn write(
    fit: &Fit,
    draws: (&Drawn, &Convergence),
    positions: &Positions,
    image: Option<Image>,
) -> Result<(), Failure> {
    Ok(write::text(&fit.dir.join(FILE), &page(fit, draws, positions, image)?)?)
}

fn page(
    fit: &Fit,
    draws: (&Drawn, &Convergence),
    positions: &Positions,
    image: Option<Image>,
) -> Result<String, Failure> {
    let subject = Subject::of(fit, draws, positions, &Flags)?;
    Ok(html(&subject, image)?)
}

fn check_html(path: &Path) -> Result<(), SpecError> {
    if path.extension().is_some_and(|extension| extension == "html") {
        return Ok(());
    }
    let (setting, value) = ("out", path.display().to_string());
    Err(SpecError::Setting { setting, value, rule: "its name must end in .html".into() })
}
