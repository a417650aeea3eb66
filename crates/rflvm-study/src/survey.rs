//! What the columns of a table hold, where no process reads them all: each looks at a share of them, and all learn what each has found. A column is
//! seen whole by one process, so that its kind and its levels are those that one process alone would find.

use crate::blocks::{find_categories, group};
use crate::column_families::ColumnFamilies;
use crate::config::Config;
use crate::error::Error;
use crate::families::{examined, mark};
use crate::seen::{Seen, compare};
use crate::table::{Category, Limit, Table, check_names, is_text};
use crate::told;
use rflvm::internal::model::family::Cells;
use rflvm::internal::ranks::Ranks;
use rflvm::internal::spec;
use std::ops::Range;
use std::path::Path;

/// Whether what some column is depends on its cells: its family, its levels, or whether some of them are limits.
pub(crate) fn is_needed(config: &Config, path: &Path) -> bool {
    let depends = |cells: Cells, has_trials: bool| cells.may_be_text() || cells.are_levels() && !has_trials;
    let families = match (&config.blocks, &config.likelihood) {
        // A list that cannot be read is reported where it is used.
        (Some(path), _) => ColumnFamilies::read(path).is_ok_and(|list| list.any(depends)),
        (None, Some(name)) => spec::about(name).is_ok_and(|about| depends(about.cells, config.trials.is_some())),
        (None, None) => false,
    };
    config.is_auto() || families || is_text(path)
}

/// Completes an outline, whose columns are those of the file. `read` reads some of them, which a store has by level.
pub(crate) fn complete(
    outline: &mut Table,
    config: &Config,
    is_store: bool,
    ranks: &dyn Ranks,
    read: impl FnOnce(Vec<String>) -> Result<Table, Error>,
) -> Result<(), Error> {
    let own = share(&outline.columns, ranks.rank(), ranks.size());
    let read = if own.is_empty() { Ok(Table::default()) } else { read(outline.columns[own].to_vec()) };
    let mut table = told::lowest(ranks, read)?;
    if is_store {
        find_categories(config, &mut table);
    }
    if config.is_auto() {
        // Answers on a scale are known by how many columns have them.
        let parts = told::all(ranks, &examined(&table))?;
        let before: usize = parts[..ranks.rank()].iter().map(Vec::len).sum();
        let mut all = parts.concat();
        compare(&mut all);
        let mut own = all[before..before + table.columns.len()].to_vec();
        mark(&mut own, &table);
        group(&mut table, &own);
    }
    let seen = examined(&table);
    // Only what is found travels.
    let Table { columns, categories, truths, limits, .. } = table;
    let parts: Vec<Found> = told::all(ranks, &(columns, categories, truths, limits, seen))?;
    outline.columns.clear();
    let mut all = Vec::new();
    for (columns, categories, truths, limits, seen) in parts {
        let first = outline.columns.len();
        outline.columns.extend(columns);
        outline.categories.extend(categories.into_iter().map(|c| Category { first: first + c.first, ..c }));
        outline.truths.extend(truths.into_iter().map(|j| first + j));
        outline.limits.extend(limits.into_iter().map(|limit| Limit { column: first + limit.column, ..limit }));
        all.extend(seen);
    }
    compare(&mut all);
    mark(&mut all, outline);
    outline.seen = all;
    Ok(check_names(&outline.path, &outline.columns)?)
}

/// Columns, categories, columns of words for yes and no, limits, and what each column holds.
type Found = (Vec<String>, Vec<Category>, Vec<usize>, Vec<Limit>, Vec<Seen>);

/// The columns at which a process looks. Neighbours named `name=level` stay together: they may be the levels of one category.
fn share(names: &[String], rank: usize, size: usize) -> Range<usize> {
    let name = |j: usize| names.get(j).and_then(|name| name.split_once('=')).map(|(name, _)| name);
    let begin = |rank: usize| {
        let place = rank * names.len() / size;
        let is_cut = |&j: &usize| j > 0 && name(j).is_some() && name(j) == name(j - 1);
        (place..).find(|j| !is_cut(j)).unwrap_or(place)
    };
    begin(rank)..begin(rank + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_hold_every_column_once_and_do_not_cut_levels() {
        let names: Vec<String> = "a b=1 b=2 b=3 c d=x d=y e".split(' ').map(String::from).collect();
        for size in 1..10 {
            let shares: Vec<Range<usize>> = (0..size).map(|rank| share(&names, rank, size)).collect();
            assert!(shares[0].start == 0 && shares[size - 1].end == names.len(), "{shares:?}");
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start), "{shares:?}");
            assert!(shares.iter().all(|share| ![2, 3, 6].contains(&share.start)), "{shares:?}");
        }
    }
}
