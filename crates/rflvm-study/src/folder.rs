//! The folder of a fit: which files it contains, and who may write to it.

use crate::error::Error;
use crate::out_dir;
use rflvm::atomic::plain_reason;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The file with the settings.
pub fn config_path(dir: &Path) -> PathBuf {
    dir.join("config.toml")
}

/// The store of the draws.
pub fn store_path(dir: &Path) -> PathBuf {
    dir.join("draws.zarr")
}

/// The checkpoint.
pub fn checkpoint_path(dir: &Path) -> PathBuf {
    dir.join("checkpoint.bin")
}

/// The table of trials, if it did not come from a file.
pub fn trials_path(dir: &Path) -> PathBuf {
    dir.join("trials.npy")
}

/// The maps that were found before the chains started.
pub fn maps_path(dir: &Path) -> PathBuf {
    dir.join("maps.json")
}

/// The stacking weights of the sampled maps.
pub fn weights_path(dir: &Path) -> PathBuf {
    dir.join("weights.json")
}

/// The results of a point estimate.
pub fn map_path(dir: &Path) -> PathBuf {
    dir.join("map.json")
}

/// All files that fits and point estimates write. The settings come first, so that the rest is not taken for a fit if the
/// program is killed while it clears the folder. All other files belong to the user.
const RESULTS: [&str; 29] = [
    "config.toml",
    "checkpoint.bin",
    "map.json",
    "maps.json",
    "maps.svg",
    "weights.json",
    "draws.zarr",
    "embedding.csv",
    "imputed.csv",
    "latent.svg",
    "report.html",
    "paths.svg",
    "check.csv",
    "check.svg",
    "frequencies.csv",
    "blocks.csv",
    "trials.npy",
    // Of the other maps that were sampled.
    "embedding-2.csv",
    "embedding-3.csv",
    "embedding-4.csv",
    "embedding-5.csv",
    "latent-2.svg",
    "latent-3.svg",
    "latent-4.svg",
    "latent-5.svg",
    "paths-2.svg",
    "paths-3.svg",
    "paths-4.svg",
    "paths-5.svg",
];

/// The right to write into a folder. The system releases it when the value is dropped, even if the program is killed.
#[derive(Debug)]
pub struct Claim {
    dir: PathBuf,
    _lock: File,
}

impl Claim {
    /// Creates the folder if necessary, and locks it against other runs. Existing files are not touched.
    pub fn take(dir: &Path) -> Result<Self, Error> {
        out_dir::prepare(dir)?;
        let path = dir.join(".lock");
        let file = File::create(&path).map_err(|error| refused(&path, &error))?;
        match file.try_lock() {
            // Some file systems do not support locks; these are no worse off than without them.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Claim { dir: dir.to_path_buf(), _lock: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { dir: dir.display().to_string() }),
        }
    }

    /// Prepares the folder for a new fit: an older one is an error, or is removed with all its results if `overwrite` is set.
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

/// Removes a file or a folder, if it exists.
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
