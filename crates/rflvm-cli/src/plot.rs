//! `rflvm plot`: one picture of a fit.

mod convert;
pub mod over_time;

use crate::answer::{judged, outputs};
use crate::args::{Picture, PlotArgs};
use crate::check::report::Shown;
use crate::failure::Failure;
use crate::kernel as curves;
use crate::output;
use crate::reply::Reply;
use convert::Format;
use rflvm_study::answers::checks::checks;
use rflvm_study::answers::kernel::kernel;
use rflvm_study::answers::positions::positions;
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
    let (drawn, convergence) = judged(&fit, reply.console())?;
    let title = args.title.clone().unwrap_or_else(|| fit.title());
    let svg = match args.what {
        Picture::Latent => latent(&fit, &drawn, &title)?[0].take(),
        Picture::Paths => latent(&fit, &drawn, &title)?[1].take(),
        Picture::Trace => Some(over_time::trace(&drawn, &title)?.svg()),
        Picture::Forecast => Some(over_time::forecast(&fit, &drawn, args.horizon, &title)?.svg()),
        Picture::Kernel => Some(curves::picture(&kernel(&fit, &drawn)?).svg()),
        Picture::Check => Some(Shown(&checks(&fit, &drawn, &convergence)?).picture(&title).svg()),
    };
    format.write(&args.out, &svg.unwrap_or_default())?;
    reply.files(&[&args.out], &format!("picture: {}", args.out.display()))
}

fn latent(fit: &Fit, drawn: &Drawn, title: &str) -> Result<[Option<String>; 2], Failure> {
    Ok(output::pictures(fit, &positions(fit, drawn, 1)?.embedding, "posterior", title))
}
