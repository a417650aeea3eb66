//! What a chain brings to an exchange with the other chains of its mode: the evidence of its surroundings.

use super::modes::{Burst, Plan, of_data};
use super::settings::Settings;
use crate::model::{Model, State};
use crate::rng::Stream;
use crate::table::Table;
use serde::{Deserialize, Serialize};

/// Number of parts into which exchanges divide the warm-up.
const PARTS: u64 = 4;
/// Least sweeps of a part; shorter ones say too little.
const LEAST: u64 = 50;
/// Draws by which chains are compared, spread over the second half of a part.
const COMPARED: u64 = 25;

/// When chains exchange states.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchanges {
    /// The sweep from which they warm up.
    from: u64,
    /// Sweeps of a part of the warm-up; zero if chains never exchange states.
    part: u64,
}

/// A chain continued from the state of another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// After how many sweeps.
    pub sweep: u64,
    /// The chain, counted from 0.
    pub chain: usize,
    /// The chain whose state it took, counted from 0.
    pub of: usize,
    /// By how much its evidence was lower, in nats.
    pub below: f64,
}

/// What a chain brings to its next exchange.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ExchangeState {
    /// Index of its mode.
    pub mode: usize,
    /// Number of exchanges so far.
    pub exchanged: u64,
    pub replaced: Vec<Replaced>,
    pub burst: Burst,
}

impl Exchanges {
    /// Only chains that were started in the same mode exchange states.
    pub fn new(model: &Model, settings: &Settings) -> Self {
        let from = settings.warmup_from;
        let part = (settings.warmup - from) / PARTS;
        let exchange = part >= LEAST && settings.chains_per_mode() > 1 && Plan::new(model, settings).is_some();
        Exchanges { from, part: if exchange { part } else { 0 } }
    }

    /// The sweep of the next exchange after `exchanged` of them.
    pub fn after(self, exchanged: u64) -> Option<u64> {
        (self.part > 0 && exchanged + 1 < PARTS).then(|| self.from + (exchanged + 1) * self.part)
    }

    /// Whether the state after `done` sweeps is compared at the next exchange.
    fn compares(self, done: u64, exchanged: u64) -> bool {
        let Some(next) = self.after(exchanged) else { return false };
        let (window, left) = (self.part / 2, next.saturating_sub(done));
        left < window && left.is_multiple_of((window / COMPARED).max(1))
    }
}

impl ExchangeState {
    /// Sees the state after `done` sweeps.
    pub fn see(
        &mut self,
        exchanges: Exchanges,
        done: u64,
        (model, state): (&Model, &State),
        table: &mut dyn Table,
        stream: Stream,
    ) {
        if exchanges.compares(done, self.exchanged) {
            // A state whose evidence cannot be computed is left out; without enough of them the chain continues alone.
            let data = of_data(table, model, state);
            let _ = data.and_then(|data| self.burst.push(model, state, data, &mut stream.named("meeting").rng()));
        }
    }

    /// Forgets what was compared.
    pub fn leave(&mut self) {
        self.burst = Burst::default();
        self.exchanged += 1;
    }

    /// Exchanges states with the others again in a further warm-up.
    pub fn warm_again(&mut self) {
        (self.burst, self.exchanged) = (Burst::default(), 0);
    }
}

/// The chains of a mode that continued from the state of another, in the order of the sweeps.
pub(super) fn replaced<'a>(states: impl Iterator<Item = &'a ExchangeState>, mode: usize) -> Vec<Replaced> {
    let own = states.filter(|exchange| exchange.mode == mode);
    let mut replaced: Vec<Replaced> = own.flat_map(|exchange| exchange.replaced.iter().copied()).collect();
    replaced.sort_by_key(|replaced| (replaced.sweep, replaced.chain));
    replaced
}
