//! Numeric tables from files in several formats, one row per sample and one column per feature.

mod allowance;
mod bounded;
mod builder;
mod category;
#[cfg(feature = "columnar")]
mod cells;
mod csv;
mod dialect;
mod error;
#[cfg(feature = "columnar")]
mod frame;
#[cfg(feature = "columnar")]
mod guard;
mod heading;
mod holds;
#[cfg(feature = "columnar")]
mod ipc;
mod kind;
mod levels;
mod limit;
mod mtx;
mod npy;
mod npz;
#[cfg(feature = "columnar")]
mod parquet;
mod place;
mod read;
mod row_data;
mod settle;
mod sniff;
mod store;
#[cfg(all(test, feature = "columnar"))]
mod tests;
mod text;
mod unique;
mod verdict;
mod when;
mod words;
mod written;
#[cfg(feature = "columnar")]
mod zarr;

use crate::note::Note;
use crate::seen::Seen;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use category::{Category, Source};
pub use dialect::{Decimal, Separator};
pub use error::TableError;
pub use holds::Holds;
pub(crate) use kind::is_zarr;
pub use limit::Limit;
pub use read::{is_text, look, read};
pub(crate) use settle::check_names;
pub use when::joined as joined_times;
pub use written::Written;

/// A numeric table with the names that go with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The file it came from.
    pub path: PathBuf,
    /// Names of the columns; `1`, `2`, … for a file without names, `name=level` for the levels of a category.
    pub columns: Vec<String>,
    /// Which columns belong to categories, in order.
    pub categories: Vec<Category>,
    /// Which columns hold words for yes and no, or are boolean.
    pub truths: Vec<usize>,
    /// One id per row; row numbers from 1 unless the file names its rows.
    pub ids: Vec<String>,
    /// The class of each row, as text.
    pub labels: Option<Vec<String>>,
    /// Known offset of each row on the link scale.
    #[serde(skip)]
    pub offset: Option<Vec<f64>>,
    /// The time of each row, as in the file.
    pub time: Option<Vec<String>>,
    /// The sequence of each row, as in the file.
    pub sequence: Option<Vec<String>>,
    /// Covariates as in the file, one column of texts after the other.
    pub covariates: Vec<Vec<String>>,
    /// Number of rows.
    pub rows: usize,
    /// Values row by row, `NaN` where missing.
    #[serde(skip)]
    pub values: Vec<f64>,
    /// Cells of which only a limit is known, which they hold.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// What each column holds, if this process has not read all cells and others have.
    #[serde(skip)]
    pub seen: Vec<Seen>,
    /// Whether the file names its columns.
    pub named: bool,
    /// Names of the columns of the file that are not used.
    pub ignored: Vec<String>,
    /// How the file was read, where that may be wrong.
    #[serde(skip)]
    pub notes: Vec<Note>,
}

impl Table {
    /// Whether its rows have names, rather than numbers.
    pub fn has_ids(&self) -> bool {
        (1..).zip(&self.ids).any(|(n, id): (usize, _)| *id != n.to_string())
    }
}

/// The columns of a table that can be fitted, and those that cannot.
#[derive(Debug, Clone)]
pub struct Look {
    /// The columns that can be fitted; possibly none.
    pub table: Table,
    /// The others.
    pub aside: Vec<Aside>,
}

impl Look {
    /// Whether the file has a column of this name.
    pub fn has(&self, name: &str) -> bool {
        let fitted = self.table.columns.iter().chain(self.table.categories.iter().map(|category| &category.name));
        fitted.chain(self.aside.iter().map(|column| &column.name)).any(|own| own == name)
    }
}

/// A column that cannot be fitted as it is.
#[derive(Debug, Clone)]
pub struct Aside {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
    /// The place of its first text.
    pub place: String,
    /// That text.
    pub example: String,
    /// Number of distinct texts, as far as they were counted.
    pub different: usize,
}

/// How columns of text are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Texts {
    /// Only words for yes and no are accepted, as numbers.
    #[default]
    Refuse,
    /// Categories are accepted too.
    Take,
    /// Nothing is an error: columns that cannot be fitted are reported.
    Look,
}

/// The columns of a table that was read earlier.
#[derive(Debug, Clone)]
pub struct Like {
    /// Their names, in order.
    pub columns: Vec<String>,
    /// Those of them that are categories.
    pub categories: Vec<Category>,
    /// Whether that table named its columns.
    pub named: bool,
    /// Whether they are a selection of its columns.
    pub chosen: bool,
}

/// The role of each column, and how to read the file.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The column that names the rows.
    pub id: Option<String>,
    /// The column with a class per row, kept as text.
    pub labels: Option<String>,
    /// The column with a known offset per row.
    pub offset: Option<String>,
    /// The column with the time of each row, kept as text; or several, separated by commas, such as a year and a quarter.
    pub time: Option<String>,
    /// The column with the sequence that each row belongs to, kept as text.
    pub sequence: Option<String>,
    /// Columns with covariates, kept as text.
    pub covariates: Vec<String>,
    /// Use only these columns, in this order; all except those above if not given.
    pub columns: Option<Vec<String>>,
    /// Exclude these columns.
    pub without: Vec<String>,
    /// How columns of text are treated.
    pub texts: Texts,
    /// Columns that are categories, whatever they hold.
    pub categories: Vec<String>,
    /// The separator of a text table; by its extension if not given.
    pub separator: Option<Separator>,
    /// The decimal mark of a text table; a point if not given.
    pub decimal: Option<Decimal>,
    /// Words for missing cells of a text table, in addition to the usual ones.
    pub na: Vec<String>,
    /// Use the columns of a table that was read earlier, in its order: matched by name if both tables name their columns,
    /// otherwise by position, in which case their number must be the same.
    pub like: Option<Like>,
    /// The array of an archive with several.
    pub array: Option<String>,
    /// A table with the columns of ids, labels, offsets, times, sequences and covariates, for a file without them.
    pub row_data: Option<PathBuf>,
    /// Only names and what is known of the rows: cells are neither read nor checked.
    pub is_outline: bool,
}

impl ReadOptions {
    /// The options of a file that holds only the cells to fit, and nothing else about its rows.
    pub(crate) fn only_cells(&self) -> Self {
        ReadOptions {
            id: None,
            labels: None,
            offset: None,
            time: None,
            sequence: None,
            covariates: Vec::new(),
            row_data: None,
            ..self.clone()
        }
    }
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}
