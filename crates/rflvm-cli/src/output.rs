//! What a fit leaves behind: embedding.csv, latent.svg, and paths.svg where there are times.

use crate::atomic;
use crate::cells::write_line;
use crate::failure::Failure;
use crate::picture::paths::{self, Paths};
use crate::picture::{self, Colour, Picture};
use crate::table::Table;
use crate::times::{Calendar, Timeline};
use rflvm::linalg::Mat;
use rflvm::posterior::align::Embedding;
use std::path::Path;

/// Writes a file by a temporary name.
pub fn write(path: &Path, contents: &str) -> Result<(), Failure> {
    atomic::write(path, contents.as_bytes())
        .map_err(|error| Failure::Write { path: path.display().to_string(), reason: atomic::plain_reason(&error) })
}

/// Cells as one CSV text, quoted where they need it, and with nothing that a spreadsheet would run.
pub fn csv_text(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all rows are as long as the header.
    let _ = write_line(&mut writer, header);
    rows.for_each(|row| drop(write_line(&mut writer, row)));
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// What is known of the rows beside their positions.
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

/// `id,label,x1,…,sd1,…`: posterior mean and standard deviation of each row's position; `time` and `sequence` after the label
/// where there are times.
pub fn embedding_csv(embedding: &Embedding, rows: &Rows<'_>) -> String {
    let (header, lines) = embedding_lines(embedding, rows);
    csv_text(header, lines.into_iter())
}

/// The same as cells: the header, and the lines below it.
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

/// The latent space: the first two axes, or one.
pub fn latent_svg(title: &str, embedding: &Embedding, colour: Colour<'_>) -> String {
    let (mean, dim) = (&embedding.mean, embedding.mean.cols());
    let second = |n: usize, v: &dyn Fn(usize) -> f64| if dim > 1 { v(n) } else { 0.0 };
    let points: Vec<(f64, f64)> = (0..mean.rows()).map(|n| (mean[(n, 0)], second(n, &|n| mean[(n, 1)]))).collect();
    let sds: Vec<(f64, f64)> =
        (0..mean.rows()).map(|n| (embedding.sd(n, 0), second(n, &|n| embedding.sd(n, 1)))).collect();
    picture::svg(&Picture {
        title,
        points: &points,
        sds: Some(&sds),
        colour,
        x_label: "x1",
        y_label: if dim > 1 { "x2" } else { "" },
    })
}

/// Each latent axis over time.
pub fn paths_svg(title: &str, embedding: &Embedding, timeline: &Timeline) -> String {
    let mean = &embedding.mean;
    let axis = |d: usize| (0..mean.rows()).map(|n| (mean[(n, d)], embedding.sd(n, d))).collect();
    paths::svg(&Paths {
        title,
        times: &timeline.times.at,
        format: (timeline.calendar != Calendar::Numbers).then_some(&|time| timeline.calendar.format(time)),
        sequences: &timeline.sequences(),
        names: &timeline.names,
        axes: &(0..mean.cols()).map(axis).collect::<Vec<_>>(),
    })
}

/// A matrix as CSV with named columns.
pub fn matrix_csv(prefix: &str, values: &Mat) -> String {
    let header = (1..=values.cols()).map(|j| format!("{prefix}{j}")).collect();
    csv_text(header, values.iter_rows().map(|row| row.iter().map(f64::to_string).collect()))
}
