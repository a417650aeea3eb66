//! Sampling into a folder: in legs that end with a checkpoint, so that a run can be stopped at any moment and taken up again.

use crate::error::Error;
use crate::folder::{Claim, checkpoint_path, store_path};
use rflvm::atomic;
use rflvm::draws::Kept;
use rflvm::draws::zarr::{RowLabels, Store, Writer};
use rflvm::error::StoreError;
use rflvm::identity::Identity;
use rflvm::model::Model;
use rflvm::run::Settings;
use rflvm::run::checkpoint::{self, Checkpoint};
use rflvm::run::{Progress, Run};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// Cells up to which the moments of F are kept on the fly; beyond, they would be most of the memory.
const MOMENTS_OF_F: usize = 20_000_000;

/// A fit on its way.
pub struct Sampling<'a> {
    /// Its folder.
    pub dir: &'a Path,
    /// Which run it is.
    pub identity: &'a Identity,
    /// What is fitted.
    pub model: &'a Model,
    /// How.
    pub settings: &'a Settings,
    /// What is stored.
    pub keep: &'a [Kept],
    /// Names and classes of the rows.
    pub labels: &'a RowLabels,
    /// Time between checkpoints.
    pub every: Duration,
}

/// Who follows a run, and may end it.
pub trait Follow: Sync {
    /// Chains are about to run, after so many seconds of set-up.
    fn begin(&self, _seconds: f64) {}
    /// A chain has done a sweep.
    fn see(&self, progress: Progress<'_>);
    /// All that was drawn is saved: so many draws of each chain.
    fn saved(&self, _draws: u64) {}
    /// Whether to end with the sweep that is under way.
    fn is_stopped(&self) -> bool;
    /// All chains are done; seconds of each chain's steps.
    fn end(&self, _run: &Run<'_>) {}
}

impl Sampling<'_> {
    /// Samples to the end, from the start or from a checkpoint, into a folder that nobody else works in.
    pub fn run(&self, _claim: &Claim, from: Option<Checkpoint>, follow: &dyn Follow) -> Result<(), Error> {
        let (model, settings) = (self.model, self.settings);
        let about = json!({
            "created_by": format!("rflvm {}", env!("CARGO_PKG_VERSION")),
            "seed": settings.seed, "warmup": settings.warmup, "thin": settings.thin, "draws": settings.draws,
            "identity": self.identity,
            "families": model.blocks().iter().map(|b| b.family.name()).collect::<Vec<_>>(),
        });
        let mut store = Store::new(&store_path(self.dir), model, self.keep, settings.chains, about);
        atomic::clean(self.dir);
        store.begin(model, self.labels, settings.chains)?;
        let begun = Instant::now();
        let mut writers = Vec::with_capacity(settings.chains);
        let mut run = match from {
            None => {
                // The table is there from now on, whatever comes.
                store.publish(0)?;
                let has_f = model.rows() * model.columns() <= MOMENTS_OF_F;
                writers.extend((0..settings.chains).map(|chain| Writer::new(&store, model, chain, has_f)));
                let run = Run::start(model, settings)?;
                self.save(&mut store, &run, &mut writers)?;
                run
            }
            Some(checkpoint) => {
                let mut snapshots = Vec::with_capacity(settings.chains);
                for (chain, (snapshot, state)) in checkpoint.chains.into_iter().enumerate() {
                    writers.push(Writer::resume(&store, model, chain, state)?);
                    snapshots.push(snapshot);
                }
                // What the store has beyond the checkpoint is drawn again, and must not be read while it is.
                store.publish(writers.iter().map(Writer::draws).min().unwrap_or(0))?;
                Run::resume(model, settings, snapshots)?
            }
        };
        follow.begin(begun.elapsed().as_secs_f64());
        loop {
            let leg = Instant::now();
            let finished = run.go_on(&mut writers, |progress| {
                follow.see(progress);
                if follow.is_stopped() || leg.elapsed() >= self.every {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            // A state that broke down is not saved over one that led there: the last checkpoint replays it.
            let finished = finished.map_err(|error| Error::run_in(error, self.dir))?;
            self.save(&mut store, &run, &mut writers)?;
            follow.saved(writers.iter().map(Writer::draws).min().unwrap_or(0));
            if finished {
                break;
            }
            if follow.is_stopped() {
                return Err(Error::Interrupted { dir: self.dir.display().to_string() });
            }
        }
        follow.end(&run);
        Ok(())
    }

    /// Draws first, then what the store says of them, then the checkpoint that relies on both.
    fn save(&self, store: &mut Store, run: &Run<'_>, writers: &mut [Writer]) -> Result<(), StoreError> {
        let draws = writers.iter().map(Writer::draws).min().unwrap_or(0);
        let mut states = Vec::with_capacity(writers.len());
        for writer in writers.iter_mut() {
            writer.flush()?;
        }
        store.moments(self.model, &writers.iter().map(Writer::moments).collect::<Vec<_>>())?;
        store.publish(draws)?;
        for (chain, writer) in run.chains().iter().zip(writers.iter()) {
            states.push((chain.snapshot(), writer.state()));
        }
        checkpoint::save(&checkpoint_path(self.dir), self.identity, states)
    }
}
