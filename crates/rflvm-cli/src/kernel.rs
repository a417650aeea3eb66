//! `rflvm kernel`: the learned kernel, as numbers and as a picture.

use crate::answer::{check_csv, drawn, outputs};
use crate::args::KernelArgs;
use crate::failure::Failure;
use crate::picture::curves::{self, Line, Panel};
use crate::predict::rows;
use crate::reply::{self, Reply};
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::fitted::{DRAWS, Fitted};
use rflvm::internal::posterior::frame::Frame;
use rflvm::internal::posterior::kernel::{Curve, Learned, diameter};
use rflvm_study::Fit;
use rflvm_study::cells::csv_text;
use rflvm_study::cells::number as text;
use rflvm_study::drawn::check_kernel_rows;
use rflvm_study::write;
use rflvm_study::write::npy_header;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(args: &KernelArgs) -> Result<(), Failure> {
    let answer = Reply::from(&args.reply);
    check_csv(&args.out)?;
    if let Some(file) = args.matrix.as_deref().filter(|file| file.extension().is_none_or(|e| e != "npy")) {
        let (setting, value) = ("matrix", file.display().to_string());
        return Err(SpecError::Setting { setting, value, rule: "its name must end in .npy".into() }.into());
    }
    let fit = Fit::open(&args.dir, |_| ())?;
    let (spectrum, picture) = (beside(&args.out, "-spectrum.csv"), beside(&args.out, ".svg"));
    let mut outputs = outputs(&fit).overwrite(args.replace.overwrite);
    outputs.named(&args.out)?;
    args.matrix.as_deref().map_or(Ok(()), |file| outputs.named(file))?;
    [&spectrum, &picture].into_iter().try_for_each(|file| outputs.unnamed(file))?;
    let rows = rows::rows(args.rows.as_deref().unwrap_or("all"), &fit.table)?;
    if args.matrix.is_some() {
        check_kernel_rows(rows.len())?;
    }
    let drawn = drawn(&fit, answer.console())?;
    let fitted = drawn.fitted(&fit, "kernel");
    let frame = fitted.frame()?;
    let reach = diameter(&fitted.embedding(&frame)?.mean);
    let learned = fitted.kernel(&frame, reach, DRAWS)?;
    let names = names(&frame);
    write::text(&args.out, &csv("delta", &names, &learned.kernel))?;
    write::text(&spectrum, &csv("frequency", &names, &learned.density))?;
    write::text(&picture, &svg(&names, &learned))?;
    answer.line(&format!(
        "the kernel, its spectral density and a picture: {} {} {}",
        args.out.display(),
        spectrum.display(),
        picture.display()
    ))?;
    let mut files = vec![args.out.clone(), spectrum, picture];
    if let Some(file) = &args.matrix {
        write_matrix(file, &fitted, &rows)?;
        files.push(file.clone());
        answer.line(&format!(
            "mean and standard deviation of K(X, X), 2 × {0} × {0}: {1}",
            rows.len(),
            file.display()
        ))?;
    }
    answer.object(&json!({ "files": reply::names(&files) }))
}

/// Names of the curves.
pub fn names(frame: &Frame) -> Vec<String> {
    (1..=frame.axes()).map(|d| format!("x{d}")).chain(["all".into()]).collect()
}

/// kernel.csv becomes kernel-spectrum.csv and kernel.svg.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}{ending}"))
}

/// `along`, the place, `mean`, `q05`, `q95`.
fn csv(place: &str, names: &[String], curves: &[Curve]) -> String {
    let header = ["along", place, "mean", "q05", "q95"].map(String::from).to_vec();
    let lines = names.iter().zip(curves).flat_map(|(name, curve)| {
        (0..curve.at.len()).map(move |i| {
            let numbers = [curve.at[i], curve.mean[i], curve.band[i][0], curve.band[i][1]];
            std::iter::once(name.clone()).chain(numbers.map(text)).collect()
        })
    });
    csv_text(header, lines)
}

pub fn svg(names: &[String], learned: &Learned) -> String {
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

/// The mean, then the standard deviation.
fn write_matrix(path: &Path, fitted: &Fitted<'_>, rows: &[usize]) -> Result<(), Failure> {
    let found = fitted.covariance(rows, DRAWS)?;
    let fill = |file: &mut std::io::BufWriter<std::fs::File>| {
        file.write_all(&npy_header(&[2, rows.len(), rows.len()]))?;
        let numbers = found.mean.as_slice().iter().chain(found.sd.as_slice());
        numbers.into_iter().try_for_each(|value| file.write_all(&value.to_le_bytes()))
    };
    Ok(write::with(path, fill)?)
}
