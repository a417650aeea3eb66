//! `rflvm plot`: one picture of a fit.

mod convert;
mod over_time;

use crate::answer::{drawn, outputs};
use crate::args::{Picture, PlotArgs};
use crate::check::report::Shown;
use crate::failure::Failure;
use crate::kernel;
use crate::output;
use crate::reply::Reply;
use convert::Format;
use rflvm::internal::posterior::check::REPLICATES;
use rflvm::internal::posterior::convergence::judge_chains;
use rflvm::internal::posterior::fitted::DRAWS;
use rflvm::internal::posterior::kernel::diameter;
use rflvm_study::check::Report;
use rflvm_study::convergence::Began;
use rflvm_study::drawn::Drawn;
use rflvm_study::{Error, Fit};

/// Runs the command.
pub fn run(args: &PlotArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let format = Format::of(&args.out)?;
    let fit = Fit::open(&args.dir, |_| ())?;
    // Pictures of which the fit has its own.
    let own = match args.what {
        Picture::Latent => &["latent.svg"][..],
        Picture::Paths => &["paths.svg"],
        Picture::Check => &["check.svg"],
        Picture::Trace | Picture::Kernel | Picture::Forecast => &[],
    };
    outputs(&fit).own(&args.dir, own).named(&args.out)?;
    if fit.timeline.is_none() && matches!(args.what, Picture::Paths | Picture::Forecast) {
        return Err(Error::Timeless { dir: args.dir.display().to_string() }.into());
    }
    let drawn = drawn(&fit, reply.console())?;
    let title = args.title.clone().unwrap_or_else(|| fit.title());
    let svg = match args.what {
        Picture::Latent => latent(&fit, &drawn, &title)?[0].take(),
        Picture::Paths => latent(&fit, &drawn, &title)?[1].take(),
        Picture::Trace => Some(over_time::trace(&drawn, &title)?),
        Picture::Forecast => Some(over_time::forecast(&fit, &drawn, args.horizon, &title)?),
        Picture::Kernel => Some(learned(&fit, &drawn)?),
        Picture::Check => Some(checks(&fit, &drawn, &title)?),
    };
    format.write(&args.out, &svg.unwrap_or_default())?;
    reply.files(&[&args.out], &format!("picture: {}", args.out.display()))
}

fn latent(fit: &Fit, drawn: &Drawn, title: &str) -> Result<[Option<String>; 2], Failure> {
    let fitted = drawn.fitted(fit, "results");
    Ok(output::pictures(fit, &fitted.embedding(&fitted.frame()?)?, "posterior", title))
}

fn learned(fit: &Fit, drawn: &Drawn) -> Result<String, Failure> {
    let fitted = drawn.fitted(fit, "kernel");
    let frame = fitted.frame()?;
    let reach = diameter(&fitted.embedding(&frame)?.mean);
    Ok(kernel::svg(&kernel::names(&frame), &fitted.kernel(&frame, reach, DRAWS)?))
}

fn checks(fit: &Fit, drawn: &Drawn, title: &str) -> Result<String, Failure> {
    let checks = drawn.fitted(fit, "check").check(REPLICATES)?;
    let convergence = judge_chains(&drawn.store, &drawn.used)?;
    let (model, began) = (&fit.model, Began::of(&fit.dir));
    let report = Report { checks: &checks, conflicts: &[], model, convergence: &convergence, began };
    Ok(Shown(&report).svg(title))
}
