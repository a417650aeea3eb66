//! How much memory a fit needs and how much is free, compared before anything is written.

use crate::bytes::{free, in_words};
use crate::error::Error;
use rflvm::internal::model::Model;
use rflvm::internal::run::Settings;
use rflvm::internal::run::modes::Plan;

/// Always granted, without asking the system.
const SMALL: u128 = 256 << 20;

/// Approximate peak memory of a fit, in bytes: the table, and the working memory of each chain, of the run or of its search for modes.
pub fn needed(model: &Model, settings: &Settings) -> u128 {
    let (at_once, besides) = Plan::new(model, settings).map_or((0, 0), |_| Plan::memory(model));
    let chains = settings.chains.max(at_once);
    let [n, j, d, m] = [model.rows(), model.columns(), model.latent_dim(), model.width()].map(|v| v as u128);
    // F, its slope, noise and momenta, and the results; H and its slope; weights, their momenta, slopes and scales; positions.
    // Measured on tables of 600,000 to 800,000 cells of six families: the peak is 0.9 to 1.2 times this;
    // with a search for modes, 0.95 times on 2,000 × 300 counts.
    // Column processes, and the filters of as many columns as there are threads, at most all.
    let own = if model.column_process().is_some() { n * j + n * j.min(16) * (m + 60) } else { 0 };
    let chain = own + 7 * n * j + 3 * n * m + 10 * m * j + 12 * n * d + 4 * m * m;
    8 * (besides as u128
        + n * j
        + chains as u128 * (chain + model.dynamics().map_or(0, |dynamics| dynamics.numbers() as u128 * d)))
}

/// The same where cards hold the tables of the chains: the cells, a copy of them for principal components, and of each chain the sums of its warm-up, which are
/// in single precision.
pub fn needed_with_card(model: &Model, settings: &Settings) -> u128 {
    let besides = Plan::new(model, settings).map_or(0, |_| Plan::memory(model).1);
    let [n, j, d, m] = [model.rows(), model.columns(), model.latent_dim(), model.width()].map(|v| v as u128);
    let chain = n * j / 2 + 2 * n * m + 10 * m * j + 12 * n * d + 4 * m * m;
    8 * (besides as u128 + 2 * n * j + settings.chains as u128 * chain)
}

/// Refuses a fit on a card that needs more memory than the machine has next to it.
pub fn check_with_card(model: &Model, settings: &Settings) -> Result<(), Error> {
    let what = || format!("a fit of {} rows × {} columns, besides its card,", model.rows(), model.columns());
    check_bytes(needed_with_card(model, settings), what, "use fewer chains or columns, or a larger machine")
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

#[cfg(test)]
mod tests {
    use super::*;
    use rflvm::internal::linalg::Mat;
    use rflvm::internal::model::ModelSpec;
    use rflvm::internal::model::family::Poisson;
    use rflvm::internal::observations::Observations;

    #[test]
    fn a_card_relieves_the_machine_of_what_is_as_long_as_the_table() {
        let data = Observations::new(Mat::from_fn(2000, 300, |n, j| ((n + j) % 3) as f64)).unwrap();
        let spec = ModelSpec { features: 20, ..ModelSpec::default() };
        let model = Model::new(data, Poisson, spec).unwrap();
        let settings = Settings { chains: 4, init: rflvm::Init::Pca, ..Settings::default() };
        let (with_card, alone) = (needed_with_card(&model, &settings), needed(&model, &settings));
        // The cells twice, and half a number per cell and chain.
        assert!(with_card > 8 * 4 * 2000 * 300 && 4 * with_card < alone, "{with_card} of {alone}");
    }
}
