//! A run: all chains, side by side, in segments that can be stopped and resumed.

use super::chain::{Chain, Snapshot};
use super::exchange::exchange;
use super::exchange_state::{Replaced, replaced};
use super::modes::{self, Modes, Plan};
use super::settings::Settings;
use super::spread::Spread;
use super::threads::{pool, pools, side_by_side};
use crate::device::Open;
use crate::draws::{Draw, Draws};
use crate::error::{NumericalError, RunError, StoreError};
use crate::model::{Model, State};
use crate::steps::SweepInfo;
use crate::table;
use rayon::ThreadPool;
use std::ops::ControlFlow;

/// Progress of a chain after a sweep.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Chain, counted from 0.
    pub chain: usize,
    /// Number of sweeps done, warm-up included.
    pub sweep: u64,
    /// Total number of sweeps.
    pub sweeps: u64,
    /// Whether the chain is still warming up.
    pub warming: bool,
    /// Number of clusters of frequencies.
    pub clusters: usize,
    /// What the sweep reported.
    pub info: SweepInfo,
    /// ln p(Y | F, θ), if the sweep was kept as a draw.
    drawn: Option<f64>,
    model: &'a Model,
    state: &'a State,
    pool: &'a ThreadPool,
}

impl Progress<'_> {
    /// ln p(Y | F, θ), the value stored with a draw. If the sweep was not kept it is computed now, which takes a few
    /// per cent of a sweep: call it only when needed.
    pub fn ln_likelihood(&self) -> f64 {
        self.drawn.unwrap_or_else(|| self.pool.install(|| self.model.ln_likelihood(self.state)))
    }
}

/// The chains of a run.
#[derive(Debug)]
pub struct Run<'a> {
    model: &'a Model,
    settings: &'a Settings,
    pools: Vec<ThreadPool>,
    chains: Vec<Chain<'a>>,
    /// Number of the first of them: others may be elsewhere.
    first: usize,
    modes: Modes,
}

impl<'a> Run<'a> {
    /// Initialises all chains, each with the table on its own device if `open` opens one.
    pub fn start(model: &'a Model, settings: &'a Settings, open: Option<&Open<'_>>) -> Result<Self, RunError> {
        Self::start_unless(model, settings, open, &|| false)?.ok_or(RunError::Stopped { sweep: 0 })
    }

    /// The same; `None` if `stop` says so while modes are sought.
    pub fn start_unless(
        model: &'a Model,
        settings: &'a Settings,
        open: Option<&Open<'_>>,
        stop: &modes::Stop<'_>,
    ) -> Result<Option<Self>, RunError> {
        settings.check()?;
        Plan::check(model, settings)?;
        let pools = pools(model, settings)?;
        let modes = match Plan::new(model, settings) {
            None => Some(Modes::default()),
            Some(plan) => modes::search(model, settings, &plan, &pools, open, stop)?,
        };
        let Some(modes) = modes else { return Ok(None) };
        let spread = pools[0].install(|| Spread::new(model, settings));
        let start = |chain: usize| {
            let fail = |source| RunError::Numerical { chain: chain + 1, sweep: 0, source };
            let table = table::open(open, model, chain)?;
            let start = || match (modes.start(model, settings, chain)?, &spread) {
                (Some(state), _) => Chain::at(model, settings, chain, state, table),
                (None, None) => Chain::new(model, settings, chain, table),
                (None, Some(spread)) => {
                    let (x, stream) = spread.positions(model, chain)?;
                    Chain::near(model, settings, chain, x, table, stream)
                }
            };
            pools[chain % pools.len()].install(start).map_err(fail)
        };
        let mut chains: Vec<Chain<'_>> = side_by_side(model, (0..settings.chains).collect(), start)?;
        for (number, chain) in chains.iter_mut().enumerate() {
            chain.belongs_to(modes.sampled_by(number).unwrap_or(0));
        }
        Ok(Some(Run { model, settings, pools, chains, first: 0, modes }))
    }

    /// Resumes a run of the same model and settings, from one snapshot per chain, wherever their tables were before.
    pub fn resume(
        model: &'a Model,
        settings: &'a Settings,
        snapshots: Vec<Snapshot>,
        open: Option<&Open<'_>>,
    ) -> Result<Self, RunError> {
        let pools = pools(model, settings)?;
        Self::resume_some(model, settings, pools, (0, snapshots), open)
    }

    /// Resumes one chain of a run whose other chains are elsewhere, with all threads.
    pub(super) fn resume_one(
        model: &'a Model,
        settings: &'a Settings,
        chain: usize,
        at: Snapshot,
    ) -> Result<Self, RunError> {
        Self::resume_some(model, settings, vec![pool(settings)?], (chain, vec![at]), None)
    }

    fn resume_some(
        model: &'a Model,
        settings: &'a Settings,
        pools: Vec<ThreadPool>,
        (first, snapshots): (usize, Vec<Snapshot>),
        open: Option<&Open<'_>>,
    ) -> Result<Self, RunError> {
        settings.check()?;
        let chain = |(chain, at): (usize, Snapshot)| {
            let sweep = at.done();
            let fail = |source| RunError::Numerical { chain: chain + 1, sweep, source };
            Chain::resume(model, settings, chain, at, table::open(open, model, chain)?).map_err(fail)
        };
        let chains = (first..).zip(snapshots).map(chain).collect::<Result<_, RunError>>()?;
        Ok(Run { model, settings, pools, chains, first, modes: Modes::default() })
    }

    /// Continues all chains, each into its own sink, until they are done or `watch` stops them; it sees every sweep. On the way, the
    /// chains of a mode exchange states. Returns whether all chains are done.
    pub fn go_on<D: Draws + Send>(
        &mut self,
        sinks: &mut [D],
        watch: impl Fn(Progress<'_>) -> ControlFlow<()> + Sync,
    ) -> Result<bool, RunError> {
        loop {
            self.go_to_exchange(sinks, &watch)?;
            if !self.exchange() {
                return Ok(self.chains.iter().all(|chain| chain.done() == self.settings.sweeps()));
            }
        }
    }

    /// Lets the chains of each mode exchange states, if all have come to their next exchange; returns whether they have.
    pub(super) fn exchange(&mut self) -> bool {
        let next = self.next_exchange();
        let is_due = next.is_some_and(|next| self.chains.iter().all(|chain| chain.done() >= next));
        if is_due {
            exchange(&mut self.chains);
        }
        is_due
    }

    /// The sweep of the next exchange. Chains that have exchanged equally often wait for each other.
    fn next_exchange(&self) -> Option<u64> {
        self.chains.iter().filter_map(Chain::next_exchange).min()
    }

    /// Continues all chains up to their next exchange or their end, or until `watch` stops them.
    pub(super) fn go_to_exchange<D: Draws + Send>(
        &mut self,
        sinks: &mut [D],
        watch: &(impl Fn(Progress<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), RunError> {
        self.go_to(self.next_exchange().unwrap_or(self.settings.sweeps()), sinks, watch)
    }

    /// Continues all chains up to some sweep, or until `watch` stops them.
    fn go_to<D: Draws + Send>(
        &mut self,
        end: u64,
        sinks: &mut [D],
        watch: &(impl Fn(Progress<'_>) -> ControlFlow<()> + Sync),
    ) -> Result<(), RunError> {
        let (model, settings, pools, first) = (self.model, self.settings, &self.pools, self.first);
        let sweeps = settings.sweeps();
        // One thread per chain, which hands its sweeps to its pool one by one: chains advance together on any number of threads.
        let go = |(place, (chain, sink)): (usize, (&mut Chain<'a>, &mut D))| -> Result<(), RunError> {
            let (pool, number) = (&pools[place % pools.len()], first + place);
            while chain.done() < end {
                let step = pool.install(|| -> Result<SweepInfo, NumericalError> { chain.advance() });
                let sweep = chain.done() + u64::from(step.is_err());
                let fail = |source| RunError::Numerical { chain: number + 1, sweep, source };
                let info = step.map_err(fail)?;
                let draw = pool.install(|| chain.draw()).map_err(fail)?;
                if let Some(draw) = &draw {
                    // In the pool too: a sink may do as much work as a sweep.
                    pool.install(|| push(model, sink, draw))?;
                }
                let mut drawn = draw.map(|draw| draw.ln_likelihood).or_else(|| chain.seen_ln_likelihood());
                if drawn.is_none() && !model.chunks().is_alone() {
                    // All processes compute it, or none.
                    let state = chain.state();
                    drawn = Some(pool.install(|| model.ln_likelihood(state)));
                }
                let progress = Progress {
                    chain: number,
                    sweep,
                    sweeps,
                    warming: sweep <= settings.warmup,
                    clusters: chain.state().spectral.count(),
                    info,
                    drawn,
                    model,
                    state: chain.state(),
                    pool,
                };
                if model.chunks().any(watch(progress).is_break()) {
                    break;
                }
            }
            chain.gather();
            Ok(())
        };
        side_by_side(model, self.chains.iter_mut().zip(sinks).enumerate().collect(), go).map(drop)
    }

    /// The modes that were found before the chains started; none if they start otherwise, or were resumed.
    pub fn modes(&self) -> &Modes {
        &self.modes
    }

    /// The chains of a mode that continued from the state of another, in the order of the sweeps.
    pub fn replaced(&self, mode: usize) -> Vec<Replaced> {
        replaced(self.chains.iter().map(Chain::exchange), mode)
    }

    /// The chains.
    pub fn chains(&self) -> &[Chain<'a>] {
        &self.chains
    }

    /// The complete state of each chain.
    pub(super) fn into_snapshots(self) -> Vec<Snapshot> {
        self.chains.into_iter().map(Chain::into_snapshot).collect()
    }
}

/// Passes a draw to its sink: that of all columns to the sink of the first process, if several share them.
fn push(model: &Model, sink: &mut impl Draws, draw: &Draw<'_>) -> Result<(), StoreError> {
    if model.chunks().is_alone() {
        return sink.push(draw);
    }
    match model.collect_state(draw.state, sink.needs_f()) {
        Some(state) => sink.push(&Draw { state: &state, ..draw.clone() }),
        None => Ok(()),
    }
}

/// Runs all chains to the end, each into its own sink, and returns the sinks in order.
/// `watch` sees every sweep and may stop the run, which is then an error.
pub fn run<D: Draws + Send>(
    model: &Model,
    settings: &Settings,
    sink: impl Fn(usize) -> D,
    watch: impl Fn(Progress<'_>) -> ControlFlow<()> + Sync,
) -> Result<Vec<D>, RunError> {
    let mut run = Run::start(model, settings, None)?;
    let mut sinks: Vec<D> = (0..settings.chains).map(sink).collect();
    if run.go_on(&mut sinks, watch)? {
        return Ok(sinks);
    }
    Err(RunError::Stopped { sweep: run.chains.iter().map(Chain::done).min().unwrap_or(0) })
}
