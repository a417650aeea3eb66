//! One threshold for all: the largest |z| over all functions of all configurations exceeds it by chance with probability
//! at most [`LEVEL`] (Bonferroni). The seed is fixed and results do not depend on the number of threads, so the level is the
//! probability that the chosen seed was unlucky, not the failure rate of a run.

use crate::configurations;
use crate::geweke::{self, Effort, Report};
use std::sync::LazyLock;

/// Family-wise level.
pub const LEVEL: f64 = 1e-3;

/// The fixed seed.
pub const SEED: u64 = 20_040_901;

/// For routine tests: seconds per configuration. An error of typical size is then many standard errors.
pub const FAST: Effort = Effort { chains: 50, sweeps: 14_000 };

/// At full power: about a quarter of an hour for all configurations on two cores.
pub const REAL: Effort = Effort { chains: 200, sweeps: 400_000 };

/// Functions of all configurations: the divisor of the Bonferroni correction, even if only some of them are run.
pub static FUNCTIONS: LazyLock<usize> =
    LazyLock::new(|| configurations::all().iter().map(|c| geweke::names(c).len()).sum());

/// P(|Z| > |z|) for one function, times the number of functions.
pub fn adjusted_p(z: f64) -> f64 {
    (libm::erfc(z.abs() / 2_f64.sqrt()) * *FUNCTIONS as f64).min(1.0)
}

/// Whether a configuration passes.
pub fn passes(report: &Report) -> bool {
    adjusted_p(report.worst().z) >= LEVEL
}

/// The |z| above which a function fails.
pub fn threshold() -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if adjusted_p(middle) >= LEVEL { low = middle } else { high = middle }
    }
    low
}

/// Header of the table.
pub fn head() -> String {
    format!(
        "{:<34} {:>9} {:>7} {:>9} {:>10} {:>5} {:>5}  {:<8} worst function\n{}",
        "configuration",
        "functions",
        "max |z|",
        "p",
        "acceptance",
        "act",
        "s",
        "verdict",
        "-".repeat(120)
    )
}

/// One line of the table.
pub fn line(name: &str, report: &Report, seconds: f64) -> String {
    let worst = report.worst();
    format!(
        "{:<34} {:>9} {:>7.2} {:>9.2e} {:>10.2} {:>5.1} {:>5.0}  {:<8} {} ({:.4} independent, {:.4} chains)",
        name,
        report.comparisons.len(),
        worst.z.abs(),
        adjusted_p(worst.z),
        report.acceptance,
        report.autocorrelation,
        seconds,
        if passes(report) { "passes" } else { "FAILS" },
        worst.name,
        worst.independent,
        worst.chain,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_bonferroni() {
        // P(|Z| > 4.8916) = 1e-6.
        assert!((libm::erfc(4.891_64 / 2_f64.sqrt()) - 1e-6).abs() < 1e-10);
        assert!((adjusted_p(threshold()) / LEVEL - 1.0).abs() < 1e-6);
    }
}
