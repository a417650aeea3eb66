//! Columns of text as a model has them: one column per level, of which one holds 1 in each row.

use std::ops::Range;

use super::Table;

/// A column of text among the columns of a table. All its cells of a row are missing where the text is.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    /// As the file calls it.
    pub name: String,
    /// Its texts, sorted.
    pub levels: Vec<String>,
    /// The table's column of its first level; the others follow.
    pub first: usize,
    /// Whether the file has it as one column of text; it may also have the columns of its levels.
    pub is_text: bool,
}

impl Category {
    /// What the column of a level is called.
    pub fn column(name: &str, level: &str) -> String {
        format!("{name}={level}")
    }

    /// Its columns of the table.
    pub fn columns(&self) -> Range<usize> {
        self.first..self.first + self.levels.len()
    }

    /// The level that a row has, whose cells `cell` tells; none where it is missing.
    fn level(&self, cell: impl Fn(usize) -> f64) -> Option<&str> {
        self.columns().position(|j| cell(j) > 0.5).map(|place| self.levels[place].as_str())
    }

    /// Neighbouring columns that are called `name=level` with one name, and hold one 1 and else 0 in every row: what the store of a
    /// fit, whose columns are those of the model, has in place of a column of text.
    pub fn find(table: &Table) -> Vec<Category> {
        let part = |j: usize| table.columns.get(j).and_then(|name| name.split_once('='));
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

/// Whether every row holds one 1 and else 0 in some columns, or nothing at all.
fn holds_one(table: &Table, columns: &Range<usize>) -> bool {
    table.values.chunks_exact(table.columns.len()).all(|row| {
        let cells = &row[columns.clone()];
        let count = |wanted: f64| cells.iter().filter(|cell| **cell == wanted).count();
        cells.iter().all(|cell| cell.is_nan()) || count(1.0) == 1 && count(0.0) + 1 == cells.len()
    })
}

/// A column as the user has it: one of the table's, or those of a category.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// A column of numbers, by its place.
    Number(usize),
    /// A category, whose levels are columns.
    Category(&'a Category),
}

impl Table {
    /// The columns as the user has them.
    pub fn sources(&self) -> Vec<Source<'_>> {
        sources(self.columns.len(), &self.categories)
    }
}

impl Source<'_> {
    /// Its name, of the table that it is a column of.
    pub fn name<'a>(&'a self, table: &'a Table) -> &'a str {
        match self {
            Source::Number(j) => &table.columns[*j],
            Source::Category(category) => &category.name,
        }
    }

    /// Its cell in a row whose cells `cell` tells; empty where it is missing.
    pub fn text(&self, cell: impl Fn(usize) -> f64) -> String {
        match self {
            Source::Number(j) => crate::cells::number(cell(*j)),
            Source::Category(category) => category.level(cell).unwrap_or_default().to_string(),
        }
    }
}

/// `width` columns, some of which are those of categories, in their order.
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
    fn columns_of_levels_are_known_by_their_names_and_cells() {
        let mut own = table("a x=1 x=2 y=u y=v b", &[9., 0., 1., f64::NAN, f64::NAN, 9., 9., 1., 0., 0., 1., 9.]);
        own.categories = Category::find(&own);
        let names: Vec<String> = own.sources().iter().map(|s| s.name(&own).to_string()).collect();
        assert_eq!(names, ["a", "x", "y", "b"]);
        let row = |n: usize| own.sources().iter().map(|s| s.text(|j| own.values[6 * n + j])).collect::<Vec<_>>();
        assert_eq!(
            (row(0), row(1)),
            (vec!["9".into(), "2".into(), "".into(), "9".into()], vec!["9".into(), "1".into(), "v".into(), "9".into()])
        );
        // Two ones, a count, half a row, a single column: nothing but numbers.
        for values in [[1., 1.], [0., 2.], [f64::NAN, 1.], [0., 0.]] {
            assert!(Category::find(&table("x=1 x=2", &values)).is_empty());
        }
        assert!(Category::find(&table("x=1 y=2", &[1., 0.])).is_empty());
        assert!(Category::find(&table("a b", &[1., 0.])).is_empty());
    }
}
