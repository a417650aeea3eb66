//! Numeric tables from .csv, .tsv and .npy files, one row per sample and one column per feature.

mod csv;
mod error;
mod npy;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

pub use error::TableError;
use error::{closest, list, shorten};

/// A numeric table with the names that go with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub path: PathBuf,
    /// Names of the numeric columns; `1`, `2`, … for a file without names.
    pub columns: Vec<String>,
    /// One per row; row numbers from 1 unless the file names its rows.
    pub ids: Vec<String>,
    pub labels: Option<Vec<String>>,
    pub rows: usize,
    /// Row by row, `NaN` where a value is missing.
    pub values: Vec<f64>,
    /// Whether the file names its columns.
    pub named: bool,
}

/// Which columns mean what.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The column that names the rows.
    pub id: Option<String>,
    /// The column with a class per row, kept as text.
    pub labels: Option<String>,
    /// Use these columns only, in this order; all but `id` and `labels` if not given.
    pub columns: Option<Vec<String>>,
}

/// Reads a table in the format that the extension of `path` names.
///
/// - `.csv` (commas), `.tsv` and `.tab` (tabs): UTF-8 with or without byte-order mark, any line
///   ending, fields quoted where needed, blank lines skipped. The first line names the columns,
///   unless every cell on it is a number or missing: then it is data and the columns are named
///   `1`, `2`, … A first column without a name, as pandas and R write row names, holds the
///   ids if `id` is not given and is ignored otherwise. An empty cell and `NA`, `N/A`, `NaN` and
///   `null` in any case are missing.
/// - `.npy`: a two-axis array of real numbers, integers or booleans in either memory order; NaN
///   is missing and the columns are named `1`, `2`, …
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    let file = || path.to_path_buf();
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => TableError::Missing { file: file() },
        io::ErrorKind::IsADirectory => TableError::Folder { file: file() },
        _ => TableError::Unreadable { file: file(), reason: crate::atomic::plain_reason(&error) },
    };
    if fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Err(TableError::Folder { file: file() });
    }
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let parse: fn(&Path, &[u8], &ReadOptions) -> Result<Table, TableError> = match extension.as_deref() {
        Some("csv") => |path, bytes, options| csv::parse(path, bytes, b',', options),
        Some("tsv" | "tab") => |path, bytes, options| csv::parse(path, bytes, b'\t', options),
        Some("npy") => npy::parse,
        other => {
            return Err(TableError::Extension {
                file: file(),
                extension: match other {
                    Some(e) => format!("the extension .{}", shorten(e, 24)),
                    None => "a file name without extension".to_string(),
                },
            });
        }
    };
    let bytes = fs::read(path).map_err(unreadable)?;
    if bytes.is_empty() {
        return Err(TableError::Empty { file: file() });
    }
    parse(path, &bytes, options)
}

/// Positions of the columns that play each part.
struct Roles {
    id: Option<usize>,
    labels: Option<usize>,
    numeric: Vec<usize>,
}

/// Looks up the columns named by `options`; `unnamed_ids` says that column 0 is a nameless one.
fn roles(
    path: &Path,
    columns: &[String],
    named: bool,
    unnamed_ids: bool,
    options: &ReadOptions,
) -> Result<Roles, TableError> {
    let visible = &columns[usize::from(unnamed_ids)..];
    let find = |name: &str, option: &'static str| {
        let position = visible.iter().position(|c| c == name.trim());
        position.map(|p| p + usize::from(unnamed_ids)).ok_or_else(|| TableError::UnknownColumn {
            file: path.to_path_buf(),
            option,
            name: shorten(name, 40),
            hint: match closest(name.trim(), visible) {
                Some(near) => format!(" (did you mean `{}`?)", shorten(near, 40)),
                None if named => String::new(),
                None => " (the file has no line of names, so columns are numbered)".to_string(),
            },
            available: list(visible),
        })
    };
    let id = options.id.as_deref().map(|n| find(n, "--id")).transpose()?;
    let labels = options.labels.as_deref().map(|n| find(n, "--labels")).transpose()?;
    let numeric = match &options.columns {
        Some(names) => {
            let mut seen = HashSet::new();
            let mut chosen = Vec::with_capacity(names.len());
            for name in names {
                let position = find(name, "--columns")?;
                if !seen.insert(position) {
                    return Err(TableError::RepeatedSelection { file: path.to_path_buf(), name: shorten(name, 40) });
                }
                chosen.push(position);
            }
            chosen
        }
        None => (usize::from(unnamed_ids)..columns.len()).filter(|&p| Some(p) != id && Some(p) != labels).collect(),
    };
    if numeric.is_empty() {
        return Err(TableError::NoColumns { file: path.to_path_buf() });
    }
    Ok(Roles { id: id.or(unnamed_ids.then_some(0)), labels, numeric })
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}
