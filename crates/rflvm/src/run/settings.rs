//! Settings of a run.

use crate::error::SpecError;
use crate::identity::{self, Identity};
use crate::init::Init;
use crate::model::Model;
use crate::steps::Moves;

/// Settings of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Number of warm-up sweeps.
    pub warmup: u64,
    /// The sweep from which a chain has warmed up: 0, unless its warm-up was extended after it had ended.
    pub warmup_from: u64,
    /// Draws kept per chain.
    pub draws: u64,
    /// Sweeps per kept draw.
    pub thin: u64,
    /// Number of chains, of all modes together.
    pub chains: usize,
    /// How many modes are sampled, each by the same number of chains.
    pub modes: usize,
    /// The one seed.
    pub seed: u64,
    /// Number of threads; 0 for all cores. Does not affect the draws.
    pub threads: usize,
    /// How chains are initialised.
    pub init: Init,
    /// Sweeps of a search for modes, as a share of the warm-up of all chains.
    pub init_effort: f64,
    /// The moves of a sweep.
    pub moves: Moves,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            warmup: 300,
            warmup_from: 0,
            draws: 200,
            thin: 1,
            chains: 8,
            modes: 1,
            seed: 0,
            threads: 0,
            init: Init::default(),
            init_effort: 0.2,
            moves: Moves::default(),
        }
    }
}

impl Settings {
    /// Rejects invalid settings.
    pub fn check(&self) -> Result<(), SpecError> {
        let ranges = [
            ("warmup", self.warmup, self.warmup_from, MOST_SWEEPS),
            ("draws", self.draws, 1, MOST_SWEEPS),
            ("thin", self.thin, 1, MOST_SWEEPS),
            ("modes", self.modes as u64, 1, MOST_MODES),
            ("chains", self.chains as u64, 1, MOST_CHAINS),
            ("threads", self.threads as u64, 0, MOST_THREADS),
        ];
        for (setting, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let rule = format!("it must be between {least} and {most}");
                return Err(SpecError::Setting { setting, value: value.to_string(), rule });
            }
        }
        if !self.chains.is_multiple_of(self.modes) {
            let rule = format!("each of {} modes is sampled by the same number of chains", self.modes);
            return Err(SpecError::Setting { setting: "chains", value: self.chains.to_string(), rule });
        }
        if self.modes > 1 && self.init != Init::Search {
            let rule = "several modes can be sampled only if chains begin with a search for them; let init be search, or omit modes".into();
            return Err(SpecError::Setting { setting: "modes", value: self.modes.to_string(), rule });
        }
        if !(0.0..=10.0).contains(&self.init_effort) {
            let rule = "it must be between 0 and 10".into();
            return Err(SpecError::Setting { setting: "init-effort", value: self.init_effort.to_string(), rule });
        }
        Ok(())
    }

    /// Everything the draws of a model depend on.
    pub fn identity(&self, model: &Model) -> Identity {
        self.identity_of(identity::of_data(model), model)
    }

    /// The same, with the digest of a table of which the model has no cells.
    pub fn identity_of(&self, data: String, model: &Model) -> Identity {
        let Settings { warmup, warmup_from, draws, thin, chains, seed, .. } = *self;
        let init = match self.init {
            Init::Search if self.modes > 1 => format!("{} {} modes {}", self.init.name(), self.init_effort, self.modes),
            Init::Search => format!("{} {}", self.init.name(), self.init_effort),
            other => other.name().to_string(),
        };
        Identity { data, model: identity::of_model(model), seed, chains, warmup, warmup_from, draws, thin, init }
    }

    /// Number of chains that sample each mode.
    pub fn chains_per_mode(&self) -> usize {
        self.chains / self.modes.max(1)
    }

    /// Number of threads, with all cores for 0.
    pub(super) fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// Number of sweeps of a chain, warm-up included.
    pub fn sweeps(&self) -> u64 {
        self.warmup + self.draws * self.thin
    }

    /// Whether the state after this many sweeps is kept.
    pub(super) fn keeps(&self, done: u64) -> bool {
        done > self.warmup && (done - self.warmup).is_multiple_of(self.thin)
    }
}

// Upper limits: larger than any useful value, and small enough that no product of two of them overflows.
/// The largest number of sweeps, of warm-up or of draws.
pub const MOST_SWEEPS: u64 = 1_000_000_000;
/// The largest number of chains.
pub const MOST_CHAINS: u64 = 1000;
/// The largest number of modes to sample: a search has no more starts.
pub const MOST_MODES: u64 = 5;
/// The largest number of threads.
pub const MOST_THREADS: u64 = 1024;
