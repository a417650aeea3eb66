//! Columns of numbers, judged by their values as the program judges them.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rflvm_study::families::suited;
use rflvm_study::seen::{Kind, Seen, compare, distinct};

/// The columns whose families are to be chosen.
#[pyclass(module = "rflvm._native")]
pub struct Kinds {
    rows: usize,
    /// Each with the number of its columns in the model: one, or one per level.
    columns: Vec<(Seen, usize)>,
}

#[pymethods]
impl Kinds {
    /// For a table with this many rows.
    #[new]
    fn new(rows: usize) -> Self {
        Kinds { rows, columns: Vec::new() }
    }

    /// A column of numbers, NaN where a cell is missing.
    fn number(&mut self, cells: PyReadonlyArray1<'_, f64>) {
        let cells: Vec<f64> = cells.as_array().iter().copied().filter(|v| !v.is_nan()).collect();
        let seen = Seen::of(&cells, self.rows);
        let width = if seen.kind == Kind::Few { distinct(&cells).unwrap_or(1) } else { 1 };
        self.columns.push((seen, width));
    }

    /// A column of true and false.
    fn truth(&mut self) {
        self.columns.push((Seen::known(Kind::Truth), 1));
    }

    /// A column of categories.
    fn levels(&mut self, count: usize) {
        self.columns.push((Seen::known(Kind::Level), count));
    }

    /// The family of each column, and what it holds. Groups that are numbers are categories if `has_groups`.
    fn suited(&self, has_groups: bool) -> Vec<(&'static str, &'static str)> {
        let mut seen: Vec<Seen> = self.columns.iter().map(|(seen, _)| *seen).collect();
        compare(&mut seen);
        let is_group = |seen: &Seen| seen.kind == Kind::Level || has_groups && seen.kind == Kind::Few;
        let of_model = |(seen, (_, width)): (&Seen, &(Seen, usize))| match is_group(seen) {
            true => vec![Seen::known(Kind::Level); *width],
            false => vec![*seen],
        };
        let each: Vec<Vec<Seen>> = seen.iter().zip(&self.columns).map(of_model).collect();
        let families = suited(&each.concat());
        let mut first = 0;
        let column = |(seen, each): (&Seen, Vec<Seen>)| {
            let family = families.get(first).copied().unwrap_or("multinomial");
            first += each.len();
            (family, seen.kind.words())
        };
        seen.iter().zip(each).map(column).collect()
    }
}
