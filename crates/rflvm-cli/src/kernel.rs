//! `rflvm kernel`: the learned kernel, as numbers and as a picture.

use crate::answer::{Asked, next_to, outputs};
use crate::args::KernelArgs;
use crate::failure::Failure;
use crate::picture::curves::{self, Line, Panel};
use crate::predict::rows;
use crate::reply::{Reply, names};
use rflvm::error::SpecError;
use rflvm::posterior::kernel::Curve;
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
    let (out, spectrum, picture) = (&args.out, next_to(&args.out, "-spectrum.csv"), next_to(&args.out, ".svg"));
    let mut outputs = outputs(&fit).overwrite(args.replace.overwrite);
    outputs.named(out)?;
    args.matrix.as_deref().map_or(Ok(()), |file| outputs.named(file))?;
    [&spectrum, &picture].into_iter().try_for_each(|file| outputs.unnamed(file))?;
    let rows = rows::rows(args.rows.as_deref().unwrap_or("all"), &fit.table)?;
    args.matrix.as_ref().map_or(Ok(()), |_| check_rows(rows.len()))?;
    let drawn = crate::answer::drawn(&fit, reply.console())?;
    let curves = kernel(&fit, &drawn)?;
    write::text(out, &curves.kernel().csv())?;
    write::text(&spectrum, &curves.density().csv())?;
    write::text(&picture, &svg(&curves))?;
    let mut files: Vec<&Path> = vec![out, &spectrum, &picture];
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

pub fn svg(Curves { names, learned }: &Curves) -> String {
    let lines = |curves: &[Curve], has_band: bool| -> Vec<Line> {
        let line = |(name, curve): (&String, &Curve)| {
            let at = |i: usize| (curve.at[i], curve.mean[i], has_band.then_some((curve.band[i][0], curve.band[i][1])));
            // With a single axis, the last curve repeats the first.
            Line {
                name: if name == "all" { "all directions".into() } else { name.clone() },
                points: (0..curve.at.len()).map(at).collect(),
            }
        };
        let shown = if names.len() == 2 { 1 } else { names.len() };
        names.iter().zip(curves).take(shown).map(line).collect()
    };
    let panels = [
        Panel { x_label: "|δ|", y_label: "k(δ)", lines: lines(&learned.kernel, true) },
        Panel { x_label: "frequency |w|", y_label: "spectral density", lines: lines(&learned.density, false) },
    ];
    curves::svg("The learned kernel", &panels, "bands: 5% to 95% of the draws")
}
