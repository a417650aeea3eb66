//! How often to look at a chain: sweeps may come by the thousand a second, and what is shown of them has a price.

use rflvm::run::Progress;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Lets a sweep of each chain pass now and then.
#[derive(Debug)]
pub struct Pace {
    every: Duration,
    last: Vec<Mutex<Instant>>,
}

impl Pace {
    /// One sweep of each chain every so often.
    pub fn new(chains: usize, every: Duration) -> Self {
        let now = Instant::now();
        Pace { every, last: (0..chains).map(|_| Mutex::new(now)).collect() }
    }

    /// Whether this sweep is one to look at; the first and the last of a chain are.
    pub fn is_due(&self, progress: &Progress<'_>) -> bool {
        // A poisoned lock only means that another thread panicked while it told the time.
        let mut last = self.last[progress.chain].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let is_due = progress.sweep == 1 || progress.sweep == progress.sweeps || last.elapsed() >= self.every;
        if is_due {
            *last = Instant::now();
        }
        is_due
    }
}
