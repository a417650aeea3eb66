//! Numeric tables from files of several formats, one row per sample and one column per feature.

mod csv;
mod draft;
mod error;
#[cfg(feature = "columnar")]
mod frame;
#[cfg(feature = "columnar")]
mod guard;
#[cfg(feature = "columnar")]
mod ipc;
mod mtx;
mod npy;
mod npz;
#[cfg(feature = "columnar")]
mod parquet;
mod room;
#[cfg(all(test, feature = "columnar"))]
mod tests;
mod text;
mod words;
mod zarr;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::TableError;
use room::Room;
pub use room::{free as free_memory, in_words as memory_in_words};
use words::shorten;

/// A numeric table with the names that go with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub path: PathBuf,
    /// Names of the numeric columns; `1`, `2`, … for a file without names.
    pub columns: Vec<String>,
    /// One per row; row numbers from 1 unless the file names its rows.
    pub ids: Vec<String>,
    pub labels: Option<Vec<String>>,
    /// Known offset of each row on the link scale.
    pub offset: Option<Vec<f64>>,
    /// When each row was observed, as in the file.
    pub time: Option<Vec<String>>,
    /// To which sequence each row belongs, as in the file.
    pub sequence: Option<Vec<String>>,
    pub rows: usize,
    /// Row by row, `NaN` where a value is missing.
    pub values: Vec<f64>,
    /// Whether the file names its columns.
    pub named: bool,
    /// Names of the columns of the file that play no part.
    pub ignored: Vec<String>,
}

/// The columns of a table that was read before.
#[derive(Debug, Clone)]
pub struct Like {
    /// In their order.
    pub columns: Vec<String>,
    /// Whether that table named its columns.
    pub named: bool,
    /// Whether they were chosen from among others.
    pub chosen: bool,
}

/// Which columns mean what.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The column that names the rows.
    pub id: Option<String>,
    /// The column with a class per row, kept as text.
    pub labels: Option<String>,
    /// The column with a known offset per row.
    pub offset: Option<String>,
    /// The column with the time of each row, kept as text.
    pub time: Option<String>,
    /// The column with the sequence that each row belongs to, kept as text.
    pub sequence: Option<String>,
    /// Use these columns only, in this order; all but those above if not given.
    pub columns: Option<Vec<String>>,
    /// Use the columns of a table that was read before, in its order: found by name where both tables name their columns, and
    /// else by their number, which must be the same.
    pub like: Option<Like>,
    /// The array of an archive of several.
    pub array: Option<String>,
}

/// Reads a table in the format that the extension of `path` names, in any case of letters.
///
/// - `.csv` (commas), `.tsv` and `.tab` (tabs): UTF-8 with or without byte-order mark, any line
///   ending, fields quoted where needed, blank lines skipped. The first line names the columns,
///   unless every cell on it is a number or missing: then it is data and the columns are named
///   `1`, `2`, … A first column without a name, as pandas and R write row names, holds the
///   ids if `id` is not given and is ignored otherwise. An empty cell and `NA`, `N/A`, `NaN` and
///   `null` in any case are missing.
/// - `.npy`: a two-axis array of real numbers, integers or booleans in either memory order; NaN
///   is missing and the columns are named `1`, `2`, …
/// - `.npz`: the array named by `array`, or else the only one that could be a `.npy` table; times and sequences are
///   arrays of one axis beside it.
/// - `.parquet`; `.arrow`, `.feather` and `.ipc` (Arrow IPC, as a file or a stream): numeric,
///   decimal and boolean columns are numbers, null and NaN are missing. Text, also as a
///   dictionary, dates and times can be ids, labels, times and sequences; times are written as ISO
///   8601, in UTC if they have a zone. The index that pandas writes without a name is
///   treated as the nameless first column of a `.csv` file.
/// - `.mtx`: a Matrix Market matrix, sparse or full, real, integer or pattern, general or symmetric;
///   cells without entry are zero. Beside `features.tsv` or `genes.tsv` and `barcodes.tsv` the matrix
///   is one of genes by cells, as 10x pipelines write it: it is transposed, and named by these
///   files. A folder stands for the `matrix.mtx` in it.
///
/// - `.zarr`: the store of a fit, for the table that it holds.
///
/// Text and `.mtx` files may be compressed by gzip, with `.gz` after the extension.
///
/// A table is streamed into its values: no second copy of a file is held, and what a header declares
/// is compared with the size of the file and with free memory before it is believed.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    let metadata = fs::metadata(path).map_err(|e| text::failed(path, &e))?;
    if metadata.is_dir() {
        if path.join(".zmetadata").is_file() {
            return zarr::read(path, options);
        }
        let matrix = ["matrix.mtx", "matrix.mtx.gz"].map(|name| path.join(name)).into_iter().find(|m| m.is_file());
        return read(&matrix.ok_or_else(|| TableError::Folder { file: path.to_path_buf() })?, options);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = plain.rsplit_once('.').map(|(_, extension)| extension);
    let parse: fn(Room, &ReadOptions) -> Result<Table, TableError> = match extension {
        Some("csv") => |room, options| csv::read(room, b',', options),
        Some("tsv" | "tab") => |room, options| csv::read(room, b'\t', options),
        Some("mtx") => mtx::read,
        Some("npy") if !text::is_gzip(path) => npy::read,
        Some("npz") if !text::is_gzip(path) => npz::read,
        #[cfg(feature = "columnar")]
        Some("parquet") if !text::is_gzip(path) => parquet::read,
        #[cfg(feature = "columnar")]
        Some("arrow" | "feather" | "ipc") if !text::is_gzip(path) => ipc::read,
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
    parse(Room::new(path, metadata.len()), options)
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}
