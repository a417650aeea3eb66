//! The results of a fit: embedding.csv, latent.svg, and paths.svg if rows have times.

use crate::failure::Failure;
use crate::labels::Labels;
use crate::picture::Colour;
use crate::picture::paths::{self, Paths};
use crate::picture::scatter::{self, Scatter};
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::align::Embedding;
use rflvm_study::Fit;
use rflvm_study::cells::csv_text;
use rflvm_study::table::Table;
use rflvm_study::times::{Calendar, Timeline};
use rflvm_study::write;
use std::path::Path;

/// What is known about the rows in addition to their positions.
pub struct Rows<'a> {
    pub ids: &'a [String],
    pub labels: Option<&'a [String]>,
    pub times: Option<&'a [String]>,
    pub sequences: Option<&'a [String]>,
}

impl<'a> From<&'a Table> for Rows<'a> {
    fn from(table: &'a Table) -> Self {
        Rows {
            ids: &table.ids,
            labels: table.labels.as_deref(),
            times: table.time.as_deref(),
            sequences: table.sequence.as_deref(),
        }
    }
}

/// `id,label,x1,…,sd1,…`: each row's position and its standard deviation; with `time` and `sequence` after the
/// label if rows have times, and with spatial medians as `median1,…` at the end if they are given.
pub fn embedding_csv(embedding: &Embedding, medians: Option<&Mat>, rows: &Rows<'_>) -> String {
    let (mut header, mut lines) = embedding_lines(embedding, rows);
    if let Some(medians) = medians {
        header.extend((1..=medians.cols()).map(|d| format!("median{d}")));
        let rows = lines.iter_mut().zip(medians.iter_rows());
        rows.for_each(|(line, median)| line.extend(median.iter().map(f64::to_string)));
    }
    csv_text(header, lines.into_iter())
}

/// embedding.csv as cells: the header, and the lines below it.
pub fn embedding_lines(embedding: &Embedding, rows: &Rows<'_>) -> (Vec<String>, Vec<Vec<String>>) {
    let dim = embedding.mean.cols();
    let mut header = vec!["id".to_string(), "label".to_string()];
    if rows.times.is_some() {
        header.extend(["time".to_string(), "sequence".to_string()]);
    }
    header.extend((1..=dim).map(|d| format!("x{d}")));
    header.extend((1..=dim).map(|d| format!("sd{d}")));
    let row = |n: usize| {
        let cell = |cells: Option<&[String]>| cells.map_or(String::new(), |cells| cells[n].clone());
        let mut row = vec![rows.ids[n].clone(), cell(rows.labels)];
        if rows.times.is_some() {
            row.extend([cell(rows.times), cell(rows.sequences)]);
        }
        row.extend(embedding.mean.row(n).iter().map(f64::to_string));
        row.extend((0..dim).map(|d| embedding.sd(n, d).to_string()));
        row
    };
    (header, (0..embedding.mean.rows()).map(row).collect())
}

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
    let banded = |&(mean, sd): &(f64, f64)| (mean, [mean - BAND * sd, mean + BAND * sd]);
    let paths = paths::svg(&Paths {
        title,
        across: "time",
        times: &timeline.times.at,
        format: in_words,
        sequences,
        names,
        axes: &axes.iter().map(|axis| axis.iter().map(banded).collect()).collect::<Vec<_>>(),
        labels: &(1..=axes.len()).map(|d| format!("x{d}")).collect::<Vec<_>>(),
        note: &format!("bands: 90%, from means and {errors} sds"),
    });
    [Some(latent), Some(paths)]
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
