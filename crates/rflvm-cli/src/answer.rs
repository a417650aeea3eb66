//! An answer of a fit about rows that it was asked about: what each line begins with, then its cells.

use crate::drawn::{numbered, text};
use crate::failure::Failure;
use crate::fit::Fit;
use crate::output;
use rflvm::linalg::Mat;
use rflvm::posterior::predicted::Predicted;
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
    /// Writes `…,column,mean,sd,q05,q50,q95`, one line a cell, columns in the table's order.
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
        output::write(path, &output::csv_text(header, lines))
    }

    /// Writes drawn table i beside `path`, one line a row, in the form of the table.
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
        output::write(&file, &output::csv_text(header, lines))?;
        Ok(file)
    }
}
