//! What a fit would cost on this machine: its initialisation and some of its sweeps, timed as it would run them.

use crate::failure::Failure;
use rflvm::internal::device::Open;
use rflvm::internal::draws::{Draw, Draws};
use rflvm::internal::error::StoreError;
use rflvm::internal::model::Model;
use rflvm::internal::run::{Run, Settings};
use rflvm_study::memory;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

/// Sweeps per chain that are timed with all moves on: as many as the time allows, between these bounds.
const MOST: u64 = 60;
const LEAST: u64 = 2;
/// Seconds after which no more sweeps are started.
const PATIENCE: f64 = 3.0;
/// Cells that are timed at most, and columns at least: the cost of a fit is in proportion to its columns, and nobody waits half a minute for an estimate.
const CELLS: usize = 10_000;
const COLUMNS: usize = 64;
/// Warm-up of the timed run. During the first tenth, positions are held fixed, which takes a different time.
const WARMUP: u64 = 20;

/// The cost of a fit.
pub struct Cost {
    /// Wall seconds in all, with the chains in parallel.
    pub seconds: f64,
    /// Seconds before the first sweep.
    pub start: f64,
    /// Wall seconds per sweep of all chains.
    pub sweep: f64,
    pub threads: usize,
    pub megabytes: f64,
    /// The number of columns that were timed, and of all, where they differ.
    pub timed: Option<(usize, usize)>,
}

/// A sink that stores nothing.
struct Nowhere;

impl Draws for Nowhere {
    fn push(&mut self, _: &Draw<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// When a chain finished its sweeps with fixed positions, and its last one, in seconds since the start; and its number of sweeps.
#[derive(Clone, Copy, Default)]
struct Clock {
    held: f64,
    last: f64,
    sweeps: u64,
}

impl Cost {
    /// Starts all chains of a fit, on this processor or on a card, and runs them for some seconds.
    pub fn of(model: &Model, settings: &Settings, card: Option<&Open<'_>>) -> Result<Self, Failure> {
        settings.check()?;
        memory::check(model, settings)?;
        let timed =
            Settings { warmup: settings.warmup.min(WARMUP), draws: MOST, thin: 1, modes: 1, ..settings.clone() };
        let held = timed.warmup / 10;
        let most = timed_columns(model.rows());
        // A card has another cost per column with few of them than with many.
        let some = if card.is_none() { model.fewer_columns(most) } else { None };
        let (whole, model) = (model, some.as_ref().unwrap_or(model));
        let scale = whole.columns() as f64 / model.columns() as f64;
        let begun = Instant::now();
        let mut run = Run::start(model, &timed, card)?;
        let start = scale * begun.elapsed().as_secs_f64();
        let clocks = Mutex::new(vec![Clock::default(); settings.chains]);
        let begun = Instant::now();
        let mut sinks: Vec<Nowhere> = (0..settings.chains).map(|_| Nowhere).collect();
        run.go_on(&mut sinks, |progress| {
            let now = begun.elapsed().as_secs_f64();
            // A poisoned lock belongs to a chain that failed, as will the run.
            let Ok(mut clocks) = clocks.lock() else { return ControlFlow::Break(()) };
            let clock = &mut clocks[progress.chain];
            if progress.sweep == held {
                clock.held = now;
            }
            (clock.last, clock.sweeps) = (now, progress.sweep);
            let is_enough = progress.sweep >= held + LEAST && now > PATIENCE || progress.sweep >= held + MOST;
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let clocks = clocks.into_inner().unwrap_or_default();
        let mean = |of: &dyn Fn(&Clock) -> f64| clocks.iter().map(of).sum::<f64>() / clocks.len() as f64;
        let held_sweep = scale * if held > 0 { mean(&|clock| clock.held / held as f64) } else { 0.0 };
        let sweep = scale * mean(&|clock| (clock.last - clock.held) / (clock.sweeps - held).max(1) as f64);
        let all_held = settings.warmup / 10;
        let free = (settings.sweeps() - all_held) as f64;
        Ok(Cost {
            seconds: start + held_sweep * all_held as f64 + sweep * free,
            start,
            sweep,
            threads: match settings.threads {
                0 => std::thread::available_parallelism().map_or(1, Into::into),
                threads => threads,
            },
            megabytes: 1e-6 * memory::needed(whole, settings) as f64,
            timed: some.as_ref().map(|some| (some.columns(), whole.columns())),
        })
    }

    /// In words.
    pub fn line(&self, settings: &Settings) -> String {
        let (chains, sweeps) = (settings.chains, settings.sweeps());
        let chains = if chains == 1 { "1 chain".into() } else { format!("{chains} chains") };
        let threads = if self.threads == 1 { "1 thread".into() } else { format!("{} threads", self.threads) };
        let timed = self.timed.map_or_else(String::new, |(some, all)| format!(" (timed on {some} of {all} columns)"));
        format!(
            "a fit takes about {} on this machine: {chains} of {sweeps} sweeps on {threads}, {:.3} s per sweep, after {:.1} s of initialisation{timed}",
            duration(self.seconds),
            self.sweep,
            self.start
        )
    }
}

/// How many columns are timed at most in a table of this many rows.
fn timed_columns(rows: usize) -> usize {
    (CELLS / rows).max(COLUMNS)
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..1.5 => "a second".into(),
        ..90.0 => format!("{seconds:.0} seconds"),
        ..5400.0 => format!("{:.0} minutes", seconds / 60.0),
        ..172_800.0 => format!("{:.1} hours", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_timed_does_not_grow_with_the_table() {
        for (rows, columns) in [(10, 1000), (156, 64), (200, 64), (100_000, 64)] {
            assert_eq!(timed_columns(rows), columns, "{rows} rows");
        }
    }

    #[test]
    fn times_are_reported_in_suitable_units() {
        for (seconds, words) in
            [(0.1, "a second"), (89.0, "89 seconds"), (600.0, "10 minutes"), (9000.0, "2.5 hours"), (1e6, "12 days")]
        {
            assert_eq!(duration(seconds), words);
        }
    }
}
