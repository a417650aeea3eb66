//! The same table fitted in several ways, each scored on held-out cells.

mod candidate;
mod piece;
mod ranked;
mod task;

pub use candidate::{Candidate, Lists};
pub use piece::Piece;
pub use ranked::{Outcome, Ranked};
pub use task::{Job, Task};

use crate::blocks::{Given, choose};
use crate::config::Config;
use crate::error::Error;
use crate::model;
use crate::run;
use crate::sample::Follow;
use crate::table::Table;
use crate::times::Timeline;
use candidate::candidates;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::rng::Stream;
use rflvm::internal::run::Settings;
use rflvm::internal::split::{HeldOut, Split, split};
use serde::{Deserialize, Serialize};
use task::Common;

/// Default fraction of the cells to hold out.
const SHARE: f64 = 0.1;

/// What is compared, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What differs.
    pub lists: Lists,
    /// Number of folds; 1 holds out a fraction of the cells once.
    pub folds: usize,
    /// That fraction.
    pub held_out: Option<f64>,
    /// Whether rows are also scored by leave-one-out.
    pub loo: bool,
}

impl Plan {
    /// What is held out.
    pub fn held_out(&self) -> Result<HeldOut, SpecError> {
        match (self.folds, self.held_out) {
            (0, _) => {
                let rule = "it must be at least 1".into();
                Err(SpecError::Setting { setting: "folds", value: "0".into(), rule })
            }
            (1, share) => Ok(HeldOut::Share(share.unwrap_or(SHARE))),
            (_, Some(share)) => {
                let rule = "several folds hold out every cell once; omit one of the two".into();
                Err(SpecError::Setting { setting: "held-out", value: share.to_string(), rule })
            }
            (folds, None) => Ok(HeldOut::Folds(folds)),
        }
    }
}

/// A comparison with all its candidates checked; nothing is fitted yet.
pub struct Comparison {
    config: Config,
    table: Table,
    timeline: Option<Timeline>,
    candidates: Vec<Candidate>,
    how: HeldOut,
    splits: Vec<Split>,
    settings: Settings,
    loo: bool,
}

impl Comparison {
    /// Checks every candidate against the table. `config` has the settings that all share.
    pub fn new(
        config: Config,
        given: &Given,
        plan: &Plan,
        read: impl FnOnce(&Config) -> Result<Table, Error>,
    ) -> Result<Self, Error> {
        let how = plan.held_out()?;
        if config.sampling.modes.is_some_and(|modes| modes > 1) {
            let rule = "a comparison samples one mode of each model; omit it, and sample several modes of the model that you choose";
            return Err(SpecError::Setting { setting: "modes", value: "given".into(), rule: rule.into() }.into());
        }
        let settings = run::settings(&config);
        settings.check()?;
        model::time_spec(&config)?;
        if plan.loo && config.time.is_some() {
            let rule = "rows with times share a path, so no row can be left out by itself; omit one of the two";
            return Err(SpecError::Setting { setting: "loo", value: "given".into(), rule: rule.into() }.into());
        }
        // Text can be fitted if the families are chosen automatically.
        let listed = || plan.lists.likelihoods.iter().flatten();
        let is_auto = |name: &String| name.eq_ignore_ascii_case("auto");
        let mut asked = config.clone();
        if listed().any(is_auto) {
            asked.likelihood = Some("auto".into());
        }
        let mut table = read(&asked)?;
        if listed().all(is_auto) {
            // All candidates have the same categories.
            choose(&mut asked, &mut given.clone(), &mut table);
        }
        let timeline = Timeline::of(&config, &table)?;
        let candidates = candidates(&plan.lists, &config, given, &table, timeline.as_ref())?;
        // Offsets do not depend on the held-out cells: size factors are those of the whole table.
        table.offset = candidates.first().map(|c| c.offset.clone());
        let wholes = candidates.first().map_or(&[][..], |c| &c.wholes);
        let y = Mat::from_vec(table.rows, table.columns.len(), table.values.clone());
        let splits = split(&y, wholes, how, Stream::new(settings.seed).named("held out"))?;
        Ok(Comparison { config, table, timeline, candidates, how, splits, settings, loo: plan.loo })
    }

    /// The settings that all candidates share.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// What is held out.
    pub fn held_out(&self) -> HeldOut {
        self.how
    }

    /// How each candidate is run.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The candidates.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// All fits, candidate by candidate. They do not depend on each other.
    pub fn tasks(&self) -> Vec<Task<'_>> {
        let mut tasks: Vec<Task<'_>> = Vec::new();
        for candidate in &self.candidates {
            let splits = self.splits.iter().enumerate();
            tasks.extend(splits.map(|(i, split)| Task { candidate, job: Job::Split { number: i + 1, split } }));
            tasks.extend(self.loo.then_some(Task { candidate, job: Job::LeaveOut }));
        }
        tasks
    }

    /// Fits and scores, with other `threads` if given; `None` if a stop was requested.
    pub fn run(&self, task: &Task<'_>, threads: Option<usize>, follow: &dyn Follow) -> Result<Option<Piece>, Error> {
        run::use_instructions(&self.config);
        let settings = Settings { threads: threads.unwrap_or(self.settings.threads), ..self.settings.clone() };
        task.run(&Common { table: &self.table, timeline: self.timeline.as_ref(), settings: &settings }, follow)
    }

    /// The candidates in order of the scores of all fits.
    pub fn ranked(&self, pieces: &[Piece]) -> Result<Ranked<'_>, Error> {
        let each = pieces.len() / self.candidates.len();
        let outcomes = self.candidates.iter().zip(pieces.chunks(each.max(1)));
        Ranked::new(outcomes.map(|(candidate, pieces)| Outcome::new(candidate, pieces)).collect(), self.note())
    }

    /// A caveat for the reader of the scores.
    fn note(&self) -> Option<&'static str> {
        let reals = self.candidates.iter().filter(|c| c.is_real).count();
        ((1..self.candidates.len()).contains(&reals)).then_some(
            "densities of real columns are compared with probabilities of counts, as if each count were an interval of width 1, \
             which is an approximation",
        )
    }
}
