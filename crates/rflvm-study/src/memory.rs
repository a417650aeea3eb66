//! How much memory a fit needs, and how much there is: compared before anything is written.

use crate::error::Error;
use rflvm::model::Model;
use rflvm::run::Settings;
use sysinfo::System;

/// Granted without asking the system.
const SMALL: u128 = 256 << 20;

/// Bytes that a fit needs at its peak, about: the table, and for each chain what a sweep works on.
pub fn needed(model: &Model, chains: usize) -> u128 {
    let [n, j, d, m] =
        [model.rows(), model.columns(), model.latent_dim(), model.spec().features + 1].map(|v| v as u128);
    // F, its slope, noise and momenta, and what results are made of; H and its slope; weights, their momenta, slopes and scales; positions.
    // Measured on tables of 600,000 to 800,000 cells of six families: the peak is 0.9 to 1.2 times this.
    let chain = 7 * n * j + 3 * n * m + 8 * m * j + 12 * n * d + 4 * m * m;
    8 * (n * j + chains as u128 * (chain + model.dynamics().map_or(0, |dynamics| dynamics.numbers() as u128 * d)))
}

/// Refuses a fit that needs more memory than the machine has.
pub fn check(model: &Model, settings: &Settings) -> Result<(), Error> {
    let what =
        || format!("a fit of {} rows × {} columns with {} chains", model.rows(), model.columns(), settings.chains);
    check_bytes(needed(model, settings.chains), what, "use fewer chains, features or columns, or a larger machine")
}

/// Refuses what needs more memory than the machine has.
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

/// Memory that can be had without pushing others out, as far as the system tells.
pub fn free() -> Option<u128> {
    let mut system = System::new();
    system.refresh_memory();
    let container = system.cgroup_limits().map(|l| l.free_memory);
    let free = container.map_or(system.available_memory(), |c| c.min(system.available_memory()));
    (free > 0).then_some(free.into())
}

/// A number of bytes for people.
pub fn in_words(bytes: u128) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        1_000_000_000..1_000_000_000_000 => format!("{:.1} GB", bytes as f64 / 1e9),
        1_000_000_000_000..1_000_000_000_000_000_000 => format!("{:.1} TB", bytes as f64 / 1e12),
        _ => format!("{:.0e} TB", bytes as f64 / 1e12),
    }
}
