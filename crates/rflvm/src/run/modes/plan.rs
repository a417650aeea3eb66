//! How long a search runs, and what it needs.

use super::start::portfolio;
use crate::error::SpecError;
use crate::init::Init;
use crate::init::graph;
use crate::model::Model;
use crate::run::settings::Settings;

/// How many modes are sampled for longer.
pub(super) const FINALISTS: usize = 3;
/// Least sweeps of a burst; a search that cannot afford them is not worth its name.
const LEAST: u64 = 20;
/// Most sweeps of a first and of a second burst: a search is over in minutes, however long the run.
const MOST: [u64; 2] = [200, 400];
/// Most cells of a table: the starts of a search are in memory at the same time.
const MOST_CELLS: usize = 20_000_000;

/// How long a search runs.
pub struct Plan {
    /// Sweeps of every start.
    pub(super) first: u64,
    /// Further sweeps of the finalists.
    pub(super) second: u64,
}

impl Plan {
    /// For a share of the warm-up of a run; `None` if its chains start otherwise, it is too short for a search, or the table too large.
    /// It does not depend on the number of draws, so that a run can be extended.
    pub fn new(model: &Model, settings: &Settings) -> Option<Self> {
        if settings.init != Init::Search || model.rows() * model.all_columns() > MOST_CELLS {
            return None;
        }
        // The same modes are found for any number of them that is sampled.
        let all = settings.init_effort * settings.chains_per_mode() as f64 * settings.warmup as f64;
        let starts = portfolio(model).len() as u64;
        let (first, second) = (0.5 * all / starts as f64, 0.5 * all / FINALISTS as f64);
        // Converted from f64, these saturate: no warm-up is too long.
        let [first_most, second_most] = MOST;
        (first >= LEAST as f64)
            .then_some(Plan { first: (first as u64).min(first_most), second: (second as u64).min(second_most) })
    }

    /// Refuses to sample several modes if there will be no search for them.
    pub fn check(model: &Model, settings: &Settings) -> Result<(), SpecError> {
        if settings.modes <= 1 || Plan::new(model, settings).is_some() {
            return Ok(());
        }
        let rule = if model.rows() * model.all_columns() > MOST_CELLS {
            format!("modes are sought in tables of at most {MOST_CELLS} cells, and this one is larger; omit it")
        } else {
            format!(
                "modes are sought only if init-effort × chains × warmup allows {LEAST} sweeps per start; \
                 increase one of them, or omit modes"
            )
        };
        Err(SpecError::Setting { setting: "modes", value: settings.modes.to_string(), rule })
    }

    /// How many chains are in memory at the same time, and how many numbers besides.
    pub fn memory(model: &Model) -> (usize, usize) {
        (portfolio(model).len(), graph::numbers(model.rows()))
    }

    /// The settings of the bursts' chains.
    pub(super) fn settings(&self, settings: &Settings) -> Settings {
        let warmup = self.first + self.second / 3;
        let draws = self.first + self.second - warmup;
        Settings { warmup, draws, thin: 1, chains: 1, modes: 1, ..settings.clone() }
    }
}
