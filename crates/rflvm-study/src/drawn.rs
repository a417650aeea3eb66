//! The draws of a fit, read back.

use crate::error::Error;
use crate::fit::Fit;
use crate::folder::store_path;
use crate::identity;
use rflvm::draws::Source;
use rflvm::draws::zarr::Reader;
use rflvm::error::SpecError;
use rflvm::posterior::convergence::{Convergence, judge};
use rflvm::posterior::fitted::Fitted;

/// Stored draws, of which some chains are used.
pub struct Drawn {
    /// All of them.
    pub store: Reader,
    /// The chains that are used; others sit in a lesser mode.
    pub used: Vec<usize>,
}

impl Drawn {
    /// The draws of a fit, which may be finished, stopped or still running, and how its chains compare.
    pub fn open(fit: &Fit) -> Result<(Self, Convergence), Error> {
        fit.use_instructions();
        let path = store_path(&fit.dir);
        let no_draws = || Error::NoDraws { dir: fit.dir.display().to_string() };
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
    pub fn check_count(&self, count: usize) -> Result<(), Error> {
        let there = self.used.len() * self.store.size()?.1;
        if (1..=there).contains(&count) {
            return Ok(());
        }
        let rule = format!("each table takes a draw of its own, and this fit has {there}; ask for 1 to {there}");
        Err(SpecError::Setting { setting: "draws", value: count.to_string(), rule }.into())
    }
}

/// Whether draw i is the next to be kept, of `wanted` that are evenly spaced over those visited; `kept` are kept already.
pub fn is_due(i: usize, kept: usize, visited: usize, wanted: usize) -> bool {
    // The middle of each of `wanted` equal stretches.
    kept < wanted && (2 * kept + 1) * visited / (2 * wanted) == i
}

/// Rows of a kernel matrix: its mean and standard deviation then take 400 MB.
const MOST_ROWS: usize = 5000;

/// Whether a kernel matrix of `count` rows can be asked for.
pub fn check_kernel_rows(count: usize) -> Result<(), SpecError> {
    if (1..=MOST_ROWS).contains(&count) {
        return Ok(());
    }
    let rule =
        format!("a kernel matrix takes 1 to {MOST_ROWS} rows; choose some of them, such as the first {MOST_ROWS}");
    Err(SpecError::Setting { setting: "rows", value: format!("{count} rows"), rule })
}
