//! Which family suits a column, judged by its values.

use crate::seen::{Kind, Seen, compare};
use crate::table::Table;
use rflvm::internal::error::SpecError;
use rflvm::internal::model::Priors;
use rflvm::internal::model::family::{Censored, Family, MOST_LEVELS, Trials};
use rflvm::internal::spec;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Columns, and the family they share.
pub type Block = (Vec<usize>, Arc<dyn Family>);

/// The family that `auto` chooses for columns of text.
pub const OF_TEXT: &str = "multinomial";

/// Whether a family takes columns of text, one column per level.
pub fn takes_text(family: &str) -> bool {
    rflvm::internal::spec::about(family).is_ok_and(|about| about.cells.may_be_text())
}

/// The blocks of some columns of one family. Ordered levels have a block for each number of levels: that given as trials, or else the largest
/// level of the column.
pub fn blocks_of(
    family: &str,
    trials: Option<Trials>,
    columns: Vec<usize>,
    table: &Table,
    priors: &Priors,
) -> Result<Vec<Block>, SpecError> {
    if trials.is_some() || !spec::about(family)?.cells.are_levels() {
        return with_limits(columns, spec::family_with(family, trials, priors)?, table);
    }
    // Where this process has not read the cells, others have.
    let cells = |j: usize| table.values.iter().skip(j).step_by(table.columns.len()).copied().filter(|v| !v.is_nan());
    let top = |j: usize| table.seen.get(j).map_or_else(|| cells(j).fold(0.0, f64::max), |seen| seen.top);
    let mut by_levels: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for j in columns {
        let top = top(j).max(2.0);
        if top > f64::from(MOST_LEVELS) {
            let name = &table.columns[j];
            let rule = format!(
                "the column `{name}` has a level {top}, and {family} takes at most {MOST_LEVELS}; choose another family for it"
            );
            return Err(SpecError::Setting { setting: "likelihood", value: family.into(), rule });
        }
        by_levels.entry(top as u32).or_default().push(j);
    }
    let block = |(levels, columns)| Ok((columns, spec::family_with(family, Some(Trials::Same(levels)), priors)?));
    by_levels.into_iter().map(block).collect()
}

/// A family with the limits of those of its columns that have any, in a separate block.
fn with_limits(columns: Vec<usize>, family: Arc<dyn Family>, table: &Table) -> Result<Vec<Block>, SpecError> {
    let with: HashSet<usize> = table.limits.iter().map(|limit| limit.column).collect();
    let (limited, others): (Vec<usize>, Vec<usize>) = columns.into_iter().partition(|j| with.contains(j));
    let mut blocks = Vec::new();
    if let Some(limits) = table.limits_of(&limited) {
        let censored = Censored::of(family.as_ref(), limits).ok_or_else(|| {
            let first = table.limits.iter().find(|limit| limited.contains(&limit.column));
            let cell = first.map_or_else(String::new, |first| {
                let cell = table.values[first.row * table.columns.len() + first.column];
                format!("the column `{}` has cells such as {}", table.columns[first.column], first.text(cell))
            });
            let rule = format!("{cell}, which only gaussian and log-normal accept; choose one of them for it");
            SpecError::Setting { setting: "likelihood", value: family.name().into(), rule }
        })?;
        blocks.push((limited, censored));
    }
    if !others.is_empty() {
        blocks.push((others, family));
    }
    Ok(blocks)
}

/// In a table with this many columns, nearly all of whole numbers, all of these are counts.
const WIDE: usize = 10;
/// Counts with a larger variance over mean are not Poisson.
pub const OVERDISPERSED: f64 = 1.5;

/// Examines each column; of a table whose cells this process has not read, as others have seen them.
pub fn seen(table: &Table) -> Vec<Seen> {
    if !table.seen.is_empty() {
        return table.seen.clone();
    }
    let mut seen = examined(table);
    compare(&mut seen);
    mark(&mut seen, table);
    seen
}

/// Examines each column by itself.
pub(crate) fn examined(table: &Table) -> Vec<Seen> {
    let width = table.columns.len();
    let mut column = Vec::with_capacity(table.rows);
    let mut examine = |j: usize| {
        column.clear();
        column.extend(table.values.iter().skip(j).step_by(width).copied().filter(|v| !v.is_nan()));
        Seen::of(&column, table.rows)
    };
    (0..width).map(&mut examine).collect()
}

/// Marks columns whose kind the file tells.
pub(crate) fn mark(seen: &mut [Seen], table: &Table) {
    table.truths.iter().for_each(|&j| seen[j].kind = Kind::Truth);
    table.limits.iter().for_each(|limit| (seen[limit.column].kind, seen[limit.column].has_limits) = (Kind::Real, true));
    table.categories.iter().flat_map(|c| c.columns()).for_each(|j| seen[j].kind = Kind::Level);
}

/// The median of variance over mean, of columns that vary.
pub fn dispersion<'a>(seen: impl Iterator<Item = &'a Seen>) -> f64 {
    let mut ratios: Vec<f64> = seen.filter(|s| !s.is_constant).map(|s| s.dispersion).collect();
    ratios.retain(|ratio| ratio.is_finite());
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(1.0)
}

/// The family of each column. All counts share one family: judged separately, rare ones would seem less dispersed than they are.
pub fn suited(seen: &[Seen]) -> Vec<&'static str> {
    let count = |kind: Kind| seen.iter().filter(|s| s.kind == kind).count();
    let (counts, binary) = (count(Kind::Counts), count(Kind::Binary));
    // Where nearly all columns are counts, zeros and ones are rare counts rather than answers to yes/no questions.
    let amounts = if seen.len() >= WIDE { count(Kind::Amounts) } else { 0 };
    let is_table_of_counts = counts > 0 && 10 * (counts + binary + amounts) >= 9 * (seen.len() - count(Kind::Nothing));
    let is_count = |s: &&Seen| match s.kind {
        Kind::Counts => true,
        Kind::Binary => is_table_of_counts,
        Kind::Amounts => is_table_of_counts && amounts > 0,
        _ => false,
    };
    let of_counts =
        if dispersion(seen.iter().filter(is_count)) > OVERDISPERSED { "negative-binomial" } else { "poisson" };
    let family = |s: &Seen| match s.kind {
        // A laboratory's limits of detection are of amounts that differ by factors.
        _ if s.has_limits && s.is_positive => "log-normal",
        _ if is_count(&s) => of_counts,
        Kind::Truth | Kind::Binary => "bernoulli",
        Kind::Level => OF_TEXT,
        Kind::Scale => "ordinal",
        _ => "gaussian",
    };
    seen.iter().map(family).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(columns: &[&[f64]]) -> Vec<&'static str> {
        let rows = columns[0].len();
        suited(&columns.iter().map(|cells| Seen::of(cells, rows)).collect::<Vec<_>>())
    }

    #[test]
    fn each_column_has_the_family_of_its_values() {
        let (flags, few, many, reals) = ([0., 1., 1., 0.], [0., 1., 2., 1.], [0., 90., 3., 700.], [0.5, -2., 3., 1.]);
        assert_eq!(of(&[&flags, &flags]), ["bernoulli", "bernoulli"]);
        assert_eq!(of(&[&flags, &reals]), ["bernoulli", "gaussian"]);
        assert_eq!(of(&[&flags, &few, &reals]), ["bernoulli", "poisson", "gaussian"]);
        assert_eq!(of(&[&many, &many, &reals]), ["negative-binomial", "negative-binomial", "gaussian"]);
        // Zeros and ones among counts are counts.
        assert_eq!(of(&[&flags, &few]), ["poisson", "poisson"]);
    }

    #[test]
    fn whole_numbers_that_hardly_vary_are_not_counts_and_row_numbers_are_recognised() {
        let years: Vec<f64> = (0..100).map(|n| 1950.0 + f64::from(n * 37 % 60)).collect();
        assert_eq!(Seen::of(&years, 100).kind, Kind::Even);
        assert_eq!(Seen::of(&years[..4], 4).kind, Kind::Counts);
        let few: Vec<f64> = (0..60).map(|n| 2007.0 + f64::from(n % 3)).collect();
        assert_eq!(Seen::of(&few, 60).kind, Kind::Few);
        let ages: Vec<f64> = (0..60).map(|n| 18.0 + f64::from(n * 37 % 60)).collect();
        let incomes: Vec<f64> =
            (0..60).map(|n| if n == 7 { 0.0 } else { 1200.0 + f64::from(n * 3719 % 60_000) }).collect();
        assert_eq!((Seen::of(&ages, 60).kind, Seen::of(&incomes, 60).kind), (Kind::Amounts, Kind::Amounts));
        let visits: Vec<f64> = (0..60).map(|n| f64::from(n * n % 17)).collect();
        assert_eq!(Seen::of(&visits, 60).kind, Kind::Counts);
        assert_eq!(of(&[&ages, &incomes, &visits]), ["gaussian", "gaussian", "negative-binomial"]);
        let index: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(Seen::of(&index, 20).is_index && !Seen::of(&index, 21).is_index && !Seen::of(&index[..5], 5).is_index);
        assert!(Seen::of(&[3.0; 4], 4).is_constant && !Seen::of(&[], 4).is_constant);
    }

    #[test]
    fn answers_on_one_scale_have_one_family() {
        // Some vary like counts, and some less.
        let item = |k: u32| (0..80).map(move |n| f64::from(1 + (n * (2 * k + 3) + n * n * k) % (6 - k % 2)));
        let values: Vec<f64> = {
            let items: Vec<Vec<f64>> = (0..5).map(|k| item(k).collect()).collect();
            (0..80).flat_map(|n| items.iter().map(move |item| item[n])).collect()
        };
        let columns = (0..5).map(|k| format!("q{k}")).collect();
        let table = Table { columns, rows: 80, values, ..Table::default() };
        let seen = seen(&table);
        assert!(seen.iter().all(|s| s.kind == Kind::Scale), "{seen:?}");
        assert_eq!(suited(&seen), ["ordinal"; 5]);
    }

    #[test]
    fn a_lone_scale_is_known_by_its_answers() {
        let table = |cells: Vec<f64>| {
            let values = cells.iter().flat_map(|v| [*v, v.sin()]).collect();
            Table { columns: vec!["q".into(), "x".into()], rows: cells.len(), values, ..Table::default() }
        };
        let answers = |n: u32| [1.0, 2.0, 3.0, 3.0, 4.0, 3.0, 2.0, 3.0, 4.0, 5.0][n as usize % 10];
        assert_eq!(suited(&seen(&table((0..200).map(answers).collect()))), ["ordinal", "gaussian"]);
        // Without one of its levels, or with fewer than four, it may be anything.
        let gap = |n: u32| if answers(n) == 2.0 { 3.0 } else { answers(n) };
        assert_eq!(suited(&seen(&table((0..200).map(gap).collect()))), ["gaussian", "gaussian"]);
        let three = |n: u32| f64::from(1 + n % 3);
        assert_eq!(seen(&table((0..200).map(three).collect()))[0].kind, Kind::Few);
    }

    #[test]
    fn columns_of_levels_have_a_block_for_each_number_of_levels() {
        let columns = ["a", "b", "c"].map(String::from).to_vec();
        let table = Table { columns, rows: 2, values: vec![1.0, 7.0, 5.0, 5.0, f64::NAN, 2.0], ..Table::default() };
        let priors = Priors::default();
        let blocks = blocks_of("ordinal", None, vec![0, 1, 2], &table, &priors).unwrap();
        let levels: Vec<(Vec<usize>, usize)> = blocks.iter().map(|(c, family)| (c.clone(), family.levels())).collect();
        assert_eq!(levels, [(vec![0, 2], 5), (vec![1], 7)]);
        let given = blocks_of("ordinal", Some(Trials::Same(9)), vec![0, 1], &table, &priors).unwrap();
        assert_eq!((given.len(), given[0].1.levels()), (1, 9));
        assert_eq!(blocks_of("gaussian", None, vec![0, 1], &table, &priors).unwrap().len(), 1);
        let long = Table { values: vec![1.0, 70.0, 5.0, 5.0, 1.0, 2.0], ..table };
        let error = blocks_of("ordinal", None, vec![0, 1], &long, &priors).unwrap_err().to_string();
        assert!(error.contains("`b` has a level 70") && error.contains("at most 20"), "{error}");
    }
}
