//! The draws of a fit, read from its store.

use crate::error::Error;
use crate::fit::Fit;
use crate::folder::store_path;
use crate::identity;
use rflvm::draws::Source;
use rflvm::draws::zarr::Reader;
use rflvm::error::SpecError;
use rflvm::posterior::convergence::{Convergence, judge};
use rflvm::posterior::fitted::Fitted;

/// Stored draws, from some of the chains.
pub struct Drawn {
    /// All draws.
    pub store: Reader,
    /// The chains that are used; the others are stuck in a minor mode.
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

    /// The fit with its draws, with a separate random stream for each kind of question.
    pub fn fitted<'a>(&'a self, fit: &'a Fit, question: &'static str) -> Fitted<'a> {
        Fitted { store: &self.store, model: &fit.model, used: &self.used, stream: fit.stream().named(question) }
    }

    /// Checks that there are enough draws for `count` tables.
    pub fn check_count(&self, count: usize) -> Result<(), Error> {
        let there = self.used.len() * self.store.size()?.1;
        if (1..=there).contains(&count) {
            return Ok(());
        }
        let rule = format!("each table needs a separate draw, and this fit has {there}; ask for 1 to {there}");
        Err(SpecError::Setting { setting: "draws", value: count.to_string(), rule }.into())
    }
}

/// Whether draw i is the next to keep, so that `wanted` draws are evenly spaced over those visited; `kept` of them are kept already.
pub fn is_due(i: usize, kept: usize, visited: usize, wanted: usize) -> bool {
    // The middle of each of `wanted` equal stretches.
    kept < wanted && (2 * kept + 1) * visited / (2 * wanted) == i
}

/// Most rows of a kernel matrix: its mean and standard deviation then take 400 MB.
const MOST_ROWS: usize = 5000;

/// Checks that a kernel matrix of `count` rows is not too large.
pub fn check_kernel_rows(count: usize) -> Result<(), SpecError> {
    if (1..=MOST_ROWS).contains(&count) {
        return Ok(());
    }
    let rule =
        format!("a kernel matrix can have 1 to {MOST_ROWS} rows; choose a subset, such as the first {MOST_ROWS}");
    Err(SpecError::Setting { setting: "rows", value: format!("{count} rows"), rule })
}
