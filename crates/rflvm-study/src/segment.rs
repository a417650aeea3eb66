//! A segment of one chain, run by a worker that has a copy of the fit's folder; and the start of all chains. Workers write nothing.
//!
//! A segment depends only on what it is given: if a worker is lost, another one repeats the segment, with the same draws.

use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::draws::moments::Moments;
use rflvm::internal::draws::zarr::{Batch, Packer};
use rflvm::internal::run::apart;
use rflvm::internal::run::chain::Snapshot;
use rflvm::internal::run::message::{pack, unpack};
use rflvm::internal::run::{Progress, Settings};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A chain before a segment.
pub(crate) type Before = (Snapshot, Moments);

/// A chain after a segment, and the draws of the segment.
#[derive(Deserialize, Serialize)]
pub(crate) struct After {
    pub at: Snapshot,
    pub batch: Batch,
    /// Log-likelihood and number of clusters after the last sweep, for progress.
    pub seen: (f64, usize),
}

/// A message that is not understood.
pub(crate) fn refused(problem: String) -> Error {
    Error::Worker { problem }
}

/// Initialises all chains, with the search for modes that they share.
pub fn start(fit: &Fit, threads: usize) -> Result<Vec<u8>, Error> {
    fit.use_instructions();
    let settings = Settings { threads, ..fit.settings.clone() };
    let Some(started) = apart::start(&fit.model, &settings, &|| false)? else {
        return Err(Error::Interrupted { dir: fit.dir.display().to_string() });
    };
    pack(&fit.identity(), &started).map_err(refused)
}

/// Continues chain number `chain` for about some time, at most up to where it exchanges states with the others.
pub fn run(fit: &Fit, chain: usize, before: &[u8], threads: usize, time: Duration) -> Result<Vec<u8>, Error> {
    fit.use_instructions();
    let settings = Settings { threads, ..fit.settings.clone() };
    let identity = fit.identity();
    let (at, moments): Before = unpack(&identity, before).map_err(refused)?;
    let (begun, end) = (Instant::now(), apart::until(&fit.model, &settings, &at));
    let seen = Mutex::new((f64::NAN, 0));
    let watch = |p: Progress<'_>| {
        let is_over = begun.elapsed() >= time;
        if (is_over || p.sweep >= end)
            && let Ok(mut seen) = seen.lock()
        {
            *seen = (p.ln_likelihood(), p.clusters);
        }
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut sink = Packer::new(&fit.model, &fit.keep, moments);
    let at = apart::advance(&fit.model, &settings, chain, at, &mut sink, watch)?;
    let seen = seen.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    pack(&identity, &After { at, batch: sink.finish(), seen }).map_err(refused)
}
