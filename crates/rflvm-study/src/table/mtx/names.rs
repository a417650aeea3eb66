//! Names of genes and cells in files next to a matrix, as 10x pipelines write them.

use std::path::{Path, PathBuf};

use super::header::Header;
use crate::table::TableError;
use crate::table::text::Lines;
use crate::table::unique::unique;

/// Names of the rows (`features`) and columns (`barcodes`) of the matrix as stored in the file.
pub(super) struct Names {
    pub features: Vec<String>,
    pub barcodes: Vec<String>,
}

impl Names {
    /// `None` unless both kinds of names are present.
    pub fn beside(path: &Path, header: &Header) -> Result<Option<Self>, TableError> {
        // Files of several experiments may share a folder as a_matrix.mtx, a_barcodes.tsv, …
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let prefix = name.split_once("matrix.mtx").map_or("", |(prefix, _)| prefix);
        let file = |stem: &str| {
            let candidates = ["tsv", "tsv.gz"].map(|end| path.with_file_name(format!("{prefix}{stem}.{end}")));
            candidates.into_iter().find(|candidate| candidate.is_file())
        };
        let (Some(features), Some(barcodes)) = (file("features").or_else(|| file("genes")), file("barcodes")) else {
            return Ok(None);
        };
        Ok(Some(Names {
            features: unique(column(features, "rows", header.rows, true)?),
            barcodes: column(barcodes, "columns", header.columns, false)?,
        }))
    }
}

/// One name per line, from the second column if `symbols` is set and there is one.
fn column(path: PathBuf, what: &'static str, expected: u64, symbols: bool) -> Result<Vec<String>, TableError> {
    let mut lines = Lines::open(&path)?;
    let mut names = Vec::new();
    let mut found = 0;
    while let Some(line) = lines.next()? {
        found += 1;
        // Names beyond the matrix's memory allowance are counted but not kept.
        if found as u64 > expected {
            continue;
        }
        let mut cells = line.split('\t').map(str::trim);
        let first = cells.next().unwrap_or_default();
        let second = cells.next().filter(|name| symbols && !name.is_empty());
        names.push(second.unwrap_or(first).to_string());
    }
    if found as u64 != expected {
        return Err(TableError::MtxNames { file: path, what, found, expected });
    }
    Ok(names)
}
