//! Folders of Zarr.

use std::path::Path;

use crate::table::TableError;
use crate::table::kind::is_zarr;

/// What a message calls them.
pub(super) const KIND: &str = "Zarr";

/// A folder that cannot be read.
pub(super) fn damaged(path: &Path, reason: String) -> TableError {
    TableError::Damaged { file: path.to_path_buf(), kind: KIND, reason }
}

/// Names of the arrays and groups in a group.
pub(super) fn children(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let inside = entries.filter(|entry| is_zarr(&entry.path()));
    let mut names: Vec<String> = inside.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
