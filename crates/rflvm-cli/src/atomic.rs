//! Output files that appear whole or not at all, and an output folder checked before any work.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Why the output folder cannot be used; each message is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum DirError {
    #[error(
        "{}: the output folder has the name of a file that exists; choose another name with --out or remove that file",
        path.display()
    )]
    IsFile { path: PathBuf },
    #[error(
        "{}: the output folder cannot be made because {} is a file, not a folder; choose another place with --out",
        path.display(), file.display()
    )]
    BelowFile { path: PathBuf, file: PathBuf },
    #[error(
        "{}: the output folder cannot be made ({reason}); choose another place with --out",
        path.display()
    )]
    CannotMake { path: PathBuf, reason: String },
    #[error(
        "{}: the output folder cannot be written to ({reason}); change its permissions, free some space or choose another place with --out",
        path.display()
    )]
    NotWritable { path: PathBuf, reason: String },
}

/// Replaces `path` by a file that holds exactly `bytes`.
///
/// A reader sees the old file or the new one, never a part: the bytes go to a temporary name in
/// the same folder, reach the disk, and only then take the final name. On failure the temporary
/// file is removed and `path` is as it was.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
    }
    let folder = folder_of(path);
    let (temporary, file) = create_temporary(folder)?;
    let outcome = fill(file, bytes).and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = outcome {
        // The first failure is the one worth reporting.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    // The data is safe already; some file systems refuse to sync a folder.
    if let Ok(handle) = File::open(folder) {
        let _ = handle.sync_all();
    }
    Ok(())
}

/// Makes the output folder, with its parents, and proves that a file can be written there.
///
/// Call it before sampling, so that hours of work never end in a refused write.
pub fn prepare_dir(path: &Path) -> Result<(), DirError> {
    let owned = || path.to_path_buf();
    if let Err(error) = fs::create_dir_all(path) {
        let blocking = path.ancestors().find(|p| fs::metadata(p).is_ok_and(|m| !m.is_dir()));
        return Err(match blocking {
            Some(file) if file == path => DirError::IsFile { path: owned() },
            Some(file) => DirError::BelowFile { path: owned(), file: file.to_path_buf() },
            None => DirError::CannotMake { path: owned(), reason: plain_reason(&error) },
        });
    }
    let probe = create_temporary(path).and_then(|(name, file)| {
        let filled = fill(file, b"probe");
        fs::remove_file(name).and(filled)
    });
    probe.map_err(|error| DirError::NotWritable { path: owned(), reason: plain_reason(&error) })
}

/// The operating system's words for an error, without the number that Rust appends.
pub fn plain_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn create_temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let mut attempts = 0;
    loop {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        // Not derived from the final name, which may already be as long as the system allows.
        let name = folder.join(format!(".rflvm-{}-{serial}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Ok(file) => return Ok((name, file)),
            // A killed run with the same process number may have left its file behind.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempts < 100 => attempts += 1,
            Err(e) => return Err(e),
        }
    }
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("rflvm-atomic-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn writes_and_replaces_without_leftovers() {
        let folder = scratch("replace");
        let path = folder.join("embedding.csv");
        write(&path, b"old and longer").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(&folder), ["embedding.csv"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failed_rename_removes_the_temporary_file() {
        let folder = scratch("rename");
        let taken = folder.join("taken");
        fs::create_dir_all(taken.join("inside")).unwrap();
        assert!(write(&taken, b"x").is_err());
        assert_eq!(names(&folder), ["taken"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn refuses_paths_without_name_or_folder() {
        assert!(write(Path::new("/"), b"x").is_err());
        assert!(write(Path::new("/no/such/folder/x"), b"x").is_err());
        assert!(write(Path::new("/proc/rflvm-test"), b"x").is_err());
    }

    #[test]
    fn prepares_nested_folders_and_leaves_them_empty() {
        let folder = scratch("prepare");
        let deep = folder.join("a/b/c");
        prepare_dir(&deep).unwrap();
        prepare_dir(&deep).unwrap();
        assert!(names(&deep).is_empty());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn says_why_a_folder_cannot_be_used() {
        let folder = scratch("refuse");
        let file = folder.join("notes.txt");
        fs::write(&file, "x").unwrap();

        let error = prepare_dir(&file).unwrap_err();
        assert!(matches!(error, DirError::IsFile { .. }));
        assert!(error.to_string().contains("name of a file that exists"));

        let error = prepare_dir(&file.join("deep/er")).unwrap_err();
        assert!(error.to_string().contains("notes.txt is a file, not a folder"));

        let error = prepare_dir(Path::new("/proc")).unwrap_err();
        assert!(matches!(error, DirError::NotWritable { .. }), "{error}");
        let error = prepare_dir(Path::new("/proc/rflvm-test")).unwrap_err();
        assert!(matches!(error, DirError::CannotMake { .. }), "{error}");
        assert!(!error.to_string().contains("os error"));
        fs::remove_dir_all(folder).unwrap();
    }
}
