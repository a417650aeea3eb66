//! The first lines of a Matrix Market file: the kind and size of the matrix.

use std::path::Path;

use crate::table::TableError;
use crate::table::text::Lines;
use crate::table::words::shorten;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One line for each of this many entries; all others are zero.
    Sparse { entries: u64 },
    /// One line per cell.
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symmetry {
    General,
    Symmetric,
}

pub(super) struct Header {
    pub layout: Layout,
    /// Entries are positions only, with value 1.
    pub pattern: bool,
    pub symmetry: Symmetry,
    pub rows: u64,
    pub columns: u64,
}

impl Header {
    pub fn read(lines: &mut Lines, path: &Path) -> Result<Self, TableError> {
        let wrong = |line: usize, problem: String, remedy: &'static str| {
            Err(TableError::Mtx { file: path.to_path_buf(), line, problem, remedy })
        };
        let first = lines.next()?.unwrap_or_default().to_ascii_lowercase();
        let words: Vec<&str> = first.split_ascii_whitespace().collect();
        let ["%%matrixmarket", "matrix", layout @ ("coordinate" | "array"), field, symmetry] = words[..] else {
            let problem = format!("`{}` is not the first line of a Matrix Market matrix", shorten(&first, 40));
            return wrong(
                1,
                problem,
                "write the file with scipy.io.mmwrite or Matrix::writeMM, or correct the extension",
            );
        };
        let pattern = match field {
            "real" | "integer" | "unsigned-integer" | "double" => false,
            "pattern" if layout == "coordinate" => true,
            other => {
                let problem = format!("values of the kind `{}` cannot be used", shorten(other, 24));
                return wrong(1, problem, "write real, integer or (sparse) pattern values");
            }
        };
        let symmetry = match symmetry {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            other => {
                let problem = format!("the symmetry `{}` cannot be used", shorten(other, 24));
                return wrong(1, problem, "write the matrix as general or symmetric");
            }
        };

        let line = loop {
            match lines.next()? {
                Some(line) if line.starts_with('%') => {}
                line => break line.unwrap_or_default().to_string(),
            }
        };
        let sizes: Option<Vec<u64>> = line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let (layout, rows, columns) = match (layout, sizes.as_deref()) {
            ("coordinate", Some(&[rows, columns, entries])) => (Layout::Sparse { entries }, rows, columns),
            ("array", Some(&[rows, columns])) => (Layout::Full, rows, columns),
            _ => {
                let wanted = if layout == "array" { "rows and columns" } else { "rows, columns and entries" };
                let problem = format!("`{}` does not give the numbers of {wanted}", shorten(&line, 40));
                return wrong(lines.number, problem, "copy or write the file again");
            }
        };
        if rows == 0 || columns == 0 {
            let problem = format!("the matrix has {rows} rows and {columns} columns and so holds no value");
            return wrong(lines.number, problem, "write one with at least one row and one column");
        }
        if symmetry == Symmetry::Symmetric && rows != columns {
            let problem = format!("a symmetric matrix cannot have {rows} rows and {columns} columns");
            return wrong(lines.number, problem, "copy or write the file again");
        }
        Ok(Header { layout, pattern, symmetry, rows, columns })
    }
}
