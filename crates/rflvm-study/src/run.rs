//! From settings to how the chains run.

use crate::choices::{InitAt, Instructions};
use crate::config::{Config, MOST_STARTS};
use rflvm::internal::error::SpecError;
use rflvm::internal::init::Init;
use rflvm::internal::run::Settings;
use rflvm::internal::simd::{self, Level};
use std::time::Duration;

/// How to run.
pub fn settings(config: &Config) -> Settings {
    let (run, default) = (&config.sampling, Settings::default());
    let modes = run.modes.unwrap_or(default.modes);
    Settings {
        warmup: run.warmup.unwrap_or(default.warmup),
        warmup_from: config.warmup_from.unwrap_or(0),
        draws: run.draws.unwrap_or(default.draws),
        thin: run.thin.unwrap_or(default.thin),
        // A user counts the chains of each mode.
        chains: run.chains.unwrap_or(default.chains).saturating_mul(modes.max(1)),
        modes,
        seed: run.seed.unwrap_or(default.seed),
        threads: config.compute.threads.unwrap_or(default.threads),
        init: match run.init {
            Some(InitAt::Random) => Init::Random,
            Some(InitAt::Map) => Init::Map,
            Some(InitAt::Pca) => Init::Pca,
            Some(InitAt::Search) => Init::Search,
            // Several modes are found by a search.
            Some(InitAt::Spread) | None if modes > 1 => Init::Search,
            Some(InitAt::Spread) | None => Init::Spread,
        },
        init_effort: run.init_effort.unwrap_or(default.init_effort),
        moves: default.moves,
    }
}

/// Limits the processor to the instruction sets that the settings allow.
pub fn use_instructions(config: &Config) {
    simd::force(match config.compute.instructions {
        Some(Instructions::Avx2) => Level::Avx2,
        Some(Instructions::Baseline) => Level::Baseline,
        _ => Level::Avx512,
    });
}

/// A number of seconds as a duration.
pub(crate) fn seconds(value: f64) -> Result<Duration, SpecError> {
    Duration::try_from_secs_f64(value).map_err(|_| SpecError::Setting {
        setting: "checkpoint",
        value: value.to_string(),
        rule: "it must be a number of seconds".into(),
    })
}

/// Checks the number of initialisations.
pub(crate) fn check_starts(starts: usize) -> Result<(), SpecError> {
    if (1..=MOST_STARTS).contains(&starts) {
        return Ok(());
    }
    let rule = format!("it must be between 1 and {MOST_STARTS}");
    Err(SpecError::Setting { setting: "starts", value: starts.to_string(), rule })
}
