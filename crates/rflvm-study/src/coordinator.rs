//! A run whose chains are advanced by workers: it has the state of each chain, lets chains exchange states, and writes the draws and the checkpoint.
//!
//! Workers need neither this machine's files nor each other's. The folder is an ordinary one, which an ordinary run can resume.

use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use crate::folder::{self, FolderLock};
use crate::modes;
use crate::sample;
use crate::segment::{After, refused};
use rflvm::internal::draws::zarr::{Store, Writer};
use rflvm::internal::error::SpecError;
use rflvm::internal::identity::Identity;
use rflvm::internal::run::apart::{self, Started};
use rflvm::internal::run::chain::Snapshot;
use rflvm::internal::run::checkpoint::Checkpoint;
use rflvm::internal::run::message::{pack, unpack};
use std::sync::Arc;
use std::time::Instant;

/// The progress of a chain: sweeps done and in all, whether it is in warm-up, its log-likelihood, its clusters.
pub type Place = (u64, u64, bool, f64, usize);

/// Such a run.
pub struct Coordinator {
    fit: Arc<Fit>,
    /// Nobody else writes into the folder while the run exists.
    _lock: FolderLock,
    identity: Identity,
    store: Store,
    writers: Vec<Writer>,
    /// None before they are started.
    chains: Vec<Snapshot>,
    seen: Vec<(f64, usize)>,
    saved: Instant,
}

impl Coordinator {
    /// Prepares the folder, from the start or from a checkpoint.
    pub fn new(fit: Arc<Fit>, lock: FolderLock, from: Option<Checkpoint>) -> Result<Self, Error> {
        if fit.card()?.is_some() {
            let rule = "workers run chains on their processors; let it be cpu, or leave out the client";
            return Err(SpecError::Setting { setting: "device", value: "cuda".into(), rule: rule.into() }.into());
        }
        let identity = fit.identity();
        fit.write_settings(Some(&identity))?;
        let (mut store, chains, writers) = fit.with_sampling(|sampling| {
            let store = sampling.store(&fit.model)?;
            let (chains, writers) = match from {
                None => (Vec::new(), sampling.writers(&store, &fit.model)),
                Some(checkpoint) => sampling.restore(checkpoint, &store, &fit.model)?,
            };
            Ok((store, chains, writers))
        })?;
        // Draws beyond the checkpoint are drawn again, and must not be read meanwhile.
        store.publish(writers.iter().map(Writer::draws).min().unwrap_or(0))?;
        let seen = vec![(f64::NAN, 0); fit.settings.chains];
        Ok(Coordinator { fit, _lock: lock, identity, store, writers, chains, seen, saved: Instant::now() })
    }

    /// Whether the chains have been started.
    pub fn is_started(&self) -> bool {
        !self.chains.is_empty()
    }

    /// Takes the chains as a worker has started them.
    pub fn started(&mut self, message: &[u8]) -> Result<(), Error> {
        let Started { chains, found } = unpack(&self.identity, message).map_err(refused)?;
        modes::write(&self.fit.dir, &found)?;
        self.chains = chains;
        self.save()?;
        folder::settled(&self.fit.dir)
    }

    /// The message with which a worker continues a chain; `None` while it waits for others, and at its end.
    pub fn next(&self, chain: usize) -> Result<Option<Vec<u8>>, Error> {
        let (Some(at), Some(writer)) = (self.chains.get(chain), self.writers.get(chain)) else { return Ok(None) };
        if at.done() >= apart::until(&self.fit.model, &self.fit.settings, at) {
            return Ok(None);
        }
        pack(&self.identity, &(at, writer.moments())).map(Some).map_err(refused)
    }

    /// Takes a chain after a segment, with its draws. Returns whether chains have exchanged states, and those that waited can go on.
    pub fn take(&mut self, chain: usize, message: &[u8]) -> Result<bool, Error> {
        let After { at, batch, seen } = unpack(&self.identity, message).map_err(refused)?;
        if chain >= self.chains.len() {
            return Err(refused(format!("there is no chain {}", chain + 1)));
        }
        self.writers[chain].append(batch)?;
        (self.chains[chain], self.seen[chain]) = (at, seen);
        let (model, settings) = (&self.fit.model, &self.fit.settings);
        let waits = |at: &Snapshot| at.done() < settings.sweeps() && at.done() >= apart::until(model, settings, at);
        let is_exchange = self.chains.iter().all(waits);
        if is_exchange {
            self.fit.use_instructions();
            self.chains = apart::exchange(model, settings, std::mem::take(&mut self.chains))?.0;
        }
        if self.is_finished() || self.saved.elapsed() >= self.fit.every {
            self.save()?;
        }
        Ok(is_exchange)
    }

    /// Whether all chains are done.
    pub fn is_finished(&self) -> bool {
        self.is_started() && self.chains.iter().all(|at| at.done() == self.fit.settings.sweeps())
    }

    /// Writes the draws so far, and the checkpoint.
    pub fn save(&mut self) -> Result<(), Error> {
        let (dir, model) = (&self.fit.dir, &self.fit.model);
        let snapshots: Vec<&Snapshot> = self.chains.iter().collect();
        sample::save(dir, &self.identity, (model, model), &mut self.store, &snapshots, &mut self.writers)?;
        modes::record(dir, |mode| apart::all_replaced(&self.chains, mode))?;
        self.saved = Instant::now();
        Ok(())
    }

    /// Completes a run whose chains are done.
    pub fn finish(&self) -> Result<(), Error> {
        if self.fit.settings.modes > 1 { Drawn::open(&self.fit)?.0.keep_weights(&self.fit) } else { Ok(()) }
    }

    /// The progress of each chain.
    pub fn progress(&self) -> Vec<Place> {
        let settings = &self.fit.settings;
        let done = |chain: usize| self.chains.get(chain).map_or(0, Snapshot::done);
        let place = |(chain, &(ln_likelihood, clusters)): (usize, &(f64, usize))| {
            (done(chain), settings.sweeps(), done(chain) <= settings.warmup, ln_likelihood, clusters)
        };
        self.seen.iter().enumerate().map(place).collect()
    }
}
