//! No output is an input, not by another name, a link or a hard link either.

use std::path::{Path, PathBuf};

/// Why a file cannot be written; each message is one sentence.
// The messages document the variants.
#[allow(missing_docs)]
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("{path}: this command reads {input}, which the result would replace; choose another name with ⟨out⟩")]
    Input { path: String, input: String },
    #[error("{path}: the file would become a part of the fit in {dir}; choose a name outside of that folder")]
    OfFit { path: String, dir: String },
    #[error("{path}: the file exists already; replace it with ⟨overwrite⟩, or choose another name with ⟨out⟩")]
    Exists { path: String },
    #[error("{path}: two results would be written to this file; choose different names")]
    Twice { path: String },
    #[error("{dir}: the folder holds a fit; choose another folder with ⟨out⟩")]
    HoldsFit { dir: String },
}

/// Refuses results that would replace what is read.
pub fn keep_apart(reads: &[PathBuf], writes: impl IntoIterator<Item = PathBuf>) -> Result<(), OutputError> {
    writes.into_iter().try_for_each(|path| {
        let input = reads.iter().find(|input| is_within(&path, input) || is_within(input, &path));
        input.map_or(Ok(()), |input| {
            Err(OutputError::Input { path: path.display().to_string(), input: input.display().to_string() })
        })
    })
}

/// Whether a path leads to a file, or into a folder.
pub(crate) fn is_within(path: &Path, other: &Path) -> bool {
    is_same(path, other) || real(path).starts_with(real(other))
}

/// Whether two paths lead to the same file: by other names, by links, or by hard links.
pub fn is_same(one: &Path, other: &Path) -> bool {
    real(one) == real(other) || identity(one).is_some_and(|id| Some(id) == identity(other))
}

/// The path without links and dots, as far as it exists.
pub(crate) fn real(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let found = whole.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let Some((part, real)) = found else { return whole };
    whole.strip_prefix(part).map_or_else(|_| whole.clone(), |rest| real.components().chain(rest.components()).collect())
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let about = path.metadata().ok()?;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}
