//! One chain: initialisation, staged warm-up, draws. Every chain and sweep has its own random streams, so draws depend only on the
//! seed and not on the number of threads, nor on how often the chain was stopped and resumed.

use super::exchange_state::{ExchangeState, Exchanges, Replaced};
use super::modes::of_data;
use super::settings::Settings;
use super::sweep::sweep;
use crate::draws::{Draw, Stats, Traced};
use crate::error::NumericalError;
use crate::init::{start, start_at};
use crate::linalg::Mat;
use crate::model::{Model, State, axes, joint};
use crate::rng::Stream;
use crate::steps::tuning::{Adaptation, Tuning};
use crate::steps::{Step, SweepInfo};
use crate::table::Table;
use serde::{Deserialize, Serialize};

/// The fraction of the warm-up in which X is held fixed while the rest adapts to it.
const HELD_SHARE: u64 = 10;
/// The same where the table is elsewhere, and redrawing all weights costs as much as many sweeps.
const HELD_SHARE_ELSEWHERE: u64 = 50;

/// How often the log-likelihood that progress shows is computed where the table is elsewhere.
const SEEN_EVERY: u64 = 10;

/// The complete state of a chain, apart from the model and the settings: a chain resumed from it gives the same draws
/// as an uninterrupted one, bit for bit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    state: State,
    tuning: Tuning,
    adaptation: Option<Adaptation>,
    done: u64,
    exchange: ExchangeState,
    last: Stats,
    seconds: [f64; Step::COUNT],
}

/// The tables of a snapshot, which have one number per cell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Held {
    /// F.
    pub f: bool,
    /// The sums of F with which the chain is tuned.
    pub sums: bool,
}

impl Snapshot {
    /// Wall seconds spent in each step so far.
    pub fn seconds(&self) -> [f64; Step::COUNT] {
        self.seconds
    }

    /// Number of sweeps done, warm-up included.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// What it brings to its next exchange with other chains.
    pub(super) fn exchange(&self) -> &ExchangeState {
        &self.exchange
    }

    /// Begins the further warm-up that the settings ask for, after one that has ended.
    pub fn warm_again(&mut self, settings: &Settings) {
        let sweeps = settings.warmup.saturating_sub(self.done);
        self.adaptation = Some(Adaptation::new(&self.tuning, sweeps));
        self.exchange.warm_again();
    }

    /// That of all columns on the first of several processes, without its tables; nothing on the others.
    pub(super) fn collect(&self, model: &Model) -> Option<Snapshot> {
        let state = model.collect_state(&self.state, false);
        let tuning = self.tuning.collect(model);
        Some(Snapshot {
            state: state?,
            tuning: tuning?,
            adaptation: self.adaptation.as_ref().map(Adaptation::without_sums),
            done: self.done,
            exchange: self.exchange.clone(),
            last: self.last,
            seconds: self.seconds,
        })
    }

    /// The tables that it has, one number per cell.
    pub(super) fn held(&self) -> Held {
        Held { f: self.state.f.rows() > 0, sums: !self.sums().is_empty() }
    }

    /// F.
    pub(super) fn table(&self) -> &Mat {
        &self.state.f
    }

    /// The sums of F with which it is tuned.
    pub(super) fn sums(&self) -> &[f32] {
        self.adaptation.as_ref().map_or(&[], Adaptation::sums)
    }

    /// Puts the tables back that it had.
    pub(super) fn put_tables(&mut self, model: &Model, held: Held, f: Vec<f64>, sums: Vec<f32>) {
        if held.f {
            self.state.f = Mat::from_vec(model.rows(), model.columns(), f);
        }
        if let (true, Some(adaptation)) = (held.sums, &mut self.adaptation) {
            *adaptation.sums_mut() = sums;
        }
    }

    /// Gives a table everything that it holds.
    fn load(&mut self, table: &mut dyn Table, model: &Model) {
        table.load(model, &mut self.state);
        match &self.tuning.reference {
            Some(reference) => table.set_reference(reference),
            // Another table may have integrated the weights out.
            None => self.tuning.refer_unless_exact(table, model, &self.state),
        }
        if let Some(adaptation) = &mut self.adaptation {
            table.take_sums(adaptation.sums_mut());
        }
    }

    /// That of the columns of this process.
    pub fn own_of(self, model: &Model) -> Snapshot {
        if model.chunks().is_alone() {
            return self;
        }
        Snapshot {
            state: model.own_state(self.state),
            tuning: self.tuning.own_of(model),
            adaptation: self.adaptation.map(|adaptation| adaptation.own_of(model)),
            ..self
        }
    }
}

/// One chain, ready to run.
#[derive(Debug)]
pub struct Chain<'a> {
    model: &'a Model,
    settings: &'a Settings,
    stream: Stream,
    held: u64,
    exchanges: Exchanges,
    at: Snapshot,
    traced: Traced,
    table: Box<dyn Table>,
    /// The last log-likelihood that was computed, if its table is elsewhere.
    ln_likelihood: Option<f64>,
}

impl<'a> Chain<'a> {
    /// Initialises chain number `chain`.
    pub fn new(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        mut table: Box<dyn Table>,
    ) -> Result<Self, NumericalError> {
        let state = start(table.as_mut(), model, settings.init, stream(settings, chain))?;
        Self::at(model, settings, chain, state, table)
    }

    /// Chain number `chain` from a state fitted to given positions.
    pub(super) fn near(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        x: Mat,
        mut table: Box<dyn Table>,
        stream: Stream,
    ) -> Result<Self, NumericalError> {
        let state = start_at(table.as_mut(), model, x, stream)?;
        Self::at(model, settings, chain, state, table)
    }

    /// Chain number `chain` from a given state.
    pub fn at(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        mut state: State,
        mut table: Box<dyn Table>,
    ) -> Result<Self, NumericalError> {
        table.load(model, &mut state);
        let tuning = Tuning::first(table.as_mut(), model, &state);
        table.check()?;
        let adaptation = Some(Adaptation::new(&tuning, settings.warmup - held(settings, table.as_ref())));
        let (exchange, last, seconds) = (ExchangeState::default(), Stats::default(), [0.0; Step::COUNT]);
        Ok(Self::with(
            model,
            settings,
            chain,
            Snapshot { state, tuning, adaptation, done: 0, exchange, last, seconds },
            table,
        ))
    }

    /// Resumes chain number `chain` of the same model and settings, wherever its table was before.
    pub fn resume(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        mut at: Snapshot,
        mut table: Box<dyn Table>,
    ) -> Result<Self, NumericalError> {
        at.load(table.as_mut(), model);
        table.check()?;
        Ok(Self::with(model, settings, chain, at, table))
    }

    /// With a table that has its state.
    fn with(model: &'a Model, settings: &'a Settings, chain: usize, at: Snapshot, table: Box<dyn Table>) -> Self {
        let (stream, held) = (stream(settings, chain), held(settings, table.as_ref()));
        let (exchanges, traced) = (Exchanges::new(model, settings), Traced::of(model));
        let ln_likelihood = (!table.is_here()).then_some(f64::NAN);
        Chain { model, settings, stream, held, exchanges, at, traced, table, ln_likelihood }
    }

    /// One sweep, with tuning during warm-up.
    pub fn advance(&mut self) -> Result<SweepInfo, NumericalError> {
        let (model, table, at) = (self.model, self.table.as_mut(), &mut self.at);
        let stream = self.stream.named("sweep").at(at.done);
        let mut moves = self.settings.moves;
        if at.done < self.held {
            // The step size is not tuned while X is held fixed.
            moves.positions = false;
            moves.gradient = false;
        }
        if at.done == self.settings.warmup
            && let Some(adaptation) = at.adaptation.take()
            && self.settings.warmup > self.held
        {
            adaptation.finish(&mut at.tuning);
        }
        if at.done == self.held {
            at.tuning.refer_to(table, model, &at.state);
        }
        let step = at.tuning.trajectory.step;
        let info = sweep(table, model, &mut at.state, moves, &at.tuning, stream)?;
        if at.done >= self.held
            && moves.gradient
            && let Some(adaptation) = &mut at.adaptation
        {
            adaptation.learn(table, model, info.acceptance, &at.state, &mut at.tuning);
        }
        at.done += 1;
        if let Some(seen) = &mut self.ln_likelihood
            && at.done % SEEN_EVERY == 1
        {
            *seen = table.ln_likelihood(model, &at.state);
        }
        at.exchange.see(self.exchanges, at.done, (model, &at.state), table, stream);
        at.seconds.iter_mut().zip(info.seconds).for_each(|(sum, s)| *sum += s);
        at.last = Stats {
            acceptance: info.acceptance,
            step,
            frequency_tries: info.frequency_tries,
            position_tries: info.position_tries,
        };
        Ok(info)
    }

    /// The current state as a draw, if the settings keep it.
    pub fn draw(&mut self) -> Result<Option<Draw<'_>>, NumericalError> {
        if !self.settings.keeps(self.at.done) {
            return Ok(None);
        }
        let (model, state) = (self.model, &self.at.state);
        let ln_likelihood = self.table.ln_likelihood(model, state);
        if let Some(seen) = &mut self.ln_likelihood {
            *seen = ln_likelihood;
        }
        let ln_joint = ln_likelihood + joint::ln_prior(model, state)?;
        let axis_information = if model.has_relevance() { axes::information(model, state) } else { Vec::new() };
        let cells = self.traced.values(model, state);
        Ok(Some(Draw { model, state, cells, ln_likelihood, ln_joint, axis_information, stats: self.at.last }))
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.at.state
    }

    /// ln p(Y, θ, τ² | X, W), by which modes are compared.
    pub(super) fn ln_data(&mut self) -> Result<f64, NumericalError> {
        of_data(self.table.as_mut(), self.model, &self.at.state)
    }

    /// The last log-likelihood that was computed, if its table is elsewhere.
    pub(super) fn seen_ln_likelihood(&self) -> Option<f64> {
        self.ln_likelihood
    }

    /// Brings what a snapshot needs back from the table.
    pub(super) fn gather(&mut self) {
        if let Some(adaptation) = &mut self.at.adaptation {
            self.table.copy_sums(adaptation.sums_mut());
        }
    }

    /// The tuning of the gradient move.
    pub fn tuning(&self) -> &Tuning {
        &self.at.tuning
    }

    /// Changes the mean number of leapfrog steps of the gradient move, from the next sweep on.
    pub fn set_leapfrogs(&mut self, leapfrogs: usize) {
        self.at.tuning.trajectory.leapfrogs = leapfrogs.max(1);
    }

    /// Number of sweeps done, warm-up included.
    pub fn done(&self) -> u64 {
        self.at.done
    }

    /// The sweep of its next exchange with other chains.
    pub(super) fn next_exchange(&self) -> Option<u64> {
        self.exchanges.after(self.at.exchange.exchanged)
    }

    /// What it brings there.
    pub(super) fn exchange(&self) -> &ExchangeState {
        &self.at.exchange
    }

    /// Assigns it to a mode.
    pub(super) fn belongs_to(&mut self, mode: usize) {
        self.at.exchange.mode = mode;
    }

    /// Continues from the state and the tuning of another chain.
    pub(super) fn replace(&mut self, other: &Snapshot, replaced: Replaced) {
        let Snapshot { state, tuning, adaptation, exchange, .. } = &mut self.at;
        state.clone_from(&other.state);
        tuning.clone_from(&other.tuning);
        adaptation.clone_from(&other.adaptation);
        exchange.replaced.push(replaced);
        self.at.load(self.table.as_mut(), self.model);
    }

    /// Forgets what was compared.
    pub(super) fn leave_exchange(&mut self) {
        self.at.exchange.leave();
    }

    /// The complete state, to resume from.
    pub fn snapshot(&self) -> &Snapshot {
        &self.at
    }

    /// The same, of a chain that does not go on.
    pub(super) fn into_snapshot(self) -> Snapshot {
        self.at
    }
}

fn stream(settings: &Settings, chain: usize) -> Stream {
    Stream::new(settings.seed).named("chain").at(chain as u64)
}

/// The sweeps in which X is held fixed: none in a further warm-up, whose positions are not those of a start.
fn held(settings: &Settings, table: &dyn Table) -> u64 {
    let share = if table.is_here() { HELD_SHARE } else { HELD_SHARE_ELSEWHERE };
    if settings.warmup_from > 0 { 0 } else { settings.warmup / share }
}
