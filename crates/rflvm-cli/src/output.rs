//! The pictures of positions: latent.svg, and paths.svg if rows have times.

use crate::failure::Failure;
use crate::labels::Labels;
use crate::picture::Colour;
use crate::picture::paths::{self, Line, Paths, Times, Values};
use crate::picture::scatter::{self, Scatter};
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::align::Embedding;
use rflvm_study::Fit;
use rflvm_study::cells::csv_text;
use rflvm_study::times::{Calendar, Timeline};
use rflvm_study::write;
use std::path::Path;

/// Half the width of a normal distribution's middle 90%, in standard deviations.
const BAND: f64 = 1.645;

/// The pictures of a fit: latent.svg, and paths.svg if rows have times. `errors` names the kind of standard deviation; modes after the
/// first have their number in the names of their files.
pub fn write_pictures(
    dir: &Path,
    fit: &Fit,
    embedding: &Embedding,
    errors: &str,
    mode: Option<usize>,
) -> Result<(), Failure> {
    let title = mode.map_or(fit.title(), |mode| format!("{}, mode {mode}", fit.title()));
    let [latent, paths] = pictures(fit, embedding, errors, &title);
    for (stem, picture) in [("latent", latent), ("paths", paths)] {
        if let Some(picture) = picture {
            write::text(&dir.join(of_mode(stem, mode, "svg")), &picture)?;
        }
    }
    Ok(())
}

/// The latent space, and the paths if rows have times.
pub fn pictures(fit: &Fit, embedding: &Embedding, errors: &str, title: &str) -> [Option<String>; 2] {
    let table = &fit.table;
    let labels = table.labels.as_deref().map(Labels::of);
    let timeline = fit.timeline.as_ref();
    let format = |time: f64| timeline.map_or(String::new(), |t| t.calendar.format(time));
    let has_dates = timeline.is_some_and(|t| t.calendar != Calendar::Numbers);
    let in_words: Option<&dyn Fn(f64) -> String> = if has_dates { Some(&format) } else { None };
    // Rows are coloured by their labels, or by their times if there are none.
    let colour = match (&labels, timeline) {
        (Some(Labels::Classes(classes)), _) => Colour::Labels(classes),
        (Some(Labels::Numbers(values)), _) => {
            Colour::Value { values, name: fit.config.labels.as_deref().unwrap_or("label"), format: None }
        }
        (None, Some(timeline)) => Colour::Value { values: &timeline.times.at, name: "time", format: in_words },
        (None, None) => Colour::Plain,
    };
    let (axes, sequences) = (&axes(embedding), &timeline.map_or(Vec::new(), Timeline::sequences));
    let names = timeline.map_or(&[][..], |timeline| &timeline.names);
    let latent = scatter::svg(&Scatter { title, axes, errors, colour, sequences, names });
    let Some(timeline) = timeline else { return [Some(latent), None] };
    let of = |axis: &[(f64, f64)], rows: &[usize], at: &dyn Fn((f64, f64)) -> f64| {
        rows.iter().map(|&n| Some(at(axis[n])).filter(|v| v.is_finite())).collect::<Vec<_>>()
    };
    let line = |(s, rows): (usize, &Vec<usize>), axis: &[(f64, f64)]| Line {
        name: (s < names.len()).then_some(s),
        rows: rows.clone(),
        values: of(axis, rows, &|(mean, _)| mean),
        bands: vec![[-BAND, BAND].map(|side| of(axis, rows, &|(mean, sd)| mean + side * sd))],
        ..Line::default()
    };
    let panel = |(d, axis): (usize, &Vec<(f64, f64)>)| Values {
        label: format!("latent axis {}", d + 1),
        lines: sequences.iter().enumerate().map(|one| line(one, axis)).collect(),
        ..Values::default()
    };
    let paths = Paths {
        title: title.into(),
        across: "time".into(),
        times: Times::On(timeline.times.at.clone(), timeline.calendar.clone()),
        panels: axes.iter().enumerate().map(panel).collect(),
        names: names.to_vec(),
        note: format!("bands: 90%, from means and {errors} sds"),
        ..Paths::default()
    };
    // Only texts of times can be wrong.
    [Some(latent), paths::picture(&paths).ok().map(|picture| picture.svg())]
}

/// The name of a file about a mode: latent.svg, latent-2.svg, …
pub fn of_mode(stem: &str, mode: Option<usize>, extension: &str) -> String {
    mode.map_or(format!("{stem}.{extension}"), |mode| format!("{stem}-{mode}.{extension}"))
}

/// The latent space of rows without times.
pub fn latent_svg(title: &str, embedding: &Embedding, colour: Colour<'_>) -> String {
    let errors = "posterior";
    scatter::svg(&Scatter { title, axes: &axes(embedding), errors, colour, sequences: &[], names: &[] })
}

/// Mean and standard deviation of each row, axis by axis.
fn axes(embedding: &Embedding) -> Vec<Vec<(f64, f64)>> {
    let mean = &embedding.mean;
    let axis = |d: usize| (0..mean.rows()).map(|n| (mean[(n, d)], embedding.sd(n, d))).collect();
    (0..mean.cols()).map(axis).collect()
}

/// A matrix as CSV with named columns.
pub fn matrix_csv(prefix: &str, values: &Mat) -> String {
    let header = (1..=values.cols()).map(|j| format!("{prefix}{j}")).collect();
    csv_text(header, values.iter_rows().map(|row| row.iter().map(f64::to_string).collect()))
}
