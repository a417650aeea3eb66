//! The progress of a comparison: settings.json, and one file per fit in fits/. Fits that are already stored are not repeated.

use crate::failure::Failure;
use rflvm::internal::atomic::plain_reason;
use rflvm_study::comparison::{Piece, Task};
use rflvm_study::outputs::Outputs;
use rflvm_study::table::Table;
use rflvm_study::{Error, write};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of a comparison.
pub struct Ledger {
    dir: PathBuf,
}

fn settings_path(dir: &Path) -> PathBuf {
    dir.join("settings.json")
}

fn settings(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let path = settings_path(dir);
    read(&path, &fs::read(&path).map_err(|error| unreadable(&path, &plain_reason(&error)))?)
}

fn read<'a, T: Deserialize<'a>>(path: &Path, bytes: &'a [u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|_| unreadable(path, "it is damaged"))
}

fn unreadable(path: &Path, why: &str) -> Failure {
    let problem =
        format!("the file cannot be read ({why}); start again with --overwrite, or choose another folder with --out");
    Error::Config { file: path.display().to_string(), problem }.into()
}

impl Ledger {
    /// The seed of the comparison in a folder, if it holds one.
    pub fn seed(dir: &Path) -> Option<u64> {
        settings(dir).ok()?.get("seed")?.parse().ok()
    }

    /// Refuses a folder in which a comparison would replace what is not a part of one.
    pub fn check(dir: &Path, reads: &[PathBuf], overwrite: bool) -> Result<(), Failure> {
        let outputs = Outputs::of(reads.iter().cloned());
        let names = ["settings.json", "compare.csv", "compare.svg", "fits"];
        let is_own = settings(dir).is_ok_and(|held| ["table", "program"].iter().all(|key| held.contains_key(*key)));
        // A damaged comparison can be replaced, but not a folder that has nothing of one.
        let may_replace = is_own || overwrite && settings_path(dir).exists();
        Ok(outputs.overwrite(may_replace).within(dir, &names)?)
    }

    /// Starts a comparison, or resumes it if it has the same settings.
    pub fn open(dir: &Path, wanted: &[(String, String)], overwrite: bool) -> Result<Self, Failure> {
        let (path, fits) = (settings_path(dir), dir.join("fits"));
        let refused = |path: &Path| {
            let path = path.to_path_buf();
            move |error: std::io::Error| Failure::from(Error::unwritten(&path, &error))
        };
        if overwrite && fits.exists() {
            fs::remove_dir_all(&fits).map_err(refused(&fits))?;
        }
        if path.exists() && !overwrite {
            let held = settings(dir)?;
            if let Some((name, now)) = wanted.iter().find(|(name, now)| held.get(name) != Some(now)) {
                let then = held.get(name).cloned().unwrap_or_default();
                return Err(Failure::Compared { dir: dir.display().to_string(), change: change(name, &then, now) });
            }
        } else {
            let all: BTreeMap<&str, &String> = wanted.iter().map(|(name, value)| (name.as_str(), value)).collect();
            write::text(&path, &serde_json::to_string_pretty(&all).unwrap_or_default())?;
        }
        fs::create_dir_all(&fits).map_err(refused(&fits))?;
        Ok(Ledger { dir: dir.to_path_buf() })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, task: &Task<'_>) -> PathBuf {
        self.dir.join("fits").join(task.file())
    }

    /// The scores of a fit, if it is done.
    pub fn find(&self, task: &Task<'_>) -> Result<Option<Piece>, Failure> {
        let path = self.path(task);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = fs::read(&path).map_err(|error| unreadable(&path, &plain_reason(&error)))?;
        let piece: Piece = read(&path, &bytes)?;
        if piece.fingerprint != task.candidate.fingerprint || piece.points.len() != piece.ln_density.len() {
            let change = format!("other settings of the model for {}", task.candidate.words());
            return Err(Failure::Compared { dir: self.dir.display().to_string(), change });
        }
        Ok(Some(piece))
    }

    /// Stores the scores of a fit, and returns them as they will be read.
    pub fn keep(&self, task: &Task<'_>, piece: &Piece) -> Result<Piece, Failure> {
        let path = self.path(task);
        let text = serde_json::to_string(piece).unwrap_or_default();
        write::text(&path, &text)?;
        // As when resumed: a number read back may differ in its last bit.
        read(&path, text.as_bytes())
    }
}

fn change(name: &str, then: &str, now: &str) -> String {
    match name {
        "table" => "another table, or other offsets or columns of it".into(),
        "program" => format!("version {then} of this program; this is {now}"),
        _ => format!("{name} {then}, but now it is {now}"),
    }
}

/// A hash that identifies a table (FNV-1a).
pub fn table_hash(table: &Table) -> u64 {
    let numbers = table.values.iter().chain(table.offset.iter().flatten()).flat_map(|v| v.to_le_bytes());
    let words = [Some(&table.columns), table.time.as_ref(), table.sequence.as_ref()];
    let letters = words.into_iter().flatten().chain(&table.covariates).flatten().flat_map(|w| w.bytes().chain([0]));
    numbers.chain(letters).fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
