//! `rflvm kernel`: the learned kernel, as numbers and as a picture.

use crate::answer::{Asked, next_to, outputs};
use crate::args::KernelArgs;
use crate::failure::Failure;
use crate::picture::curves::{self, Curved, Line};
use crate::picture::spec::Picture;
use crate::predict::rows;
use crate::reply::{Reply, names};
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::kernel::Curve;
use rflvm_study::answers::kernel::{Curves, check_rows, covariance, kernel};
use rflvm_study::write;
use serde_json::json;
use std::path::Path;

/// Runs the command.
pub fn run(args: &KernelArgs) -> Result<(), Failure> {
    let reply = Reply::from(&args.reply);
    let asked = Asked::new(Some(&args.out), None, &args.replace, reply);
    if let Some(file) = args.matrix.as_deref().filter(|file| file.extension().is_none_or(|e| e != "npy")) {
        let (setting, value) = ("matrix", file.display().to_string());
        return Err(SpecError::Setting { setting, value, rule: "its name must end in .npy".into() }.into());
    }
    let fit = asked.fit(&args.dir)?;
    let (out, spectrum, svg) = (&args.out, next_to(&args.out, "-spectrum.csv"), next_to(&args.out, ".svg"));
    let mut outputs = outputs(&fit).overwrite(args.replace.overwrite);
    outputs.named(out)?;
    args.matrix.as_deref().map_or(Ok(()), |file| outputs.named(file))?;
    [&spectrum, &svg].into_iter().try_for_each(|file| outputs.unnamed(file))?;
    let rows = rows::rows(args.rows.as_deref().unwrap_or("all"), &fit.table)?;
    args.matrix.as_ref().map_or(Ok(()), |_| check_rows(rows.len()))?;
    let drawn = crate::answer::drawn(&fit, reply.console())?;
    let curves = kernel(&fit, &drawn)?;
    write::text(out, &curves.kernel().csv())?;
    write::text(&spectrum, &curves.density().csv())?;
    write::text(&svg, &picture(&curves).svg())?;
    let mut files: Vec<&Path> = vec![out, &spectrum, &svg];
    let list = names(&files).join(" ");
    reply.line(&format!("the kernel, its spectral density and a picture: {list}"))?;
    if let Some(file) = &args.matrix {
        let (found, count) = (covariance(&fit, &drawn, &rows)?, rows.len());
        write::npy(file, &[2, count, count], &[found.mean.as_slice(), found.sd.as_slice()].concat())?;
        files.push(file);
        reply.line(&format!("mean and standard deviation of K(X, X), 2 × {count} × {count}: {}", file.display()))?;
    }
    reply.object(&json!({ "files": names(&files) }))
}

/// The kernel, and its spectral density next to it.
pub fn picture(Curves { names, learned }: &Curves) -> Picture {
    let lines = |curves: &[Curve], has_band: bool| -> Vec<Line> {
        let line = |(name, curve): (&String, &Curve)| Line {
            name: if name == "all" { "all directions".into() } else { name.clone() },
            x: curve.at.clone(),
            y: curve.mean.clone(),
            band: has_band.then(|| [0, 1].map(|side| curve.band.iter().map(|band| band[side]).collect())),
        };
        // With a single axis, the last curve repeats the first.
        let shown = if names.len() == 2 { 1 } else { names.len() };
        names.iter().zip(curves).take(shown).map(line).collect()
    };
    let panel = |x: &str, y: &str, lines| Curved { x_label: x.into(), y_label: y.into(), lines };
    let kernel = panel("|δ|", "k(δ)", lines(&learned.kernel, true));
    let density = panel("frequency |w|", "spectral density", lines(&learned.density, false));
    let note = "bands: 5% to 95% of the draws".into();
    curves::picture(&curves::Curves { title: "The learned kernel".into(), panels: vec![kernel, density], note })
}
