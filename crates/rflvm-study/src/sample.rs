//! Sampling into a folder, in segments that end with a checkpoint, so that a run can be stopped and resumed at any time.

use crate::device::{self, Card};
use crate::error::Error;
use crate::folder::{self, checkpoint_path, is_replacing, store_path};
use crate::modes;
use rflvm::internal::atomic;
use rflvm::internal::draws::Kept;
use rflvm::internal::draws::zarr::{RowLabels, Store, Writer};
use rflvm::internal::error::StoreError;
use rflvm::internal::identity::Identity;
use rflvm::internal::model::Model;
use rflvm::internal::run::Settings;
use rflvm::internal::run::chain::Snapshot;
use rflvm::internal::run::checkpoint::{self, Checkpoint};
use rflvm::internal::run::modes::Plan;
use rflvm::internal::run::{Progress, Run};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Up to this many cells, the moments of F are accumulated while sampling; beyond it, they would dominate the memory.
const MOMENTS_OF_F: usize = 20_000_000;

/// A fit that is being sampled.
pub struct Sampling<'a> {
    /// Its folder.
    pub dir: &'a Path,
    /// Its identity.
    pub identity: &'a Identity,
    /// The model.
    pub model: &'a Model,
    /// The columns of this process: the model itself, unless several processes share them.
    pub part: &'a Model,
    /// How to run it.
    pub settings: &'a Settings,
    /// What is stored.
    pub keep: &'a [Kept],
    /// Names and labels of the rows.
    pub labels: &'a RowLabels,
    /// Time between checkpoints.
    pub every: Duration,
    /// The card that holds the table, if one does.
    pub card: Option<Card>,
}

/// An observer of a run, who may stop it.
pub trait Follow: Sync {
    /// Called before a search for modes.
    fn search(&self) {}
    /// Called before chains run, with the seconds of set-up.
    fn begin(&self, _seconds: f64) {}
    /// Called after each sweep of a chain.
    fn see(&self, progress: Progress<'_>);
    /// Called after each save, with the number of draws per chain.
    fn saved(&self, _draws: u64) {}
    /// Whether to stop after the current sweep.
    fn is_stopped(&self) -> bool;
    /// Called when all chains are done, with the seconds of each chain's steps.
    fn end(&self, _run: &Run<'_>) {}
}

impl Sampling<'_> {
    /// Samples to the end, from the start or from a checkpoint, into a folder that the first process has locked. Only the first writes.
    pub fn run(&self, from: Option<Checkpoint>, follow: &dyn Follow) -> Result<(), Error> {
        let (part, settings) = (self.part, self.settings);
        let is_first = part.chunks().is_first();
        // The others have let go of the table, and write nothing.
        let model = if is_first { self.model } else { part };
        let is_stopped = || part.chunks().any(follow.is_stopped());
        let mut store = self.store(model)?;
        let begun = Instant::now();
        let open = self.card.map(device::opener);
        let mut writers;
        let mut run = match from {
            None => {
                // From here on the table is stored, even if the run fails.
                if is_first {
                    store.publish(0)?;
                }
                writers = self.writers(&store, model);
                if Plan::new(part, settings).is_some() {
                    follow.search();
                }
                let Some(run) = Run::start_unless(part, settings, open.as_deref(), &is_stopped)? else {
                    let dir = self.dir.display().to_string();
                    return Err(if is_replacing(self.dir) {
                        Error::NotReplaced { dir }
                    } else {
                        Error::Interrupted { dir }
                    });
                };
                if is_first {
                    modes::write(self.dir, &run.modes().found)?;
                }
                self.save(&mut store, &run, &mut writers)?;
                if is_first {
                    folder::settled(self.dir)?;
                }
                run
            }
            Some(checkpoint) => {
                let (snapshots, restored) = self.restore(checkpoint, &store, model)?;
                writers = restored;
                // Draws beyond the checkpoint are drawn again, and must not be read meanwhile.
                if is_first {
                    store.publish(writers.iter().map(Writer::draws).min().unwrap_or(0))?;
                }
                Run::resume(part, settings, snapshots, open.as_deref())?
            }
        };
        follow.begin(begun.elapsed().as_secs_f64());
        loop {
            let segment = Instant::now();
            let finished = run.go_on(&mut writers, |progress| {
                follow.see(progress);
                if follow.is_stopped() || segment.elapsed() >= self.every {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            // A state that failed is not saved over the one that led to it: the last checkpoint replays the failure.
            let finished = finished.map_err(|error| Error::run_in(error, self.dir))?;
            self.save(&mut store, &run, &mut writers)?;
            if is_first {
                modes::record(self.dir, |mode| run.replaced(mode))?;
            }
            follow.saved(writers.iter().map(Writer::draws).min().unwrap_or(0));
            if finished {
                break;
            }
            if is_stopped() {
                return Err(Error::Interrupted { dir: self.dir.display().to_string() });
            }
        }
        follow.end(&run);
        Ok(())
    }

    /// The store, with everything of fixed size on disk if this is the first process.
    pub(crate) fn store(&self, model: &Model) -> Result<Store, StoreError> {
        let settings = self.settings;
        let about = json!({
            "created_by": format!("rflvm {}", env!("CARGO_PKG_VERSION")),
            "seed": settings.seed, "warmup": settings.warmup, "thin": settings.thin, "draws": settings.draws,
            "identity": self.identity,
            "device": self.card.map_or("cpu".into(), |card| card.to_string()),
            "families": model.blocks().iter().map(|b| b.family.name()).collect::<Vec<_>>(),
        });
        let mut store = Store::new(&store_path(self.dir), model, self.keep, settings.chains, about);
        if self.part.chunks().is_first() {
            atomic::clean(self.dir);
            store.begin(model, self.part, self.labels, settings.chains)?;
        } else {
            // The first writes the cells of all.
            self.part.collect_table(|_| Ok::<(), StoreError>(()))?;
        }
        Ok(store)
    }

    /// The writers of chains that have no draws yet.
    pub(crate) fn writers(&self, store: &Store, model: &Model) -> Vec<Writer> {
        let has_f = self.has_moments_of_f();
        (0..self.settings.chains).map(|chain| Writer::new(store, model, chain, has_f)).collect()
    }

    /// The chains and their writers as a checkpoint left them; at the beginning of a further warm-up if there is to be one.
    pub(crate) fn restore(
        &self,
        checkpoint: Checkpoint,
        store: &Store,
        model: &Model,
    ) -> Result<(Vec<Snapshot>, Vec<Writer>), Error> {
        let is_warmed_again = self.settings.warmup_from > checkpoint.identity.warmup_from;
        let (mut snapshots, states): (Vec<_>, Vec<_>) = checkpoint.own_of(self.part)?.into_iter().unzip();
        if is_warmed_again {
            snapshots.iter_mut().for_each(|snapshot| snapshot.warm_again(self.settings));
            return Ok((snapshots, self.writers(store, model)));
        }
        let writer = |(chain, state)| match self.part.chunks().is_first() {
            true => Writer::resume(store, model, chain, state),
            false => Ok(Writer::of(store, model, chain, state)),
        };
        let writers = states.into_iter().enumerate().map(writer).collect::<Result<Vec<_>, _>>()?;
        Ok((snapshots, writers))
    }

    /// Whether moments of F are kept.
    fn has_moments_of_f(&self) -> bool {
        self.card.is_none() && self.part.rows() * self.part.all_columns() <= MOMENTS_OF_F
    }

    fn save(&self, store: &mut Store, run: &Run<'_>, writers: &mut [Writer]) -> Result<(), StoreError> {
        let snapshots: Vec<&Snapshot> = run.chains().iter().map(|chain| chain.snapshot()).collect();
        save(self.dir, self.identity, (self.model, self.part), store, &snapshots, writers)
    }
}

/// Writes the draws first, then their metadata, then the checkpoint that relies on both. Where processes share the columns of the model, all call
/// it with their parts, and the first writes.
pub(crate) fn save(
    dir: &Path,
    identity: &Identity,
    (model, part): (&Model, &Model),
    store: &mut Store,
    snapshots: &[&Snapshot],
    writers: &mut [Writer],
) -> Result<(), StoreError> {
    if part.chunks().is_first() {
        for writer in writers.iter_mut() {
            writer.flush()?;
        }
        store.moments(model, &writers.iter().map(Writer::moments).collect::<Vec<_>>())?;
        store.publish(writers.iter().map(Writer::draws).min().unwrap_or(0))?;
    }
    let states: Vec<_> = snapshots.iter().copied().zip(writers.iter().map(Writer::state)).collect();
    checkpoint::save(&checkpoint_path(dir), identity, part, &states)
}
