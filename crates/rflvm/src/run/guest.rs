//! What a chain brings to a meeting with the other chains of its map: the evidence of its surroundings.

use super::maps::{Burst, Plan, of_data};
use super::settings::Settings;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::table::Table;
use serde::{Deserialize, Serialize};

/// Number of parts into which meetings divide the warm-up.
const PARTS: u64 = 4;
/// Least sweeps of a part; shorter ones say too little.
const LEAST: u64 = 50;
/// Draws by which chains are compared, spread over the second half of a part.
const COMPARED: u64 = 25;

/// When chains meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meetings {
    /// The sweep from which they warm up.
    from: u64,
    /// Sweeps of a part of the warm-up; zero if chains never meet.
    part: u64,
}

/// A chain continued from the state of another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Joined {
    /// After how many sweeps.
    pub sweep: u64,
    /// The chain, counted from 0.
    pub chain: usize,
    /// The chain whose state it took, counted from 0.
    pub of: usize,
    /// By how much its evidence was lower, in nats.
    pub below: f64,
}

/// What a chain brings to its next meeting.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Guest {
    /// Index of its map.
    pub map: usize,
    /// Number of meetings so far.
    pub met: u64,
    pub joined: Vec<Joined>,
    pub burst: Burst,
}

impl Meetings {
    /// Only chains that were started in the same map meet.
    pub fn new(model: &Model, settings: &Settings) -> Self {
        let from = settings.warmup_from;
        let part = (settings.warmup - from) / PARTS;
        let meet = part >= LEAST && settings.chains_per_map() > 1 && Plan::new(model, settings).is_some();
        Meetings { from, part: if meet { part } else { 0 } }
    }

    /// The sweep of the next meeting after `met` of them.
    pub fn after(self, met: u64) -> Option<u64> {
        (self.part > 0 && met + 1 < PARTS).then(|| self.from + (met + 1) * self.part)
    }

    /// Whether the state after `done` sweeps is compared at the next meeting.
    fn compares(self, done: u64, met: u64) -> bool {
        let Some(meeting) = self.after(met) else { return false };
        let (window, left) = (self.part / 2, meeting.saturating_sub(done));
        left < window && left.is_multiple_of((window / COMPARED).max(1))
    }
}

impl Guest {
    /// Sees the state after `done` sweeps.
    pub fn see(
        &mut self,
        meetings: Meetings,
        done: u64,
        (model, state): (&Model, &State),
        table: &mut dyn Table,
        stream: Stream,
    ) {
        if meetings.compares(done, self.met) {
            // A state whose evidence cannot be computed is left out; without enough of them the chain continues alone.
            let data = of_data(table, model, state);
            let _ = data.and_then(|data| self.burst.push(model, state, data, &mut stream.named("meeting").rng()));
        }
    }

    /// Forgets what was compared.
    pub fn leave(&mut self) {
        self.burst = Burst::default();
        self.met += 1;
    }

    /// Meets the others again in a further warm-up.
    pub fn warm_again(&mut self) {
        (self.burst, self.met) = (Burst::default(), 0);
    }
}

/// The chains of a map that continued from the state of another, in the order of the sweeps.
pub(super) fn joined<'a>(guests: impl Iterator<Item = &'a Guest>, map: usize) -> Vec<Joined> {
    let own = guests.filter(|guest| guest.map == map);
    let mut joined: Vec<Joined> = own.flat_map(|guest| guest.joined.iter().copied()).collect();
    joined.sort_by_key(|joined| (joined.sweep, joined.chain));
    joined
}
