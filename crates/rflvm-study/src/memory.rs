//! How much memory a fit needs and how much is free, compared before anything is written.

use crate::bytes::{free, in_words};
use crate::error::Error;
use rflvm::model::Model;
use rflvm::run::Settings;
use rflvm::run::maps::Plan;

/// Always granted, without asking the system.
const SMALL: u128 = 256 << 20;

/// Approximate peak memory of a fit, in bytes: the table, and the working memory of each chain, of the run or of its search for maps.
pub fn needed(model: &Model, settings: &Settings) -> u128 {
    let (at_once, besides) = Plan::new(model, settings).map_or((0, 0), |_| Plan::memory(model));
    let chains = settings.chains.max(at_once);
    let [n, j, d, m] = [model.rows(), model.columns(), model.latent_dim(), model.width()].map(|v| v as u128);
    // F, its slope, noise and momenta, and the results; H and its slope; weights, their momenta, slopes and scales; positions.
    // Measured on tables of 600,000 to 800,000 cells of six families: the peak is 0.9 to 1.2 times this;
    // with a search for maps, 0.95 times on 2,000 × 300 counts.
    // Columns' own paths, and the filters of as many columns as there are threads, at most all.
    let own = if model.residual().is_some() { n * j + n * j.min(16) * (m + 60) } else { 0 };
    let chain = own + 7 * n * j + 3 * n * m + 10 * m * j + 12 * n * d + 4 * m * m;
    8 * (besides as u128
        + n * j
        + chains as u128 * (chain + model.dynamics().map_or(0, |dynamics| dynamics.numbers() as u128 * d)))
}

/// Refuses a fit that needs more memory than the machine has.
pub fn check(model: &Model, settings: &Settings) -> Result<(), Error> {
    let what =
        || format!("a fit of {} rows × {} columns with {} chains", model.rows(), model.columns(), settings.chains);
    check_bytes(needed(model, settings), what, "use fewer chains, features or columns, or a larger machine")
}

/// Rejects anything that needs more memory than the machine has.
pub fn check_bytes(bytes: u128, what: impl FnOnce() -> String, remedy: &'static str) -> Result<(), Error> {
    if bytes <= SMALL {
        return Ok(());
    }
    match free() {
        Some(free) if bytes > free => {
            Err(Error::Memory { what: what(), needed: in_words(bytes), free: in_words(free), remedy })
        }
        _ => Ok(()),
    }
}
