//! The folder of a fit: what lies in it, and who may work in it.

use crate::error::Error;
use crate::out_dir;
use rflvm::atomic::plain_reason;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// Where the settings lie.
pub fn config_path(dir: &Path) -> PathBuf {
    dir.join("config.toml")
}

/// Where draws go.
pub fn store_path(dir: &Path) -> PathBuf {
    dir.join("draws.zarr")
}

/// Where the checkpoint lies.
pub fn checkpoint_path(dir: &Path) -> PathBuf {
    dir.join("checkpoint.bin")
}

/// Where a table of trials lies that did not come from a file.
pub fn trials_path(dir: &Path) -> PathBuf {
    dir.join("trials.npy")
}

/// Where the numbers of a point estimate lie.
pub fn map_path(dir: &Path) -> PathBuf {
    dir.join("map.json")
}

/// All that fits and point estimates leave in their folder. The settings come first: without them nothing of the rest is taken for a fit,
/// should the program be killed while it clears the folder. Whatever else lies there is the user's own.
const RESULTS: [&str; 13] = [
    "config.toml",
    "checkpoint.bin",
    "map.json",
    "draws.zarr",
    "embedding.csv",
    "imputed.csv",
    "latent.svg",
    "paths.svg",
    "check.csv",
    "check.svg",
    "frequencies.csv",
    "blocks.csv",
    "trials.npy",
];

/// The right to write into a folder. The system lets go of it when the value is dropped, and even if the program is killed.
#[derive(Debug)]
pub struct Claim {
    dir: PathBuf,
    _lock: File,
}

impl Claim {
    /// Makes the folder if there is none, and keeps other runs out of it. Nothing that lies there is touched.
    pub fn take(dir: &Path) -> Result<Self, Error> {
        out_dir::prepare(dir)?;
        let path = dir.join(".lock");
        let file = File::create(&path).map_err(|error| refused(&path, &error))?;
        match file.try_lock() {
            // Some file systems know no locks; they are no worse off than without.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Claim { dir: dir.to_path_buf(), _lock: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { dir: dir.display().to_string() }),
        }
    }

    /// Makes the folder ready for a new fit: an older one is refused, or removed with all its results if that was asked for.
    pub fn clear(&self, overwrite: bool) -> Result<(), Error> {
        let dir = || self.dir.display().to_string();
        let [checkpoint, store, map] = [checkpoint_path, store_path, map_path].map(|path| path(&self.dir).exists());
        if !overwrite && map {
            return Err(Error::HoldsMap { dir: dir() });
        }
        if !overwrite && (checkpoint || store) {
            return Err(Error::Exists { dir: dir() });
        }
        if checkpoint || store || map {
            RESULTS.iter().try_for_each(|name| remove(&self.dir.join(name)))?;
        }
        Ok(())
    }
}

/// Removes a file or a folder, if it is there.
fn remove(path: &Path) -> Result<(), Error> {
    let outcome = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(path, &error)),
        _ => Ok(()),
    }
}

fn refused(path: &Path, error: &io::Error) -> Error {
    Error::Write { path: path.display().to_string(), reason: plain_reason(error) }
}
