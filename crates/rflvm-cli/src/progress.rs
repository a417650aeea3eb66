//! Progress of the chains: a bar each on a terminal, some lines elsewhere, JSON for programs, nothing when quiet.

use crate::console::{Console, note};
use crate::stop;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use rflvm::internal::run::{Progress, Run};
use rflvm::internal::steps::Step;
use rflvm_study::pace::Pace;
use rflvm_study::sample::Follow;
use serde_json::json;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time between two updates of a bar.
const TICK: Duration = Duration::from_millis(200);

/// Watches all chains of a run.
pub enum Watch {
    Quiet,
    Bars {
        bars: Vec<ProgressBar>,
        pace: Pace,
    },
    /// The sweep before the first of this run, chain by chain.
    Lines {
        begun: Instant,
        before: Vec<OnceLock<u64>>,
    },
    /// One object per chain and second.
    Json {
        console: Console,
        pace: Pace,
        begun: Instant,
    },
    /// One line per sweep.
    Debug,
}

impl Watch {
    /// For `chains` chains of `sweeps` sweeps each.
    pub fn new(console: Console, chains: usize, sweeps: u64, debug: bool) -> Self {
        if debug {
            return Watch::Debug;
        }
        if console.json {
            return Watch::Json { console, pace: Pace::new(chains, Duration::from_secs(1)), begun: Instant::now() };
        }
        if console.quiet {
            return Watch::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Watch::Lines { begun: Instant::now(), before: (0..chains).map(|_| OnceLock::new()).collect() };
        }
        let all = MultiProgress::new();
        let template = "{prefix} {bar:24} {pos:>5}/{len} {rate:>7} {eta:>4} left  {msg}";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).with_key(
            "rate",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // A bar that cannot be drawn is not a reason to fail.
                let _ = write!(out, "{:.1}/s", state.per_sec());
            },
        );
        let bars = (1..=chains).map(|chain| {
            let bar = all.add(ProgressBar::new(sweeps).with_style(style.clone()).with_prefix(format!("chain {chain}")));
            bar.set_message("initialising");
            bar.enable_steady_tick(TICK);
            bar
        });
        Watch::Bars { bars: bars.collect(), pace: Pace::new(chains, TICK) }
    }

    /// Reports one sweep of one chain.
    pub fn see(&self, p: Progress<'_>) {
        match self {
            Watch::Quiet => {}
            Watch::Bars { bars, pace } => {
                let bar = &bars[p.chain];
                if bar.position() == 0 && p.sweep > 1 {
                    // Sweeps of earlier runs say nothing about the speed of this one.
                    bar.set_position(p.sweep - 1);
                    bar.reset_eta();
                }
                bar.set_position(p.sweep);
                if pace.is_due(&p) {
                    bar.set_message(describe(&p));
                }
                if p.sweep == p.sweeps {
                    bar.finish();
                }
            }
            Watch::Lines { begun, before } => {
                let before = *before[p.chain].get_or_init(|| p.sweep - 1);
                // Ten lines per chain, including the first sweep.
                let every = p.sweeps.div_ceil(10);
                if p.sweep == before + 1 || p.sweep.is_multiple_of(every) || p.sweep == p.sweeps {
                    let seconds = begun.elapsed().as_secs_f64();
                    let rate = (p.sweep - before) as f64 / seconds.max(1e-9);
                    let left = (p.sweeps - p.sweep) as f64 / rate;
                    note(&format!(
                        "chain {} sweep {}/{} {rate:.1}/s, {left:.0} s left, {}",
                        p.chain + 1,
                        p.sweep,
                        p.sweeps,
                        describe(&p)
                    ));
                }
            }
            Watch::Json { console, pace, begun } => {
                if pace.is_due(&p) {
                    let phase = if p.warming { "warmup" } else { "sampling" };
                    console.event(
                        "progress",
                        json!({
                            "chain": p.chain + 1, "sweep": p.sweep, "sweeps": p.sweeps, "phase": phase,
                            "log_likelihood": p.ln_likelihood(), "clusters": p.clusters, "seconds": begun.elapsed().as_secs_f64(),
                        }),
                    );
                }
            }
            Watch::Debug => note(&format!("chain {} sweep {} {} {:?}", p.chain + 1, p.sweep, describe(&p), p.info)),
        }
    }

    /// Finishes bars that are still running.
    pub fn finish(&self) {
        if let Watch::Bars { bars, .. } = self {
            bars.iter().for_each(ProgressBar::finish);
        }
    }
}

fn describe(p: &Progress<'_>) -> String {
    let phase = if p.warming { "warm-up" } else { "sampling" };
    format!("{phase} log-likelihood {:.1} clusters {}", p.ln_likelihood(), p.clusters)
}

impl Drop for Watch {
    /// A run that fails or is stopped leaves its bars in place.
    fn drop(&mut self) {
        if let Watch::Bars { bars, .. } = self {
            bars.iter().filter(|bar| !bar.is_finished()).for_each(ProgressBar::abandon);
        }
    }
}

/// Follows a run in a terminal: shows progress as requested, until the end or Ctrl-C.
pub struct Follower {
    console: Console,
    watch: Watch,
}

impl Follower {
    /// For `chains` chains of `sweeps` sweeps each. Listens for Ctrl-C from now on.
    pub fn new(console: Console, chains: usize, sweeps: u64, debug: bool, speaks: bool) -> Self {
        stop::listen(speaks);
        Follower { console, watch: Watch::new(console, chains, sweeps, debug) }
    }
}

impl Follow for Follower {
    fn search(&self) {
        self.console.say("looking for modes before the chains start");
    }

    fn begin(&self, seconds: f64) {
        self.console.detail(&format!("ready after {seconds:.1} s"));
    }

    fn see(&self, progress: Progress<'_>) {
        self.watch.see(progress);
    }

    fn saved(&self, draws: u64) {
        self.console.event("checkpoint", json!({ "draws": draws }));
    }

    fn is_stopped(&self) -> bool {
        stop::is_requested()
    }

    fn end(&self, run: &Run<'_>) {
        self.watch.finish();
        for (chain, seconds) in run.chains().iter().map(|c| c.snapshot().seconds()).enumerate() {
            let parts: Vec<String> =
                Step::NAMES.iter().zip(seconds).map(|(name, s)| format!("{name} {s:.1} s")).collect();
            self.console.detail(&format!("chain {}: {}", chain + 1, parts.join(", ")));
        }
        let jittered = rflvm::internal::linalg::jittered();
        if jittered > 0 {
            self.console.detail(&format!(
                "{jittered} matrices were nearly singular; a small constant was added to their diagonals"
            ));
        }
    }
}
