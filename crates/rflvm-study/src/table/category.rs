//! Columns of text as the model represents them: one column per level, exactly one of which is 1 in each row.

use std::collections::HashSet;
use std::ops::Range;

use super::{Like, Table};
use serde::{Deserialize, Serialize};

/// A column of text among the columns of a table. Where the text is missing, all its cells in that row are missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Category {
    /// Its name in the file.
    pub name: String,
    /// Its levels, sorted.
    pub levels: Vec<String>,
    /// The position of the column of its first level; the others follow.
    pub first: usize,
    /// Whether the file has it as one column of text, rather than as the columns of its levels.
    pub is_text: bool,
}

impl Category {
    /// The name of the column of a level.
    pub fn column(name: &str, level: &str) -> String {
        format!("{name}={level}")
    }

    /// Its columns in the table.
    pub fn columns(&self) -> Range<usize> {
        self.first..self.first + self.levels.len()
    }

    /// The level of a row whose cells are given by `cell`; `None` where it is missing.
    fn level(&self, cell: impl Fn(usize) -> f64) -> Option<&str> {
        self.columns().position(|j| cell(j) > 0.5).map(|place| self.levels[place].as_str())
    }

    /// Adjacent columns named `name=level` with a common name, with a single 1 and otherwise 0 in every row: the store of a
    /// fit, whose columns are those of the model, has these in place of a column of text. Names that are `known` may contain `=`.
    pub fn find(table: &Table, known: &HashSet<&str>) -> Vec<Category> {
        let part = |j: usize| {
            let name = table.columns.get(j)?;
            let mut parts = name.rmatch_indices('=').map(|(at, _)| (&name[..at], &name[at + 1..]));
            parts.find(|(own, _)| known.contains(own)).or_else(|| name.split_once('='))
        };
        let mut found = Vec::new();
        let mut first = 0;
        while first < table.columns.len() {
            let name = part(first).map(|(name, _)| name);
            let end = (first + 1..).find(|&j| name.is_none() || part(j).map(|(name, _)| name) != name);
            let columns = first..end.unwrap_or(first + 1);
            if let Some(name) = name.filter(|_| columns.len() > 1 && holds_one(table, &columns)) {
                let levels = columns.clone().filter_map(part).map(|(_, level)| level.to_string()).collect();
                found.push(Category { name: name.to_string(), levels, first, is_text: false });
            }
            first = columns.end;
        }
        found
    }
}

/// Whether every row of some columns has a single 1 and otherwise 0, or only missing cells.
fn holds_one(table: &Table, columns: &Range<usize>) -> bool {
    table.values.chunks_exact(table.columns.len()).all(|row| {
        let cells = &row[columns.clone()];
        let count = |wanted: f64| cells.iter().filter(|cell| **cell == wanted).count();
        cells.iter().all(|cell| cell.is_nan()) || count(1.0) == 1 && count(0.0) + 1 == cells.len()
    })
}

/// A column as the user sees it: one of the table's, or those of a category.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A column of numbers, by its position.
    Number(usize),
    /// A category, whose levels are columns.
    Category(&'a Category),
}

impl Table {
    /// The columns as the user sees them.
    pub fn sources(&self) -> Vec<Source<'_>> {
        sources(self.columns.len(), &self.categories)
    }
}

impl Table {
    /// Makes categories of some columns of numbers, which are in order; their levels are sorted as numbers.
    pub fn categorise(&mut self, which: &[usize]) {
        if which.is_empty() {
            return;
        }
        let (width, old) = (self.columns.len(), std::mem::take(&mut self.values));
        let levels_of = |j: usize| {
            let mut levels: Vec<f64> = old.iter().skip(j).step_by(width).copied().filter(|v| !v.is_nan()).collect();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            levels
        };
        let levels: Vec<Option<Vec<f64>>> = (0..width).map(|j| which.contains(&j).then(|| levels_of(j))).collect();
        let mut places = vec![0; width];
        let (mut columns, mut made) = (Vec::new(), Vec::new());
        for (j, name) in std::mem::take(&mut self.columns).into_iter().enumerate() {
            places[j] = columns.len();
            match &levels[j] {
                None => columns.push(name),
                Some(levels) => {
                    let (first, levels): (usize, Vec<String>) =
                        (columns.len(), levels.iter().map(f64::to_string).collect());
                    columns.extend(levels.iter().map(|level| Category::column(&name, level)));
                    made.push(Category { name, levels, first, is_text: true });
                }
            }
        }
        for row in old.chunks_exact(width) {
            for (&cell, levels) in row.iter().zip(&levels) {
                match levels {
                    None => self.values.push(cell),
                    Some(_) if cell.is_nan() => self.values.extend(levels.iter().flatten().map(|_| f64::NAN)),
                    Some(levels) => self.values.extend(levels.iter().map(|level| f64::from(u8::from(*level == cell)))),
                }
            }
        }
        self.columns = columns;
        self.truths.iter_mut().for_each(|j| *j = places[*j]);
        self.limits.iter_mut().for_each(|limit| limit.column = places[limit.column]);
        self.categories.iter_mut().for_each(|category| category.first = places[category.first]);
        self.categories.extend(made);
        self.categories.sort_by_key(|category| category.first);
    }
}

impl Like {
    /// The names that the columns of a file must have, and which of them are categories. `has` says whether the file has a column:
    /// a category may also be present as the columns of its levels.
    pub(super) fn parts(&self, has: impl Fn(&str) -> bool) -> Vec<(&str, Option<&Category>)> {
        let mut parts = Vec::new();
        for source in sources(self.columns.len(), &self.categories) {
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

impl Source<'_> {
    /// Its name in the given table.
    pub fn name<'a>(&'a self, table: &'a Table) -> &'a str {
        match self {
            Source::Number(j) => &table.columns[*j],
            Source::Category(category) => &category.name,
        }
    }

    /// Its cell in a row whose cells are given by `cell`; empty where it is missing.
    pub fn text(&self, cell: impl Fn(usize) -> f64) -> String {
        match self {
            Source::Number(j) => crate::cells::number(cell(*j)),
            Source::Category(category) => category.level(cell).unwrap_or_default().to_string(),
        }
    }
}

/// `width` columns, some of which belong to categories, in order.
pub(super) fn sources(width: usize, categories: &[Category]) -> Vec<Source<'_>> {
    let mut sources = Vec::with_capacity(width);
    let mut next = 0;
    for category in categories {
        sources.extend((next..category.first).map(Source::Number));
        sources.push(Source::Category(category));
        next = category.columns().end;
    }
    sources.extend((next..width).map(Source::Number));
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &str, values: &[f64]) -> Table {
        let columns: Vec<String> = columns.split(' ').map(String::from).collect();
        let rows = values.len() / columns.len();
        Table { columns, rows, values: values.to_vec(), ..Table::default() }
    }

    #[test]
    fn numbers_that_are_groups_become_categories() {
        let mut own =
            table("a x=1 x=2 year b", &[9., 0., 1., 2009., 7., 9., 1., 0., f64::NAN, 8., 9., 1., 0., 2007., 6.]);
        own.categories = Category::find(&own, &HashSet::new());
        own.truths = vec![4];
        own.categorise(&[3]);
        assert_eq!(own.columns, ["a", "x=1", "x=2", "year=2007", "year=2009", "b"]);
        assert_eq!((own.values[..6].to_vec(), own.truths), (vec![9., 0., 1., 0., 1., 7.], vec![5]));
        assert!(own.values[9].is_nan() && own.values[10].is_nan() && own.values[11] == 8.0);
        assert_eq!(own.categories.iter().map(|c| (c.first, c.is_text)).collect::<Vec<_>>(), [(1, false), (3, true)]);
    }

    #[test]
    fn columns_of_levels_are_recognised_by_their_names_and_cells() {
        let mut own = table("a x=1 x=2 y=u y=v b", &[9., 0., 1., f64::NAN, f64::NAN, 9., 9., 1., 0., 0., 1., 9.]);
        own.categories = Category::find(&own, &HashSet::new());
        let names: Vec<String> = own.sources().iter().map(|s| s.name(&own).to_string()).collect();
        assert_eq!(names, ["a", "x", "y", "b"]);
        let row = |n: usize| own.sources().iter().map(|s| s.text(|j| own.values[6 * n + j])).collect::<Vec<_>>();
        assert_eq!(
            (row(0), row(1)),
            (vec!["9".into(), "2".into(), "".into(), "9".into()], vec!["9".into(), "1".into(), "v".into(), "9".into()])
        );
        // Two ones, a count, half a row, a single column: only numbers.
        for values in [[1., 1.], [0., 2.], [f64::NAN, 1.], [0., 0.]] {
            assert!(Category::find(&table("x=1 x=2", &values), &HashSet::new()).is_empty());
        }
        assert!(Category::find(&table("x=1 y=2", &[1., 0.]), &HashSet::new()).is_empty());
        assert!(Category::find(&table("a b", &[1., 0.]), &HashSet::new()).is_empty());
    }
}
