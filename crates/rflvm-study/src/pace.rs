//! How often to report on a chain: there may be thousands of sweeps per second, and each report costs time.

use rflvm::internal::run::Progress;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Selects some sweeps of each chain, spaced in time.
#[derive(Debug)]
pub struct Pace {
    every: Duration,
    last: Vec<Mutex<Instant>>,
}

impl Pace {
    /// At most one sweep of each chain per interval.
    pub fn new(chains: usize, every: Duration) -> Self {
        let now = Instant::now();
        Pace { every, last: (0..chains).map(|_| Mutex::new(now)).collect() }
    }

    /// Whether to report this sweep; the first and the last of a chain always are.
    pub fn is_due(&self, progress: &Progress<'_>) -> bool {
        // A poisoned lock only means that another thread panicked while holding it.
        let mut last = self.last[progress.chain].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let is_due = progress.sweep == 1 || progress.sweep == progress.sweeps || last.elapsed() >= self.every;
        if is_due {
            *last = Instant::now();
        }
        is_due
    }
}
