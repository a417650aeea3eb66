//! Sampling in the background: Python watches it, waits for it, or stops it.

use crate::error::raised;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rflvm::internal::run::Progress;
use rflvm::internal::run::checkpoint::Checkpoint;
use rflvm_study::drawn::Drawn;
use rflvm_study::folder::FolderLock;
use rflvm_study::pace::Pace;
use rflvm_study::sample::Follow;
use rflvm_study::{Error, Fit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A run in progress.
#[pyclass(module = "rflvm._native", frozen)]
pub struct Job {
    shared: Arc<Shared>,
}

/// The progress of a chain: sweeps done and in all, whether it is in warm-up, its log-likelihood, its clusters.
type Place = (u64, u64, bool, f64, usize);

struct Shared {
    pace: Pace,
    is_stopped: AtomicBool,
    places: Mutex<Vec<Place>>,
    outcome: Mutex<Outcome>,
    done: Condvar,
}

#[derive(Default)]
enum Outcome {
    #[default]
    Running,
    Finished,
    Stopped,
    Failed(Error),
    Panicked(String),
    /// The failure has been raised.
    Told,
}

/// The value behind the lock is valid even if another thread panicked while holding it.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Follow for Shared {
    fn see(&self, p: Progress<'_>) {
        let log_likelihood = self.pace.is_due(&p).then(|| p.ln_likelihood());
        let place = &mut held(&self.places)[p.chain];
        *place = (p.sweep, p.sweeps, p.warming, log_likelihood.unwrap_or(place.3), p.clusters);
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

impl Job {
    /// Samples in a separate thread.
    pub fn start(fit: Arc<Fit>, lock: FolderLock, from: Option<Checkpoint>) -> Self {
        let settings = &fit.settings;
        let done = |chain: usize| from.as_ref().and_then(|from| from.chains.get(chain)).map_or(0, |(at, _)| at.done());
        let place = |chain| (done(chain), settings.sweeps(), done(chain) < settings.warmup, f64::NAN, 0);
        let places = (0..settings.chains).map(place).collect();
        let shared = Arc::new(Shared {
            pace: Pace::new(settings.chains, Duration::from_millis(200)),
            is_stopped: AtomicBool::new(false),
            places: Mutex::new(places),
            outcome: Mutex::default(),
            done: Condvar::new(),
        });
        let own = Arc::clone(&shared);
        std::thread::spawn(move || {
            let run = || {
                fit.run(&lock, from, &*own)?;
                if fit.settings.modes > 1 { Drawn::open(&fit)?.0.keep_weights(&fit) } else { Ok(()) }
            };
            let ended = catch_unwind(AssertUnwindSafe(run));
            // Whoever waits for the end may then start another run in the folder.
            drop(lock);
            let outcome = match ended {
                Ok(Ok(())) => Outcome::Finished,
                Ok(Err(Error::Interrupted { .. } | Error::NotReplaced { .. })) => Outcome::Stopped,
                Ok(Err(failure)) => Outcome::Failed(failure),
                Err(panic) => Outcome::Panicked(words(&*panic)),
            };
            *held(&own.outcome) = outcome;
            own.done.notify_all();
        });
        Job { shared }
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[pymethods]
impl Job {
    /// For each chain: sweeps done, sweeps in all, whether it is in warm-up, log-likelihood, clusters of frequencies.
    fn progress(&self) -> Vec<Place> {
        held(&self.shared.places).clone()
    }

    /// Asks the run to stop after the current sweep.
    fn cancel(&self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Waits at most this many seconds; returns whether the run has ended.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let limit = Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).unwrap_or_default();
        py.detach(|| {
            let running = |outcome: &mut Outcome| matches!(outcome, Outcome::Running);
            let waited = self.shared.done.wait_timeout_while(held(&self.shared.outcome), limit, running);
            waited.is_ok_and(|(outcome, _)| !matches!(*outcome, Outcome::Running))
        })
    }

    /// "running", "finished" or "stopped"; raises the error of a failed run.
    fn outcome(&self) -> PyResult<&'static str> {
        let mut outcome = held(&self.shared.outcome);
        match &*outcome {
            Outcome::Running => return Ok("running"),
            Outcome::Finished => return Ok("finished"),
            Outcome::Stopped => return Ok("stopped"),
            Outcome::Told => return Err(PyRuntimeError::new_err("the run has failed, as reported before")),
            Outcome::Failed(_) | Outcome::Panicked(_) => {}
        }
        Err(match std::mem::replace(&mut *outcome, Outcome::Told) {
            Outcome::Failed(failure) => raised(failure),
            Outcome::Panicked(words) => PyRuntimeError::new_err(format!(
                "the sampler failed, which is a bug in rflvm; please report it ({words})"
            )),
            _ => PyRuntimeError::new_err("the run has ended"),
        })
    }
}
