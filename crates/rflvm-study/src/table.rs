//! Numeric tables from files of several formats, one row per sample and one column per feature.

mod bounded;
mod category;
mod csv;
mod dialect;
mod draft;
mod error;
#[cfg(feature = "columnar")]
mod frame;
#[cfg(feature = "columnar")]
mod guard;
mod holds;
#[cfg(feature = "columnar")]
mod ipc;
mod levels;
mod mtx;
mod npy;
mod npz;
#[cfg(feature = "columnar")]
mod parquet;
mod place;
mod room;
mod settle;
mod sniff;
#[cfg(all(test, feature = "columnar"))]
mod tests;
mod text;
mod words;
mod zarr;

use std::fs;
use std::path::{Path, PathBuf};

pub use category::{Category, Source};
pub use dialect::{Decimal, Separator};
use draft::Draft;
pub use error::TableError;
pub use holds::Holds;
use room::Room;
pub use sniff::Written;
use words::shorten;

/// A numeric table with the names that go with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Where it came from.
    pub path: PathBuf,
    /// Names of the columns; `1`, `2`, … for a file without names, `name=level` for those of a category.
    pub columns: Vec<String>,
    /// Which columns are those of categories, in their order.
    pub categories: Vec<Category>,
    /// Which columns are of words for yes and no, or of a type of truth values.
    pub truths: Vec<usize>,
    /// One per row; row numbers from 1 unless the file names its rows.
    pub ids: Vec<String>,
    /// The class of each row, as text.
    pub labels: Option<Vec<String>>,
    /// Known offset of each row on the link scale.
    pub offset: Option<Vec<f64>>,
    /// When each row was observed, as in the file.
    pub time: Option<Vec<String>>,
    /// To which sequence each row belongs, as in the file.
    pub sequence: Option<Vec<String>>,
    /// Number of rows.
    pub rows: usize,
    /// Row by row, `NaN` where a value is missing.
    pub values: Vec<f64>,
    /// Whether the file names its columns.
    pub named: bool,
    /// Names of the columns of the file that play no part.
    pub ignored: Vec<String>,
}

/// What can be fitted of a table, and what cannot.
#[derive(Debug, Clone)]
pub struct Look {
    /// The columns that can be fitted; there may be none.
    pub table: Table,
    /// The others.
    pub aside: Vec<Aside>,
}

/// A column that cannot be fitted as it is.
#[derive(Debug, Clone)]
pub struct Aside {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
    /// Where its first text stands.
    pub place: String,
    /// That text.
    pub example: String,
    /// How many different texts it has, as far as they were counted.
    pub different: usize,
}

/// What happens to columns of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Texts {
    /// Only words for yes and no are taken, as numbers.
    #[default]
    Refuse,
    /// Categories are taken too.
    Take,
    /// Nothing is refused: what cannot be taken is set aside.
    Look,
}

/// The columns of a table that was read before.
#[derive(Debug, Clone)]
pub struct Like {
    /// In their order.
    pub columns: Vec<String>,
    /// Those of them that are categories.
    pub categories: Vec<Category>,
    /// Whether that table named its columns.
    pub named: bool,
    /// Whether they were chosen from among others.
    pub chosen: bool,
}

impl Like {
    /// What the columns of a file must be called, and which of them are categories. `has` tells whether the file has a column:
    /// a category may also be there as the columns of its levels.
    fn parts(&self, has: impl Fn(&str) -> bool) -> Vec<(&str, Option<&Category>)> {
        let mut parts = Vec::new();
        for source in category::sources(self.columns.len(), &self.categories) {
            match source {
                Source::Number(j) => parts.push((self.columns[j].as_str(), None)),
                Source::Category(category) => {
                    let levels = &self.columns[category.columns()];
                    if !has(&category.name) && levels.iter().all(|name| has(name)) {
                        parts.extend(levels.iter().map(|name| (name.as_str(), None)));
                    } else {
                        parts.push((category.name.as_str(), Some(category)));
                    }
                }
            }
        }
        parts
    }
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
    /// Leave these columns out.
    pub without: Vec<String>,
    /// What happens to columns of text.
    pub texts: Texts,
    /// Columns that are categories, whatever they hold.
    pub categories: Vec<String>,
    /// What separates the cells of a text table; by its extension if not given.
    pub separator: Option<Separator>,
    /// The decimal mark of a text table; a point if not given.
    pub decimal: Option<Decimal>,
    /// Words for missing cells of a text table, besides the usual ones.
    pub na: Vec<String>,
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
///   `1`, `2`, … The separator, a decimal comma and further words for missing cells can be given. A first column without a name, as pandas and R write row names, holds the
///   ids if `id` is not given and is ignored otherwise. An empty cell and `NA`, `N/A`, `NaN` and
///   `null` in any case are missing. Words for yes and no are 1 and 0; other text becomes categories where
///   that is asked for.
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
    draft(path, options)?.finish(options)
}

/// Reads what can be fitted of a table, and says what else is there.
pub fn look(path: &Path, options: &ReadOptions) -> Result<Look, TableError> {
    let options = ReadOptions { texts: Texts::Look, ..options.clone() };
    draft(path, &options)?.look(&options)
}

fn draft(path: &Path, options: &ReadOptions) -> Result<Draft, TableError> {
    let metadata = fs::metadata(path).map_err(|e| text::failed(path, &e))?;
    if metadata.is_dir() {
        if path.join(".zmetadata").is_file() {
            not_text(path, options)?;
            return zarr::read(path, options);
        }
        let matrix = ["matrix.mtx", "matrix.mtx.gz"].map(|name| path.join(name)).into_iter().find(|m| m.is_file());
        return draft(&matrix.ok_or_else(|| TableError::Folder { file: path.to_path_buf() })?, options);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = plain.rsplit_once('.').map(|(_, extension)| extension);
    let text: fn(Room, &ReadOptions) -> Result<Draft, TableError> = |room, options| csv::read(room, b',', options);
    let parse: fn(Room, &ReadOptions) -> Result<Draft, TableError> = match extension {
        Some("csv") => text,
        Some("tsv" | "tab") => |room, options| csv::read(room, b'\t', options),
        Some("mtx") => mtx::read,
        Some("npy") if !text::is_gzip(path) => npy::read,
        Some("npz") if !text::is_gzip(path) => npz::read,
        #[cfg(feature = "columnar")]
        Some("parquet") if !text::is_gzip(path) => parquet::read,
        #[cfg(feature = "columnar")]
        Some("arrow" | "feather" | "ipc") if !text::is_gzip(path) => ipc::read,
        // Whoever names a separator says that the file is one of text.
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
    parse(Room::new(path, metadata.len()), options)
}

/// Whether a file is one of text, by its name.
pub fn is_text(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    let others = ["mtx", "npy", "npz", "parquet", "arrow", "feather", "ipc"];
    !path.is_dir() && !others.iter().any(|other| plain.ends_with(&format!(".{other}")))
}

/// Refuses options about text for a file that is none.
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

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}
