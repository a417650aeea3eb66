//! Sampling into a folder: in legs that end with a checkpoint, so that a run can be stopped at any moment and taken up again.

use crate::failure::Failure;
use crate::progress::Watch;
use crate::stop;
use crate::voice::Voice;
use rflvm::atomic::{self, plain_reason};
use rflvm::draws::zarr::{Kept, Labels, Store, Writer};
use rflvm::error::StoreError;
use rflvm::gibbs::Step;
use rflvm::gibbs::chain::Settings;
use rflvm::gibbs::checkpoint::{self, Checkpoint};
use rflvm::gibbs::run::Run;
use rflvm::model::Model;
use serde_json::json;
use std::fs::{File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Cells up to which the moments of F are kept on the fly; beyond, they would be most of the memory.
const MOMENTS_OF_F: usize = 20_000_000;

/// A fit on its way.
pub struct Sampling<'a> {
    /// Its folder.
    pub dir: &'a Path,
    /// What is fitted.
    pub model: &'a Model,
    /// How.
    pub settings: &'a Settings,
    /// What is stored.
    pub keep: &'a [Kept],
    /// Names and classes of the rows.
    pub labels: &'a Labels,
    /// Time between checkpoints.
    pub every: Duration,
    /// Prints a line a sweep.
    pub debug: bool,
}

/// Where draws go in the folder of a fit.
pub fn store_path(dir: &Path) -> PathBuf {
    dir.join("draws.zarr")
}

/// Where the checkpoint lies in it.
pub fn checkpoint_path(dir: &Path) -> PathBuf {
    dir.join("checkpoint.bin")
}

/// Keeps other runs out of the folder for as long as the file is held; the system lets go of it even if the program is killed.
pub fn lock(dir: &Path) -> Result<File, Failure> {
    let path = dir.join(".lock");
    let refused =
        |error: std::io::Error| Failure::Write { path: path.display().to_string(), reason: plain_reason(&error) };
    let file = File::create(&path).map_err(refused)?;
    match file.try_lock() {
        // Some file systems know no locks; they are no worse off than without.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::Busy { dir: dir.display().to_string() }),
    }
}

impl Sampling<'_> {
    /// Samples to the end, from the start or from a checkpoint.
    pub fn run(&self, from: Option<Checkpoint>, voice: Voice) -> Result<(), Failure> {
        let (model, settings) = (self.model, self.settings);
        let about = json!({
            "created_by": format!("rflvm {}", env!("CARGO_PKG_VERSION")),
            "seed": settings.seed, "warmup": settings.warmup, "thin": settings.thin, "draws": settings.draws,
            "families": model.blocks().iter().map(|b| b.family.name()).collect::<Vec<_>>(),
        });
        let mut store = Store::new(&store_path(self.dir), model, self.keep, settings.chains, settings.draws, about);
        let _lock = lock(self.dir)?;
        atomic::clean(self.dir);
        store.begin(model, self.labels, settings.chains)?;
        stop::listen();
        let begun = Instant::now();
        let mut writers = Vec::with_capacity(settings.chains);
        let mut run = match from {
            None => {
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
                Run::resume(model, settings, snapshots)?
            }
        };
        voice.detail(&format!("ready after {:.1} s", begun.elapsed().as_secs_f64()));
        let watch = Watch::new(voice, settings.chains, settings.sweeps(), self.debug);
        loop {
            let leg = Instant::now();
            let finished = run.go_on(&mut writers, |progress| {
                watch.see(progress);
                if stop::is_requested() || leg.elapsed() >= self.every {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            // A state that broke down is not saved over one that led there: the last checkpoint replays it.
            let finished = finished.map_err(|error| Failure::run_in(error, self.dir))?;
            self.save(&mut store, &run, &mut writers)?;
            voice.event("checkpoint", json!({ "draws": writers.iter().map(Writer::draws).min() }));
            if finished {
                break;
            }
            if stop::is_requested() {
                return Err(Failure::Interrupted { dir: self.dir.display().to_string() });
            }
        }
        watch.finish();
        for (chain, seconds) in run.chains().iter().map(|c| c.snapshot().seconds()).enumerate() {
            let parts: Vec<String> =
                Step::NAMES.iter().zip(seconds).map(|(name, s)| format!("{name} {s:.1} s")).collect();
            voice.detail(&format!("chain {}: {}", chain + 1, parts.join(", ")));
        }
        let jittered = rflvm::linalg::jittered();
        if jittered > 0 {
            voice.say(&format!(
                "{jittered} matrices were so close to singular that a little was added to their diagonals"
            ));
        }
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
        checkpoint::save(&checkpoint_path(self.dir), self.model, states)
    }
}
