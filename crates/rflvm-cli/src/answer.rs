//! An answer of a fit about rows that it was asked about: what each line begins with, then its cells.

use crate::failure::Failure;
use crate::results::warn_of_chains;
use crate::voice::Voice;
use rflvm::error::SpecError;
use rflvm::linalg::Mat;
use rflvm::posterior::predicted::Predicted;
use rflvm_study::cells::{csv_text, number as text};
use rflvm_study::drawn::Drawn;
use rflvm_study::{Fit, write};
use std::path::{Path, PathBuf};

/// How the lines of an answer begin.
pub struct Answer<'a> {
    pub fit: &'a Fit,
    /// Names of what they begin with.
    pub header: Vec<String>,
    /// What each row begins with.
    pub start: Vec<Vec<String>>,
}

impl Answer<'_> {
    /// Writes `…,column,mean,sd,q05,q50,q95`, one line per cell, columns in the table's order.
    pub fn write_cells(&self, path: &Path, cells: &[Vec<Predicted>]) -> Result<(), Failure> {
        let mut header = self.header.clone();
        header.extend(["column", "mean", "sd", "q05", "q50", "q95"].map(String::from));
        let places = self.fit.places();
        let lines = self.start.iter().zip(cells).flat_map(|(start, row)| {
            places.iter().zip(&self.fit.table.columns).map(move |(&j, name)| {
                let mut line = start.clone();
                line.push(name.clone());
                line.extend([row[j].mean, row[j].sd].iter().chain(&row[j].quantiles).map(|&v| text(v)));
                line
            })
        });
        Ok(write::text(path, &csv_text(header, lines))?)
    }

    /// Writes drawn table i beside `path`, one line per row, in the form of the table.
    pub fn write_table(&self, path: &Path, i: usize, drawn: &Mat) -> Result<PathBuf, Failure> {
        let mut header = self.header.clone();
        let (places, sources) = (self.fit.places(), self.fit.table.sources());
        header.extend(sources.iter().map(|source| source.name(&self.fit.table).to_string()));
        let lines = self.start.iter().enumerate().map(|(n, start)| {
            let mut line = start.clone();
            line.extend(sources.iter().map(|source| source.text(|j| drawn[(n, places[j])])));
            line
        });
        let file = numbered(path, i);
        write::text(&file, &csv_text(header, lines))?;
        Ok(file)
    }
}

/// The draws of a fit; warns about chains that are set aside.
pub fn drawn(fit: &Fit) -> Result<Drawn, Failure> {
    let (drawn, convergence) = Drawn::open(fit)?;
    warn_of_chains(&convergence, Voice::default());
    Ok(drawn)
}

/// Whether a file has the extension of what it will hold.
pub fn check_csv(path: &Path) -> Result<(), SpecError> {
    if path.extension().is_some_and(|e| e == "csv") {
        return Ok(());
    }
    let (setting, value) = ("out", path.display().to_string());
    Err(SpecError::Setting { setting, value, rule: "its name must end in .csv".into() })
}

/// table.csv is the pattern of table-1.csv, table-2.csv, …
pub fn numbered(path: &Path, i: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{}.csv", i + 1))
}

/// Names of files in one line.
pub fn listed(files: &[PathBuf]) -> String {
    files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" ")
}
