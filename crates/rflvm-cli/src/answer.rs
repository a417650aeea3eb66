//! Results about rows: each line begins with what identifies the row, followed by its cells.

use crate::console::Console;
use crate::failure::Failure;
use crate::message::Flags;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::convergence::Convergence;
use rflvm::internal::posterior::predicted::Predicted;
use rflvm_study::apart::OutputError;
use rflvm_study::cells::{csv_text, number as text};
use rflvm_study::convergence::caution;
use rflvm_study::drawn::Drawn;
use rflvm_study::message::render;
use rflvm_study::outputs::Outputs;
use rflvm_study::{Fit, write};
use std::path::{Path, PathBuf};

/// How the lines of a result begin.
pub struct Answer<'a> {
    pub fit: &'a Fit,
    /// Names of the leading columns.
    pub header: Vec<String>,
    /// The leading cells of each row.
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

    /// Writes drawn table i next to `path`, one line per row, in the format of the table.
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

/// The outputs of a command that asks a fit a question.
pub fn outputs(fit: &Fit) -> Outputs {
    Outputs::of(fit.inputs())
}

/// Checks table-1.csv, table-2.csv, …
pub fn check_numbered(outputs: &mut Outputs, path: &Path, count: usize) -> Result<(), OutputError> {
    (0..count).try_for_each(|i| outputs.unnamed(&numbered(path, i)))
}

/// The draws of a fit; warns about chains that are set aside, and of a fit that has not converged.
pub fn drawn(fit: &Fit, console: Console) -> Result<Drawn, Failure> {
    let (drawn, convergence) = Drawn::open(fit)?;
    warn_of_chains(&convergence, console);
    if let Some(caution) = caution(&convergence, fit) {
        console.warn(&render(&caution, &Flags));
    }
    Ok(drawn)
}

/// Checks that a file name has the extension .csv.
pub fn check_csv(path: &Path) -> Result<(), SpecError> {
    if path.extension().is_some_and(|e| e == "csv") {
        return Ok(());
    }
    let (setting, value) = ("out", path.display().to_string());
    Err(SpecError::Setting { setting, value, rule: "its name must end in .csv".into() })
}

/// table.csv becomes table-1.csv, table-2.csv, …
pub fn numbered(path: &Path, i: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{}.csv", i + 1))
}

/// table.csv becomes table-NAME.csv.
pub fn next_to(path: &Path, name: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{name}.csv"))
}

/// Names of files on one line.
pub fn listed(files: &[PathBuf]) -> String {
    files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" ")
}

/// Warns about chains that were set aside, with the reason.
pub fn warn_of_chains(convergence: &Convergence, console: Console) {
    for (chain, verdict) in convergence.numbers.iter().zip(&convergence.chains).filter(|(_, v)| !v.used) {
        console.warn(&format!(
            "chain {} is stuck in a minor mode (log joint {:.0} below the best, {:.0} allowed) and is set aside; \
             run more chains to see how common this mode is",
            chain + 1,
            verdict.below,
            verdict.allowed
        ));
    }
}
