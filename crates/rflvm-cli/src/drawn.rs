//! The draws that a fit left behind, and what predictions from them have in common.

use crate::failure::Failure;
use crate::fit::Fit;
use crate::folder::store_path;
use crate::identity;
use crate::results::warn_of_chains;
use crate::voice::Voice;
use rflvm::draws::Source;
use rflvm::draws::zarr::Reader;
use rflvm::error::SpecError;
use rflvm::posterior::convergence::{Convergence, judge};
use rflvm::posterior::fitted::Fitted;
use std::path::{Path, PathBuf};

/// Stored draws, of which some chains are used.
pub struct Drawn {
    pub store: Reader,
    pub used: Vec<usize>,
}

impl Drawn {
    /// The draws of a fit, which may be finished, stopped or still running; tells of chains that are set aside.
    pub fn open(fit: &Fit) -> Result<Self, Failure> {
        fit.use_instructions();
        let (drawn, convergence) = Drawn::judged(fit)?;
        warn_of_chains(&convergence, Voice::default());
        Ok(drawn)
    }

    /// The same without a word, and how the chains stand.
    pub fn judged(fit: &Fit) -> Result<(Self, Convergence), Failure> {
        let path = store_path(&fit.dir);
        let no_draws = || Failure::NoDraws { dir: fit.dir.display().to_string() };
        if !path.join(".zmetadata").exists() {
            return Err(no_draws());
        }
        let store = Reader::open(&path)?;
        identity::check_store(fit, &store)?;
        if store.size()?.1 == 0 {
            return Err(no_draws());
        }
        let convergence = judge(&store)?;
        Ok((Drawn { used: convergence.used(), store }, convergence))
    }

    /// The fit to ask, with randomness of its own for each kind of question.
    pub fn fitted<'a>(&'a self, fit: &'a Fit, question: &'static str) -> Fitted<'a> {
        Fitted { store: &self.store, model: &fit.model, used: &self.used, stream: fit.stream().named(question) }
    }

    /// Whether there are draws enough for so many tables.
    pub fn check_count(&self, count: usize) -> Result<(), Failure> {
        let there = self.used.len() * self.store.size()?.1;
        if (1..=there).contains(&count) {
            return Ok(());
        }
        let rule = format!("each table takes a draw of its own, and this fit has {there}; ask for 1 to {there}");
        Err(SpecError::Setting { setting: "draws", value: count.to_string(), rule }.into())
    }
}

/// Whether a file is named as what it will hold.
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

/// A number as a cell; what is not known is left empty.
pub fn text(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

/// Names of files in one line.
pub fn listed(files: &[PathBuf]) -> String {
    files.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" ")
}
