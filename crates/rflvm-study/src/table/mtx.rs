//! Matrix Market files, sparse or dense, alone or in a folder written by 10x pipelines: .mtx.
//!
//! Read here because existing crates hold the whole text or all entries in memory, trust the sizes that the file
//! declares, and do not report the line of an error.

mod header;
mod names;

use header::{Header, Layout, Symmetry};
use names::Names;

use super::allowance::Allowance;
use super::builder::{TableBuilder, no_columns_aside};
use super::text::Lines;
use super::words::shorten;
use super::{ReadOptions, TableError};

const KIND: &str = ".mtx";

pub(super) fn read(allowance: Allowance, options: &ReadOptions) -> Result<TableBuilder, TableError> {
    let path = allowance.path.clone();
    let mut lines = Lines::open(&path)?;
    let header = Header::read(&mut lines, &path)?;
    let names = Names::beside(&path, &header)?;
    let transposed = names.is_some();
    let (rows, width) = if transposed { (header.columns, header.rows) } else { (header.rows, header.columns) };
    let mut builder = match names {
        Some(names) => {
            no_columns_aside(&allowance, KIND, options)?;
            let mut builder = TableBuilder::new(allowance, names.features, true, None, options)?;
            builder.name_rows(names.barcodes);
            builder
        }
        None => TableBuilder::numbered(allowance, width, KIND, options)?,
    };
    builder.fill_with_zeros(rows)?;
    Entries { lines, header, transposed, builder }.read()
}

/// The part of the file after its header, being read into the table.
struct Entries<'a> {
    lines: Lines<'a>,
    header: Header,
    transposed: bool,
    builder: TableBuilder,
}

impl Entries<'_> {
    fn read(mut self) -> Result<TableBuilder, TableError> {
        match self.header.layout {
            Layout::Sparse { entries } => self.sparse(entries)?,
            Layout::Full => self.full()?,
        }
        if self.next_line()?.is_some() {
            return self.wrong("there are more entries than the line of sizes says".to_string());
        }
        Ok(self.builder)
    }

    fn sparse(&mut self, entries: u64) -> Result<(), TableError> {
        for done in 0..entries {
            let (pattern, largest) = (self.header.pattern, (self.header.rows, self.header.columns));
            let Some(line) = self.next_line()? else { return self.cut(done, entries) };
            let mut parts = line.split_ascii_whitespace();
            let mut index = |largest: u64| {
                let index = parts.next()?.parse::<u64>().ok()?;
                (1..=largest).contains(&index).then(|| index - 1)
            };
            let place = index(largest.0).zip(index(largest.1));
            let value = if pattern { Some("1") } else { parts.next() };
            let (Some((row, column)), Some(value), None) = (place, value, parts.next()) else {
                let problem = format!(
                    "`{}` is not a row (1 to {}) and a column (1 to {}){}",
                    shorten(line, 40),
                    largest.0,
                    largest.1,
                    if pattern { "" } else { " with a value" }
                );
                return self.wrong(problem);
            };
            let value = number(value);
            self.put(row, column, value)?;
        }
        Ok(())
    }

    /// Column by column; for a symmetric matrix, only the entries on and below the diagonal.
    fn full(&mut self) -> Result<(), TableError> {
        let (rows, columns) = (self.header.rows, self.header.columns);
        for column in 0..columns {
            let first = if self.header.symmetry == Symmetry::Symmetric { column } else { 0 };
            for row in first..rows {
                let Some(line) = self.next_line()? else { return self.cut(column, columns) };
                let value = number(line.trim());
                self.put(row, column, value)?;
            }
        }
        Ok(())
    }

    /// Entries at the same position add up, as in SciPy.
    fn put(&mut self, row: u64, column: u64, value: Option<f64>) -> Result<(), TableError> {
        let Some(value) = value else {
            return self.wrong("the value is not a number".to_string());
        };
        if value.is_infinite() {
            let (file, place) = (self.builder.allowance.path.clone(), format!("line {}", self.lines.number));
            return Err(TableError::Infinite { file, place, text: value.to_string() });
        }
        self.add(row, column, value);
        if self.header.symmetry == Symmetry::Symmetric && row != column {
            self.add(column, row, value);
        }
        Ok(())
    }

    fn add(&mut self, row: u64, column: u64, value: f64) {
        let (row, column) = if self.transposed { (column, row) } else { (row, column) };
        if let Some(slot) = self.builder.slots[column as usize] {
            let at = row as usize * self.builder.width() + slot;
            self.builder.values[at] += value;
        }
    }

    fn next_line(&mut self) -> Result<Option<&str>, TableError> {
        self.lines.next()
    }

    fn cut<T>(&self, done: u64, wanted: u64) -> Result<T, TableError> {
        let what = if self.header.layout == Layout::Full { "columns" } else { "entries" };
        self.wrong(format!("the file ends after {done} of {wanted} {what}"))
    }

    fn wrong<T>(&self, problem: String) -> Result<T, TableError> {
        let (file, line) = (self.builder.allowance.path.clone(), self.lines.number);
        Err(TableError::Mtx { file, line, problem, remedy: "correct it, or copy or write the file again" })
    }
}

/// NaN is a missing value.
fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}
