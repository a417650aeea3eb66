//! The folder of a fit: which files it contains, and who may write to it.

use crate::apart::{OutputError, is_within};
use crate::error::Error;
use crate::out_dir;
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

/// The cells of which only a limit is known.
pub fn limits_path(dir: &Path) -> PathBuf {
    dir.join("limits.csv")
}

/// Files that had another name in version 0.2, each with that name.
const RENAMED: [(&str, &str); 2] = [("modes.json", "maps.json"), ("modes.svg", "maps.svg")]; // version 0.2

/// The modes that were found before the chains started.
pub fn modes_path(dir: &Path) -> PathBuf {
    let [now, before] = [RENAMED[0].0, RENAMED[0].1].map(|name| dir.join(name));
    if before.exists() && !now.exists() { before } else { now }
}

/// The stacking weights of the sampled modes.
pub fn weights_path(dir: &Path) -> PathBuf {
    dir.join("weights.json")
}

/// The results of a point estimate.
pub fn map_path(dir: &Path) -> PathBuf {
    dir.join("map.json")
}

/// All files that fits and point estimates write. All other files belong to the user.
pub const RESULTS: [&str; 31] = [
    "config.toml",
    // What only Python knows of its fits.
    "python.json",
    "checkpoint.bin",
    "map.json",
    "modes.json",
    "modes.svg",
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
    "limits.csv",
    // Of the other modes that were sampled.
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

/// Where a fit lies while another is about to replace it: all of its results, or some while they are moved; then until they are removed.
const REPLACED: &str = ".replaced";
const MOVING: &str = ".replaced-in-part";
const DISCARDED: &str = ".discarded";

/// The lock.
const LOCK: &str = ".lock";

/// Whether a folder holds a fit or a point estimate.
pub fn holds_fit(dir: &Path) -> bool {
    [checkpoint_path, store_path, map_path].iter().any(|path| path(dir).exists())
}

/// The folder of the fit of which this path, without links, is a part.
pub fn of_part(path: &Path) -> Option<&Path> {
    let is_part = |dir: &&Path| {
        let name = path.strip_prefix(dir).ok().and_then(|rest| rest.components().next());
        let name = name.and_then(|name| name.as_os_str().to_str());
        name.is_some_and(|name| RESULTS.contains(&name) || [LOCK, REPLACED, MOVING].contains(&name)) && holds_fit(dir)
    };
    path.ancestors().skip(1).find(is_part)
}

/// The right to write into a folder. The system releases it when the value is dropped, even if the program is killed.
///
/// A fit that is to be replaced comes back if the lock ends before the new one can be resumed.
#[derive(Debug)]
pub struct FolderLock {
    dir: PathBuf,
    _lock: File,
}

impl FolderLock {
    /// Creates the folder if necessary, and locks it against other runs. A fit that was not replaced in the end comes back; other files are
    /// not touched.
    pub fn take(dir: &Path) -> Result<Self, Error> {
        out_dir::prepare(dir)?;
        let path = dir.join(LOCK);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| refused(&path, &error))?;
        match file.try_lock() {
            // Some file systems do not support locks; these are no worse off than without them.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { dir: dir.display().to_string() }),
        }
        let lock = FolderLock { dir: dir.to_path_buf(), _lock: file };
        lock.restore()?;
        lock.rename()?;
        remove(&dir.join(DISCARDED))?;
        Ok(lock)
    }

    /// Prepares the folder for a new fit that reads some files: an older fit, or another file that has the name of a result, is an error. With
    /// `overwrite` it makes room, for good once the new one is [`settled`].
    pub fn clear(&self, overwrite: bool, reads: &[PathBuf]) -> Result<(), Error> {
        let dir = || self.dir.display().to_string();
        if !overwrite && map_path(&self.dir).exists() {
            return Err(Error::HoldsMap { dir: dir() });
        }
        if !overwrite && holds_fit(&self.dir) {
            return Err(Error::Exists { dir: dir() });
        }
        // The new fit reads, and does not write, the families and trials of an older one.
        let is_read = |path: &Path| reads.iter().any(|read| is_within(read, path));
        let there: Vec<&str> =
            RESULTS.into_iter().filter(|name| self.dir.join(name).symlink_metadata().is_ok()).collect();
        let in_the_way = there.iter().map(|name| self.dir.join(name)).find(|path| !is_read(path));
        let Some(path) = in_the_way else { return Ok(()) };
        if !overwrite {
            return Err(OutputError::Exists { path: path.display().to_string() }.into());
        }
        let moving = self.dir.join(MOVING);
        fs::create_dir(&moving).map_err(|error| refused(&moving, &error))?;
        for name in there {
            let (from, to) = (self.dir.join(name), moving.join(name));
            let outcome = if is_read(&from) { fs::copy(&from, &to).map(drop) } else { fs::rename(&from, &to) };
            outcome.map_err(|error| refused(&from, &error))?;
        }
        let whole = self.dir.join(REPLACED);
        fs::rename(&moving, &whole).map_err(|error| refused(&whole, &error))
    }

    /// Gives the files of an older fit the names that they have now.
    fn rename(&self) -> Result<(), Error> {
        let is_old = |(now, before): &(PathBuf, PathBuf)| holds_fit(&self.dir) && before.exists() && !now.exists();
        let paths = RENAMED.map(|(now, before)| (self.dir.join(now), self.dir.join(before)));
        paths
            .iter()
            .filter(|paths| is_old(paths))
            .try_for_each(|(now, before)| fs::rename(before, now).map_err(|error| refused(before, &error)))
    }

    /// Brings back a fit that was not replaced.
    fn restore(&self) -> Result<(), Error> {
        let [whole, moving] = [REPLACED, MOVING].map(|name| self.dir.join(name));
        if whole.exists() {
            // Of the fit that did not come to stand.
            RESULTS.iter().try_for_each(|name| remove(&self.dir.join(name)))?;
            fs::rename(&whole, &moving).map_err(|error| refused(&whole, &error))?;
        }
        let names = RESULTS.iter().filter(|name| moving.join(name).symlink_metadata().is_ok());
        for name in names {
            let to = self.dir.join(name);
            fs::rename(moving.join(name), &to).map_err(|error| refused(&to, &error))?;
        }
        remove(&moving)
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // If this fails, the next lock tries again, and reports it.
        let _ = self.restore();
    }
}

/// The new fit or point estimate in a folder can be resumed or is complete: the one that it replaces is removed.
pub fn settled(dir: &Path) -> Result<(), Error> {
    let (whole, discarded) = (dir.join(REPLACED), dir.join(DISCARDED));
    if is_replacing(dir) {
        fs::rename(&whole, &discarded).map_err(|error| refused(&whole, &error))?;
    }
    remove(&discarded)
}

/// Whether a fit is about to replace another, and cannot be resumed yet.
pub fn is_replacing(dir: &Path) -> bool {
    [REPLACED, MOVING].iter().any(|name| dir.join(name).exists())
}

/// Removes a file or a folder, if it exists.
fn remove(path: &Path) -> Result<(), Error> {
    let is_folder = path.symlink_metadata().is_ok_and(|about| about.is_dir());
    let outcome = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(path, &error)),
        _ => Ok(()),
    }
}

fn refused(path: &Path, error: &io::Error) -> Error {
    Error::unwritten(path, error)
}
