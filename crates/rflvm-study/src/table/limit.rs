//! Cells beyond a limit of measurement, such as `<0.5` and `>100`.

use super::Table;
use crate::cells::{csv_text, number};
use rflvm::internal::linalg::Mat;
use rflvm::internal::model::family::Limits;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Read;

/// A cell of which only a limit is known; the cell holds the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Its row, from 0.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// Whether the cell is above the limit rather than below it.
    pub is_above: bool,
}

impl Limit {
    /// The cell as it is written in a table.
    pub fn text(self, limit: f64) -> String {
        format!("{}{}", if self.is_above { '>' } else { '<' }, number(limit))
    }
}

/// The limit that a text states, and whether the cell is above it.
pub(super) fn parse(text: &str, number: impl Fn(&str) -> Option<f64>) -> Option<(f64, bool)> {
    let (rest, is_above) = match text.strip_prefix(['<', '≤']) {
        Some(rest) => (rest, false),
        None => (text.strip_prefix(['>', '≥'])?, true),
    };
    let limit = number(rest.strip_prefix('=').unwrap_or(rest).trim())?;
    limit.is_finite().then_some((limit, is_above))
}

impl Table {
    /// The limits of some columns, if any of their cells is known only by one. A cell with a value has the nearest limit of its column beyond
    /// which it does not lie: there, it would have been recorded so.
    pub fn limits_of(&self, columns: &[usize]) -> Option<Limits> {
        let places: HashMap<usize, usize> = columns.iter().enumerate().map(|(place, &j)| (j, place)).collect();
        let own: Vec<(Limit, usize)> =
            self.limits.iter().filter_map(|limit| Some((*limit, *places.get(&limit.column)?))).collect();
        if own.is_empty() {
            return None;
        }
        let cell = |n: usize, j: usize| self.values[n * self.columns.len() + j];
        let blank = |value| Mat::from_fn(self.rows, columns.len(), |_, _| value);
        let mut limits = Limits { lower: blank(f64::NEG_INFINITY), upper: blank(f64::INFINITY) };
        let mut of_column = vec![[Vec::new(), Vec::new()]; columns.len()];
        for (limit, place) in &own {
            of_column[*place][usize::from(limit.is_above)].push(cell(limit.row, limit.column));
        }
        for (place, &j) in columns.iter().enumerate() {
            let [below, above] = &of_column[place];
            for n in 0..self.rows {
                let y = cell(n, j);
                // A missing cell has none, so that its imputed value is an amount.
                let nearest = below.iter().copied().filter(|limit| *limit < y).fold(f64::NEG_INFINITY, f64::max);
                limits.lower[(n, place)] = nearest;
                limits.upper[(n, place)] =
                    above.iter().copied().filter(|limit| *limit > y).fold(f64::INFINITY, f64::min);
            }
        }
        for (limit, place) in own {
            let of = if limit.is_above { &mut limits.upper } else { &mut limits.lower };
            of[(limit.row, place)] = cell(limit.row, limit.column);
        }
        Some(limits)
    }

    /// The cells of which only a limit is known, for the folder of a fit: rows from 1, names of columns, and cells as they were written.
    pub fn limits_csv(&self, cell: impl Fn(usize, usize) -> f64) -> String {
        let header = ["row", "column", "cell"].map(String::from).to_vec();
        let line = |limit: &Limit| {
            let text = limit.text(cell(limit.row, limit.column));
            vec![(limit.row + 1).to_string(), self.columns[limit.column].clone(), text]
        };
        csv_text(header, self.limits.iter().map(line))
    }

    /// Reads what [`Table::limits_csv`] wrote; `None` if it is not of this table.
    pub fn with_limits(mut self, text: impl Read) -> Option<Self> {
        let places: HashMap<&str, usize> = self.columns.iter().zip(0..).map(|(name, j)| (name.as_str(), j)).collect();
        let mut limits = Vec::new();
        for record in csv::Reader::from_reader(text).records() {
            let record = record.ok()?;
            let row = record.get(0)?.parse::<usize>().ok()?.checked_sub(1).filter(|row| *row < self.rows)?;
            let (column, is_above) = (*places.get(record.get(1)?)?, record.get(2)?.starts_with('>'));
            limits.push(Limit { row, column, is_above });
        }
        self.limits = limits;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let limit = |row, column, is_above| Limit { row, column, is_above };
        Table {
            columns: ["a", "b"].map(String::from).to_vec(),
            rows: 4,
            values: vec![0.5, 1.0, 0.3, 9.0, 0.5, 100.0, f64::NAN, 2.0],
            limits: vec![limit(0, 0, false), limit(2, 1, true)],
            ..Table::default()
        }
    }

    #[test]
    fn limits_are_signs_before_numbers() {
        let number = |text: &str| text.parse().ok();
        for (text, expected) in
            [("<0.5", (0.5, false)), ("> 100", (100.0, true)), ("<=2", (2.0, false)), ("≥ 7", (7.0, true))]
        {
            assert_eq!(parse(text, number), Some(expected), "{text}");
        }
        for text in ["<", "< x", "0.5", "<inf", "<<3", "-"] {
            assert_eq!(parse(text, number), None, "{text}");
        }
    }

    #[test]
    fn cells_at_a_limit_have_it_and_others_those_they_do_not_reach() {
        let limits = table().limits_of(&[0, 1]).unwrap();
        assert_eq!(limits.lower.col(0), [0.5, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);
        assert_eq!(limits.upper.col(1), [100.0, 100.0, 100.0, 100.0]);
        assert_eq!(table().limits_of(&[1]).unwrap().lower.col(0), [f64::NEG_INFINITY; 4]);
        assert!(Table { limits: Vec::new(), ..table() }.limits_of(&[0, 1]).is_none());
    }

    #[test]
    fn limits_are_read_as_they_were_written() {
        let text = table().limits_csv(|n, j| table().values[2 * n + j]);
        assert_eq!(text, "row,column,cell\n1,a,<0.5\n3,b,>100\n");
        let plain = || Table { limits: Vec::new(), ..table() };
        assert_eq!(plain().with_limits(text.as_bytes()).unwrap().limits, table().limits);
        assert!(plain().with_limits("row,column,cell\n9,a,<1\n".as_bytes()).is_none());
    }
}
