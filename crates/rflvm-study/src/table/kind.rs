//! What a folder is, by the files that it holds.

use std::path::Path;

/// Whether a folder is one of Zarr.
pub(crate) fn is_zarr(path: &Path) -> bool {
    [".zarray", ".zgroup", "zarr.json"].iter().any(|name| path.join(name).is_file())
}
