//! Progress of the chains: a bar each on a terminal, a line now and then elsewhere, JSON for programs, nothing when quiet.

use crate::voice::Voice;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use rflvm::gibbs::run::Progress;
use serde_json::json;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Watches all chains of a run.
pub enum Watch {
    Quiet,
    Bars(Vec<ProgressBar>),
    Lines {
        begun: Instant,
    },
    /// One object a chain and second.
    Json {
        voice: Voice,
        last: Vec<Mutex<Instant>>,
        begun: Instant,
    },
    /// A line a sweep.
    Debug,
}

impl Watch {
    /// For `chains` chains of `sweeps` sweeps each.
    pub fn new(voice: Voice, chains: usize, sweeps: u64, debug: bool) -> Self {
        if debug {
            return Watch::Debug;
        }
        if voice.json {
            let now = Instant::now();
            return Watch::Json { voice, last: (0..chains).map(|_| Mutex::new(now)).collect(), begun: now };
        }
        if voice.quiet {
            return Watch::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Watch::Lines { begun: Instant::now() };
        }
        let all = MultiProgress::new();
        let template = "{prefix} {bar:24} {pos:>5}/{len} {rate:>7} {eta:>4} left  {msg}";
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()).with_key(
            "rate",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // A bar that cannot be written is not worth failing for.
                let _ = write!(out, "{:.1}/s", state.per_sec());
            },
        );
        let bars = (1..=chains).map(|chain| {
            let bar = all.add(ProgressBar::new(sweeps).with_style(style.clone()).with_prefix(format!("chain {chain}")));
            bar.set_message("fitting the start");
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Watch::Bars(bars.collect())
    }

    /// Takes in one sweep of one chain.
    pub fn see(&self, p: Progress) {
        match self {
            Watch::Quiet => {}
            Watch::Bars(bars) => {
                let bar = &bars[p.chain];
                bar.set_position(p.sweep);
                bar.set_message(describe(&p));
                if p.sweep == p.sweeps {
                    bar.finish();
                }
            }
            Watch::Lines { begun } => {
                // Ten lines a chain, the first sweep among them.
                let every = p.sweeps.div_ceil(10);
                if p.sweep == 1 || p.sweep.is_multiple_of(every) || p.sweep == p.sweeps {
                    let seconds = begun.elapsed().as_secs_f64();
                    let rate = p.sweep as f64 / seconds.max(1e-9);
                    let left = (p.sweeps - p.sweep) as f64 / rate;
                    eprintln!(
                        "chain {} sweep {}/{} {rate:.1}/s, {left:.0} s left, {}",
                        p.chain + 1,
                        p.sweep,
                        p.sweeps,
                        describe(&p)
                    );
                }
            }
            Watch::Json { voice, last, begun } => {
                // A poisoned lock only means that another chain panicked while it told the time.
                let mut last = last[p.chain].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if last.elapsed() >= Duration::from_secs(1) || p.sweep == 1 || p.sweep == p.sweeps {
                    *last = Instant::now();
                    let phase = if p.warming { "warmup" } else { "sampling" };
                    voice.event(
                        "progress",
                        json!({
                            "chain": p.chain + 1, "sweep": p.sweep, "sweeps": p.sweeps, "phase": phase, "log_lik": p.log_lik,
                            "clusters": p.clusters, "seconds": begun.elapsed().as_secs_f64(),
                        }),
                    );
                }
            }
            Watch::Debug => eprintln!("chain {} sweep {} {} {:?}", p.chain + 1, p.sweep, describe(&p), p.info),
        }
    }

    /// Leaves no bar behind that still runs.
    pub fn finish(&self) {
        if let Watch::Bars(bars) = self {
            bars.iter().for_each(ProgressBar::finish);
        }
    }
}

fn describe(p: &Progress) -> String {
    let phase = if p.warming { "warm-up" } else { "sampling" };
    format!("{phase} log-lik {:.1} clusters {}", p.log_lik, p.clusters)
}
