//! A table about the rows of another: ids, labels, offsets, times, sequences and covariates of data that hold only numbers, such as .npy and .mtx.

use super::builder::{TableBuilder, Text};
use super::words::shorten;
use super::{ReadOptions, TableError};
use std::path::Path;

/// How the table about the rows is read: only the columns that are named, and none to fit. `as_data`: separators and missing values are
/// written as in the data.
pub(super) fn only(file: &Path, as_data: bool, options: &ReadOptions) -> Result<ReadOptions, TableError> {
    let named = [&options.id, &options.labels, &options.offset, &options.time, &options.sequence];
    if named.iter().all(|name| name.is_none()) && options.covariates.is_empty() {
        return Err(TableError::NoRowData { file: file.to_path_buf() });
    }
    Ok(ReadOptions {
        columns: Some(Vec::new()),
        without: Vec::new(),
        categories: Vec::new(),
        like: None,
        array: None,
        row_data: None,
        separator: options.separator.filter(|_| as_data),
        decimal: options.decimal.filter(|_| as_data),
        na: if as_data { options.na.clone() } else { Vec::new() },
        ..options.clone()
    })
}

/// The data with what is known of their rows. Ids of both must be the same.
pub(super) fn joined(mut data: TableBuilder, about: TableBuilder) -> Result<TableBuilder, TableError> {
    let (file, rows) = (about.allowance.path, about.rows);
    if rows != data.rows {
        return Err(TableError::RowDataRows { file, found: rows, expected: data.rows });
    }
    let aside = |text: Text| Text { position: usize::MAX, cells: text.cells };
    let mut texts: Vec<Option<Text>> = about.texts.into_iter().map(|text| text.map(aside)).collect();
    match (&data.texts[0], &texts[0]) {
        (Some(own), Some(other)) => {
            if let Some(n) = (0..rows).find(|&n| own.cells[n] != other.cells[n]) {
                let [found, expected] = [other, own].map(|ids| shorten(&ids.cells[n], 40));
                return Err(TableError::RowDataOrder { file, row: n + 1, found, expected });
            }
        }
        (Some(_), None) => texts[0] = data.texts[0].take(),
        (None, _) => {}
    }
    (data.texts, data.time_names) = (texts, about.time_names);
    data.notes.extend(about.notes);
    data.offset = about.offset.map(|(_, cells)| (usize::MAX, cells));
    Ok(data)
}
