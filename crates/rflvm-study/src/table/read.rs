//! From a path to a table, with the reader that its extension selects.

use std::fs;
use std::path::Path;

use super::allowance::Allowance;
use super::builder::TableBuilder;
#[cfg(feature = "columnar")]
use super::ipc;
#[cfg(feature = "columnar")]
use super::kind::is_zarr;
#[cfg(feature = "columnar")]
use super::parquet;
use super::words::shorten;
#[cfg(feature = "columnar")]
use super::zarr;
use super::{Look, ReadOptions, Table, TableError, Texts, csv, mtx, npy, npz, row_data, store, text};
use crate::message::quoted;

/// Reads a table in the format given by the extension of `path`, in upper or lower case.
///
/// - `.csv` (commas), `.tsv` and `.tab` (tabs): UTF-8 with or without byte-order mark, any line
///   ending, fields quoted where needed, blank lines skipped. The first line names the columns,
///   unless every cell on it is a number or missing: then it is data and the columns are named
///   `1`, `2`, … The separator, a decimal comma and further words for missing cells can be set. A first column without a name, as pandas and R write row names, holds the
///   ids if `id` is not given and is ignored otherwise. An empty cell and `NA`, `N/A`, `NaN` and
///   `null` in any case are missing. Words for yes and no are 1 and 0; other text becomes categories if
///   requested.
/// - `.npy`: a two-axis array of real numbers, integers or booleans in either memory order; NaN
///   is missing and the columns are named `1`, `2`, …
/// - `.npz`: the array named by `array`, or else the only one that could be a `.npy` table; times and sequences are
///   one-dimensional arrays in the same archive.
/// - `.parquet`; `.arrow`, `.feather` and `.ipc` (Arrow IPC, as a file or a stream): numeric,
///   decimal and boolean columns are numbers, null and NaN are missing. Text, also as a
///   dictionary, dates and times can be ids, labels, times and sequences; times are written as ISO
///   8601, in UTC if they have a zone. The index that pandas writes without a name is
///   treated as the nameless first column of a `.csv` file.
/// - `.mtx`: a Matrix Market matrix, sparse or full, real, integer or pattern, general or symmetric;
///   cells without an entry are zero. If `features.tsv` or `genes.tsv` and `barcodes.tsv` are in the same folder, the matrix
///   is genes by cells, as 10x pipelines write it: it is transposed, and named by these
///   files. A folder means the `matrix.mtx` in it.
///
/// - a folder of Zarr, format 2 or 3: an array with two axes, a group with one of them or with that which `array` names, or AnnData (X, dense or
///   sparse, or that which `array` names; ids, labels, offsets, times, sequences and covariates are columns of `obs`). Chunks may be compressed by
///   blosc (lz4, zstd, zlib), zstd, gzip, zlib or lz4. The store of a fit gives the table that it holds.
///
/// Text and `.mtx` files may be compressed by gzip, with `.gz` after the extension.
///
/// A table is streamed into memory: no second copy of a file is held, and the sizes that a header declares
/// are compared with the size of the file and with free memory before they are used.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    builder(path, options)?.finish(options)
}

/// Reads the columns of a table that can be fitted, and reports the others.
pub fn look(path: &Path, options: &ReadOptions) -> Result<Look, TableError> {
    let options = ReadOptions { texts: Texts::Look, ..options.clone() };
    builder(path, &options)?.look(&options)
}

fn builder(path: &Path, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let builder = match &options.row_data {
        None => one(path, options)?,
        Some(beside) => {
            let data = one(path, &options.only_cells())?;
            row_data::joined(data, one(beside, &row_data::only(beside, is_text(beside), options)?)?)?
        }
    };
    if builder.numeric.is_empty() && builder.outlined.is_empty() {
        return Err(TableError::NoColumns { file: builder.allowance.path });
    }
    Ok(builder)
}

/// Reads one file, perhaps without any column to fit.
fn one(path: &Path, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let pipe = || TableError::Pipe { file: path.to_path_buf() };
    let metadata = match fs::metadata(path) {
        // What other programs take for their standard input.
        Err(_) if path == Path::new("-") => return Err(pipe()),
        other => other.map_err(|e| text::failed(path, &e))?,
    };
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(pipe());
    }
    if metadata.is_dir() {
        let is_described = path.join(".zmetadata").is_file();
        #[cfg(feature = "columnar")]
        if is_zarr(path) && !(is_described && path.join("observed_data").is_dir()) {
            not_text(path, options)?;
            return zarr::read(path, options);
        }
        if is_described {
            not_text(path, options)?;
            return store::read(path, options);
        }
        let matrix = ["matrix.mtx", "matrix.mtx.gz"].map(|name| path.join(name)).into_iter().find(|m| m.is_file());
        return one(&matrix.ok_or_else(|| TableError::Folder { file: path.to_path_buf() })?, options);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = plain.rsplit_once('.').map(|(_, extension)| extension);
    let text: fn(Allowance, &ReadOptions) -> Result<TableBuilder, TableError> =
        |allowance, options| csv::read(allowance, b',', options);
    let parse: fn(Allowance, &ReadOptions) -> Result<TableBuilder, TableError> = match extension {
        Some("csv") => text,
        Some("tsv" | "tab") => |allowance, options| csv::read(allowance, b'\t', options),
        Some("mtx") => mtx::read,
        Some("npy") if !text::is_gzip(path) => npy::read,
        Some("npz") if !text::is_gzip(path) => npz::read,
        #[cfg(feature = "columnar")]
        Some("parquet") if !text::is_gzip(path) => parquet::read,
        #[cfg(feature = "columnar")]
        Some("arrow" | "feather" | "ipc") if !text::is_gzip(path) => ipc::read,
        Some("h5ad") => return Err(h5ad(path)),
        // A given separator implies that the file is text.
        _ if options.separator.is_some() => text,
        _ => {
            return Err(TableError::Extension {
                file: path.to_path_buf(),
                extension: match name.split_once('.') {
                    Some((_, extension)) => format!("the extension .{}", shorten(extension, 24)),
                    None => "a file name without extension".to_string(),
                },
            });
        }
    };
    if metadata.len() == 0 {
        return Err(TableError::Empty { file: path.to_path_buf() });
    }
    if !is_text(path) {
        not_text(path, options)?;
    }
    parse(Allowance::new(path, metadata.len()), options)
}

/// How to convert an AnnData that is not in a folder of Zarr.
fn h5ad(path: &Path) -> TableError {
    let folder = path.with_extension("zarr").display().to_string();
    let (file, to) = (quoted(&path.display().to_string()), quoted(&folder));
    let script = "import anndata, sys; anndata.read_h5ad(sys.argv[1]).write_zarr(sys.argv[2])";
    TableError::H5ad { file: path.to_path_buf(), command: format!("python -c \"{script}\" {file} {to}"), folder }
}

/// Whether a file is text, by its name.
pub fn is_text(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let others = ["mtx", "npy", "npz", "parquet", "arrow", "feather", "ipc"];
    !path.is_dir() && !others.iter().any(|other| plain.ends_with(&format!(".{other}")))
}

/// Rejects text options for other files.
fn not_text(path: &Path, options: &ReadOptions) -> Result<(), TableError> {
    let given = [
        (options.separator.is_some(), "separator"),
        (options.decimal.is_some(), "decimal"),
        (!options.na.is_empty(), "na"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => Err(TableError::NotText { file: path.to_path_buf(), option }),
        None => Ok(()),
    }
}
