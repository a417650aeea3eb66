//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Prefix and suffix of temporary names.
const PREFIX: &str = ".rflvm-";
const SUFFIX: &str = ".tmp";

/// Replaces `path` by a file that holds exactly `bytes`; see [`write_with`].
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Replaces `path` by the output of `fill`.
///
/// A reader sees the old file or the new one, never a part: the bytes go to a temporary name in
/// the same folder, reach the disk, and only then take the final name. On failure the temporary
/// file is removed and `path` is left unchanged. A link stays, and what it leads to is replaced; the
/// permissions of an old file are those of the new one.
pub fn write_with(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"));
    }
    let target = if path.is_symlink() { path.canonicalize().unwrap_or_else(|_| path.into()) } else { path.into() };
    let (path, folder) = (&*target, folder_of(&target));
    let old = path.metadata().ok();
    if old.as_ref().is_some_and(|old| !old.is_file() && !old.is_dir()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device, not a file"));
    }
    let (temporary, file) = create_temporary(folder)?;
    let mut writer = BufWriter::new(file);
    let outcome = fill(&mut writer)
        .and_then(|()| writer.flush())
        .and_then(|()| old.map_or(Ok(()), |old| writer.get_ref().set_permissions(old.permissions())))
        .and_then(|()| writer.get_ref().sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = outcome {
        // The first failure is the one worth reporting.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    // The data are already safe; some file systems refuse to sync a folder.
    if let Ok(handle) = File::open(folder) {
        let _ = handle.sync_all();
    }
    Ok(())
}

/// Removes files left behind by killed writers in a folder and its subfolders. No other program may be writing there.
pub fn clean(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            clean(&entry.path());
        } else if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            // A file that cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The operating system's message for an error, without the number that Rust appends.
pub fn plain_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

/// What to do about a file that cannot be written, besides choosing another place.
pub fn remedy(error: &io::Error) -> &'static str {
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | QuotaExceeded => "free some space, or ",
        FileTooLarge => "raise the limit on the size of files (ulimit -f), or ",
        PermissionDenied => "change the permissions of its folder, or ",
        _ => "",
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A new file with a unique name.
pub fn create_temporary(folder: &Path) -> io::Result<(PathBuf, File)> {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let mut attempts = 0;
    loop {
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        // Not derived from the final name, which may already be as long as the system allows.
        let name = folder.join(format!("{PREFIX}{}-{serial}{SUFFIX}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Ok(file) => return Ok((name, file)),
            // A killed run with the same process number may have left its file behind.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempts < 100 => attempts += 1,
            Err(e) => return Err(e),
        }
    }
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
    #[cfg(unix)]
    fn a_replaced_file_keeps_its_link_and_permissions_and_a_pipe_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = scratch("kept");
        fs::create_dir_all(folder.join("deep")).unwrap();
        let (file, link) = (folder.join("deep/secret.csv"), folder.join("link.csv"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("deep/secret.csv", &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(write(&pipe, b"x").unwrap_err().to_string().contains("a pipe"));
        assert!(crate::regular::read(&pipe).unwrap_err().to_string().contains("a pipe"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_killed_writer_left_is_cleaned_away_and_nothing_else() {
        let folder = scratch("clean");
        fs::create_dir_all(folder.join("deep")).unwrap();
        let (stale, _) = create_temporary(&folder.join("deep")).unwrap();
        fs::write(folder.join("deep/notes.tmp"), "mine").unwrap();
        clean(&folder);
        assert!(!stale.exists());
        assert_eq!(names(&folder.join("deep")), ["notes.tmp"]);
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
}
