//! A question that a command asks a fit: where the answer goes, and how it is written.

use crate::args::ReplaceArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::message::Flags;
use crate::reply::{Reply, names};
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::convergence::Convergence;
use rflvm_study::answers::Answer;
use rflvm_study::answers::cells::Cells;
use rflvm_study::answers::convergence::caution;
use rflvm_study::drawn::Drawn;
use rflvm_study::message::render;
use rflvm_study::outputs::Outputs;
use rflvm_study::{Fit, write};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where an answer goes: into a CSV file, or, with --json alone, into the object that is printed.
pub struct Asked<'a> {
    pub out: Option<&'a Path>,
    /// Number of tables to draw, each into its own file.
    pub draws: Option<usize>,
    pub overwrite: bool,
    pub reply: Reply,
}

impl<'a> Asked<'a> {
    pub fn new(out: Option<&'a PathBuf>, draws: Option<usize>, replace: &ReplaceArgs, reply: Reply) -> Self {
        Asked { out: out.map(PathBuf::as_path), draws, overwrite: replace.overwrite, reply }
    }

    /// The fit; the name of the file is checked before it is read.
    pub fn fit(&self, dir: &Path) -> Result<Fit, Failure> {
        self.out.map_or(Ok(()), check_csv)?;
        Ok(Fit::open(dir, |_| ())?)
    }

    /// The draws of the fit, once it is known that there are enough of them, and that no file is replaced that must be kept.
    pub fn drawn(&self, fit: &Fit, outputs: Outputs) -> Result<Drawn, Failure> {
        let (drawn, convergence) = Drawn::open(fit)?;
        let mut outputs = outputs.overwrite(self.overwrite);
        match (self.out, self.draws) {
            (Some(out), Some(count)) => {
                drawn.check_count(count)?;
                (0..count).try_for_each(|i| outputs.unnamed(&numbered(out, i)))?;
            }
            (Some(out), None) => outputs.named(out)?,
            (None, _) => {}
        }
        warn(fit, &convergence, self.reply.console());
        Ok(drawn)
    }

    /// Writes the answer and says what it is about; returns the object to print.
    pub fn write(&self, answer: &Answer, about: &str) -> Result<Value, Failure> {
        let Some(out) = self.out else { return Ok(json!({ "columns": answer.json() })) };
        write::text(out, &answer.csv())?;
        self.reply.line(&format!("{about}: {}", out.display()))?;
        Ok(json!({ "files": names(&[out]) }))
    }

    /// Writes the answer, and nothing else.
    pub fn answer(&self, answer: &Answer, about: &str) -> Result<(), Failure> {
        self.reply.object(&self.write(answer, about)?)
    }

    /// Writes what is predicted of cells, one line per cell, or tables of them, table-1.csv, table-2.csv, …, one line per row. `rows` and `tables` are
    /// what they are called: "new row", "futures".
    pub fn cells(&self, cells: &Cells<'_>, rows: &str, tables: &str) -> Result<(), Failure> {
        let counted = |count: usize| format!("{count} {rows}{}", if count == 1 { "" } else { "s" });
        let (Some(out), Some(count)) = (self.out, self.draws) else {
            let answer = cells.answer()?;
            // Missing cells are counted, and not their rows.
            let count = if cells.is_of_rows() { cells.rows() } else { answer.lines() };
            return self.answer(&answer, &counted(count));
        };
        cells.check_tables(count)?;
        let sources = cells.fit.table.sources();
        let mut files = Vec::with_capacity(count);
        cells.tables(count, |i, table: &Mat| -> Result<(), Failure> {
            let file = numbered(out, i);
            write::with(&file, |file| {
                let mut writer = csv::Writer::from_writer(file);
                let lead = cells.lead.iter().map(|column| column.name.as_str());
                writer.write_record(lead.chain(sources.iter().map(|source| source.name(&cells.fit.table))))?;
                for n in 0..table.rows() {
                    let values = sources.iter().map(|source| source.text(|j| table[(n, j)]));
                    writer.write_record(cells.lead.iter().map(|column| column.text(n)).chain(values))?;
                }
                writer.flush()
            })?;
            files.push(file);
            Ok(())
        })?;
        let of = if cells.is_of_rows() { format!(" of {}", counted(cells.rows())) } else { String::new() };
        let list = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ");
        self.reply.files(&files, &format!("{count} {tables}{of}: {list}"))
    }
}

/// The outputs of a command that asks a fit a question.
pub fn outputs(fit: &Fit) -> Outputs {
    Outputs::of(fit.inputs())
}

/// The draws of a fit; warns about chains that are set aside, and of a fit that has not converged.
pub fn drawn(fit: &Fit, console: Console) -> Result<Drawn, Failure> {
    Ok(judged(fit, console)?.0)
}

/// The draws of a fit with the same warnings, and whether its chains agree.
pub fn judged(fit: &Fit, console: Console) -> Result<(Drawn, Convergence), Failure> {
    let (drawn, convergence) = Drawn::open(fit)?;
    warn(fit, &convergence, console);
    Ok((drawn, convergence))
}

fn warn(fit: &Fit, convergence: &Convergence, console: Console) {
    warn_of_chains(convergence, console);
    if let Some(caution) = caution(convergence, fit) {
        console.warn(&render(&caution, &Flags));
    }
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
fn numbered(path: &Path, i: usize) -> PathBuf {
    next_to(path, &format!("-{}.csv", i + 1))
}

/// table.csv becomes table-cells.csv or table.svg, by the ending.
pub fn next_to(path: &Path, ending: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}{ending}"))
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
