//! Chains: a start, a staged warm-up, draws. Every chain and sweep has random streams of its own, so draws depend on the
//! seed alone and not on the number of threads.

use super::start::{Start, start};
use super::tuning::{Adaptation, Tuning};
use super::{Moves, SweepInfo, sweep};
use crate::draws::{Draw, Draws};
use crate::error::{NumericalError, RunError, SpecError};
use crate::model::{Model, State, joint};
use crate::rng::Stream;
use std::ops::ControlFlow;

/// How to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Sweeps before draws are kept.
    pub warmup: u64,
    /// Draws kept per chain.
    pub draws: u64,
    /// Sweeps per kept draw.
    pub thin: u64,
    /// Number of chains.
    pub chains: usize,
    /// The one seed.
    pub seed: u64,
    /// Threads to use; 0 for all cores. Has no influence on the draws.
    pub threads: usize,
    /// Where chains begin.
    pub start: Start,
    /// The moves of a sweep.
    pub moves: Moves,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            warmup: 1000,
            draws: 1000,
            thin: 1,
            chains: 2,
            seed: 0,
            threads: 0,
            start: Start::Pca,
            moves: Moves::default(),
        }
    }
}

impl Settings {
    /// Refuses settings that no run can have.
    pub fn check(&self) -> Result<(), SpecError> {
        for (setting, value) in [("draws", self.draws), ("thin", self.thin), ("chains", self.chains as u64)] {
            if value == 0 {
                return Err(SpecError::Setting { setting, value: "0".into(), rule: "it must be at least 1".into() });
            }
        }
        Ok(())
    }
}

/// What a chain says after each sweep.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Chain, counted from 0.
    pub chain: usize,
    /// Sweeps done, warm-up included.
    pub sweep: u64,
    /// Sweeps in all.
    pub sweeps: u64,
    /// Whether the chain still warms up.
    pub warming: bool,
    /// The part of the log-likelihood that depends on F.
    pub log_lik: f64,
    /// Clusters of frequencies.
    pub clusters: usize,
    /// What the sweep reported.
    pub info: SweepInfo,
}

/// The share of the warm-up in which X is held while the rest settles around it.
const HELD_SHARE: u64 = 10;

/// One chain, ready to sweep.
#[derive(Debug)]
pub struct Chain<'a> {
    model: &'a Model,
    settings: &'a Settings,
    stream: Stream,
    /// The current state.
    pub state: State,
    tuning: Tuning,
    adaptation: Option<Adaptation>,
    held: u64,
    done: u64,
}

impl<'a> Chain<'a> {
    /// Fits the start of chain number `chain`.
    pub fn new(model: &'a Model, settings: &'a Settings, chain: usize) -> Result<Self, NumericalError> {
        let stream = Stream::new(settings.seed).named("chain").at(chain as u64);
        let state = start(model, settings.start, stream)?;
        let tuning = Tuning::guess(model);
        let held = settings.warmup / HELD_SHARE;
        Ok(Chain {
            adaptation: Some(Adaptation::new(model, &tuning, settings.warmup - held)),
            model,
            settings,
            stream,
            state,
            tuning,
            held,
            done: 0,
        })
    }

    /// One sweep, with tuning while the warm-up lasts.
    pub fn advance(&mut self) -> Result<SweepInfo, NumericalError> {
        let stream = self.stream.named("sweep").at(self.done);
        let mut moves = self.settings.moves;
        if self.done < self.held {
            // The step size is not tuned to a state that is still held.
            moves.positions = false;
            moves.gradient = false;
        }
        if self.done == self.settings.warmup
            && let Some(adaptation) = self.adaptation.take()
            && self.settings.warmup > self.held
        {
            adaptation.finish(&mut self.tuning);
        }
        if self.done == self.held {
            self.tuning.refer_to(self.model, &self.state);
        }
        let info = sweep(self.model, &mut self.state, moves, &self.tuning, stream)?;
        if self.done >= self.held
            && moves.gradient
            && let Some(adaptation) = &mut self.adaptation
        {
            adaptation.learn(self.model, info.acceptance, &self.state, &mut self.tuning);
        }
        self.done += 1;
        Ok(info)
    }

    /// What the gradient move is tuned to.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }
}

/// Runs all chains, each into a sink of its own, and returns the sinks in order.
/// `watch` sees every sweep and may stop the run.
pub fn run<D: Draws + Send>(
    model: &Model,
    settings: &Settings,
    sink: impl Fn(usize) -> D + Sync,
    watch: impl Fn(Progress) -> ControlFlow<()> + Sync,
) -> Result<Vec<D>, RunError> {
    settings.check()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build().map_err(|error| {
        let rule = format!("that many threads cannot be started ({error})");
        SpecError::Setting { setting: "threads", value: settings.threads.to_string(), rule }
    })?;
    // A thread a chain, which hands its sweeps to the pool one by one: chains advance together on any number of threads.
    let run_one = |chain: usize| -> Result<D, RunError> {
        let mut sink = sink(chain);
        let sweeps = settings.warmup + settings.draws * settings.thin;
        let fail = |sweep: u64| move |source| RunError::Numerical { chain: chain + 1, sweep, source };
        let mut state = pool.install(|| Chain::new(model, settings, chain)).map_err(fail(0))?;
        for done in 1..=sweeps {
            let step = pool.install(|| -> Result<_, NumericalError> {
                let info = state.advance()?;
                let kept = done > settings.warmup && (done - settings.warmup).is_multiple_of(settings.thin);
                if kept {
                    let ln_likelihood = model.ln_likelihood(&state.state);
                    let ln_joint = ln_likelihood + joint::ln_prior(model, &state.state)?;
                    sink.push(&Draw { model, state: &state.state, ln_likelihood, ln_joint });
                }
                Ok((info, model.log_lik(&state.state)))
            });
            let (info, log_lik) = step.map_err(fail(done))?;
            let progress = Progress {
                chain,
                sweep: done,
                sweeps,
                warming: done <= settings.warmup,
                log_lik,
                clusters: state.state.spectral.count(),
                info,
            };
            if watch(progress).is_break() {
                return Err(RunError::Stopped { sweep: done });
            }
        }
        Ok(sink)
    };
    std::thread::scope(|scope| {
        let run_one = &run_one;
        let threads: Vec<_> = (0..settings.chains).map(|chain| scope.spawn(move || run_one(chain))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
