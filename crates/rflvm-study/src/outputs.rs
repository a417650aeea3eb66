//! Where results may be written: never over what a command reads or over a part of a fit, and over a file that nobody named only on request.

use crate::apart::{OutputError, is_same, keep_apart, real};
use crate::config::Config;
use crate::folder;
use crate::table::is_zarr;
use std::path::{Path, PathBuf};

/// The outputs of a command, each checked before any is written.
#[derive(Debug, Default)]
pub struct Outputs {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    /// Files of a fit that this command is there to write.
    own: Vec<PathBuf>,
    overwrite: bool,
}

impl Outputs {
    /// The outputs of a command that reads these files and folders.
    pub fn of(reads: impl IntoIterator<Item = PathBuf>) -> Self {
        Outputs { reads: reads.into_iter().collect(), ..Outputs::default() }
    }

    /// Files that nobody named may be replaced.
    pub fn overwrite(self, overwrite: bool) -> Self {
        Outputs { overwrite, ..self }
    }

    /// The command also reads this file.
    pub fn reading<'a>(mut self, paths: impl IntoIterator<Item = &'a Path>) -> Self {
        self.reads.extend(paths.into_iter().map(PathBuf::from));
        self
    }

    /// The command may write these files of the fit in a folder.
    pub fn own(mut self, dir: &Path, names: &[&str]) -> Self {
        self.own.extend(names.iter().map(|name| dir.join(name)));
        self
    }

    /// A file that the user named: it may exist.
    pub fn named(&mut self, path: &Path) -> Result<(), OutputError> {
        let name = || path.display().to_string();
        keep_apart(&self.reads, [path.to_path_buf()])?;
        if self.writes.iter().any(|other| is_same(path, other)) {
            return Err(OutputError::Twice { path: name() });
        }
        if let Some(dir) = folder::of_part(&real(path))
            && !self.own.iter().any(|own| is_same(path, own))
        {
            return Err(OutputError::OfFit { path: name(), dir: dir.display().to_string() });
        }
        self.writes.push(path.to_path_buf());
        Ok(())
    }

    /// A file whose name follows from another, or has a default.
    pub fn unnamed(&mut self, path: &Path) -> Result<(), OutputError> {
        self.named(path)?;
        let is_own = self.own.iter().any(|own| is_same(path, own));
        if !self.overwrite && !is_own && path.symlink_metadata().is_ok() {
            return Err(OutputError::Exists { path: path.display().to_string() });
        }
        Ok(())
    }

    /// A file that the user may have named, or that has a default.
    pub fn either(&mut self, path: &Path, is_named: bool) -> Result<(), OutputError> {
        if is_named { self.named(path) } else { self.unnamed(path) }
    }

    /// Files of these names in a folder that holds no fit.
    pub fn within(&mut self, dir: &Path, names: &[&str]) -> Result<(), OutputError> {
        if folder::holds_fit(dir) {
            return Err(OutputError::HoldsFit { dir: dir.display().to_string() });
        }
        names.iter().try_for_each(|name| self.unnamed(&dir.join(name)))
    }
}

/// Refuses a folder that would be a part of a fit.
pub fn outside_of_fits(dir: &Path) -> Result<(), OutputError> {
    match folder::of_part(&real(dir)) {
        Some(fit) => Err(OutputError::OfFit { path: dir.display().to_string(), dir: fit.display().to_string() }),
        None => Ok(()),
    }
}

/// The files and folders that these settings name.
pub fn inputs(config: &Config) -> Vec<PathBuf> {
    let trials = config.trials.as_ref().filter(|trials| trials.parse::<u32>().is_err()).map(PathBuf::from);
    let table = config.table.as_deref().map(of_table).unwrap_or_default();
    table.into_iter().chain([config.blocks.clone(), config.row_data.clone(), trials].into_iter().flatten()).collect()
}

/// A Zarr folder is read whole; of the folder of a pipeline only the matrix and its names are, and results may lie next to them.
fn of_table(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() || is_zarr(path) {
        return vec![path.to_path_buf()];
    }
    let is_read = |path: &PathBuf| {
        let name = path.to_string_lossy();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        plain.ends_with(".mtx") || plain.ends_with(".tsv")
    };
    let files = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(is_read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn no_output_is_an_input_or_a_part_of_a_fit() {
        let dir = std::env::temp_dir().join(format!("rflvm-outputs-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("fit/draws.zarr")).unwrap();
        fs::create_dir_all(dir.join("deep")).unwrap();
        fs::write(dir.join("t.csv"), "mine").unwrap();
        fs::write(dir.join("u.csv"), "mine too").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("../t.csv", dir.join("deep/link.csv")).unwrap();
        #[cfg(unix)]
        fs::hard_link(dir.join("t.csv"), dir.join("deep/hard.csv")).unwrap();
        let outputs = || Outputs::of([dir.join("t.csv"), dir.join("deep/zarr")]).own(&dir.join("fit"), &["check.csv"]);
        let named = |name: &str| outputs().named(&dir.join(name));
        for name in ["t.csv", "deep/../t.csv", "deep/zarr/0/c", "./t.csv"] {
            assert!(matches!(named(name), Err(OutputError::Input { .. })), "{name}");
        }
        #[cfg(unix)]
        for name in ["deep/link.csv", "deep/hard.csv"] {
            assert!(matches!(named(name), Err(OutputError::Input { .. })), "{name}");
        }
        for name in ["fit/config.toml", "fit/imputed.csv", "fit/draws.zarr/x.csv", "fit/.lock"] {
            assert!(matches!(named(name), Err(OutputError::OfFit { .. })), "{name}");
        }
        for name in ["u.csv", "new.csv", "no/such/folder.csv", "fit/check.csv", "fit/own.csv"] {
            assert!(named(name).is_ok(), "{name}");
        }
        let mut both = outputs();
        both.named(&dir.join("new.csv")).unwrap();
        assert!(matches!(both.named(&dir.join("deep/../new.csv")), Err(OutputError::Twice { .. })));
        assert!(matches!(outputs().unnamed(&dir.join("u.csv")), Err(OutputError::Exists { .. })));
        assert!(outputs().overwrite(true).unnamed(&dir.join("u.csv")).is_ok());
        assert!(matches!(outputs().within(&dir.join("fit"), &[]), Err(OutputError::HoldsFit { .. })));
        assert!(matches!(outputs().within(&dir, &["u.csv"]), Err(OutputError::Exists { .. })));
        fs::remove_dir_all(dir).unwrap();
    }
}
