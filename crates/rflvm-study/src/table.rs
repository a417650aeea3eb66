//! Numeric tables from files of several formats, one row per sample and one column per feature.

mod allowance;
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
mod read;
mod settle;
mod sniff;
#[cfg(all(test, feature = "columnar"))]
mod tests;
mod text;
mod verdict;
mod words;
mod written;
mod zarr;

use std::path::PathBuf;

pub use category::{Category, Source};
pub use dialect::{Decimal, Separator};
pub use error::TableError;
pub use holds::Holds;
pub use read::{is_text, look, read};
pub use written::Written;

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

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}
