//! The output folder, checked before any work.

use rflvm::internal::atomic::{create_temporary, plain_reason, remedy};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why the output folder cannot be used; each message is one sentence.
// The messages document the variants.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum OutDirError {
    #[error(
        "{}: the output folder has the name of a file that exists; choose another name with ⟨out⟩ or remove the file",
        path.display()
    )]
    IsFile { path: PathBuf },
    #[error(
        "{}: the output folder cannot be made because {} is a file, not a folder; choose another folder with ⟨out⟩",
        path.display(), file.display()
    )]
    BelowFile { path: PathBuf, file: PathBuf },
    #[error(
        "{}: the output folder cannot be made ({reason}); choose another folder with ⟨out⟩",
        path.display()
    )]
    CannotMake { path: PathBuf, reason: String },
    #[error(
        "{}: the output folder cannot be written to ({reason}); {remedy}choose another folder with ⟨out⟩",
        path.display()
    )]
    NotWritable { path: PathBuf, reason: String, remedy: &'static str },
}

/// Creates the output folder, with its parents, and checks that a file can be written there.
///
/// Call it before sampling, so that hours of work do not end in a failed write.
pub fn prepare(path: &Path) -> Result<(), OutDirError> {
    let owned = || path.to_path_buf();
    if let Err(error) = fs::create_dir_all(path) {
        let blocking = path.ancestors().find(|p| fs::metadata(p).is_ok_and(|m| !m.is_dir()));
        return Err(match blocking {
            Some(file) if file == path => OutDirError::IsFile { path: owned() },
            Some(file) => OutDirError::BelowFile { path: owned(), file: file.to_path_buf() },
            None => OutDirError::CannotMake { path: owned(), reason: plain_reason(&error) },
        });
    }
    let probe = create_temporary(path).and_then(|(name, mut file)| {
        let filled = file.write_all(b"probe").and_then(|()| file.sync_all());
        fs::remove_file(name).and(filled)
    });
    probe.map_err(|error| OutDirError::NotWritable {
        path: owned(),
        reason: plain_reason(&error),
        remedy: remedy(&error),
    })
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
    fn prepares_nested_folders_and_leaves_them_empty() {
        let folder = scratch("prepare");
        let deep = folder.join("a/b/c");
        prepare(&deep).unwrap();
        prepare(&deep).unwrap();
        assert!(names(&deep).is_empty());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn says_why_a_folder_cannot_be_used() {
        let folder = scratch("refuse");
        let file = folder.join("notes.txt");
        fs::write(&file, "x").unwrap();

        let error = prepare(&file).unwrap_err();
        assert!(matches!(error, OutDirError::IsFile { .. }));
        assert!(error.to_string().contains("name of a file that exists"));

        let error = prepare(&file.join("deep/er")).unwrap_err();
        assert!(error.to_string().contains("notes.txt is a file, not a folder"));

        let error = prepare(Path::new("/proc")).unwrap_err();
        assert!(matches!(error, OutDirError::NotWritable { .. }), "{error}");
        let error = prepare(Path::new("/proc/rflvm-test")).unwrap_err();
        assert!(matches!(error, OutDirError::CannotMake { .. }), "{error}");
        assert!(!error.to_string().contains("os error"));
        fs::remove_dir_all(folder).unwrap();
    }
}
