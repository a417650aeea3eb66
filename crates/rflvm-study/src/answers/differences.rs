//! What differs between groups of rows: columns by their differences, with the expected share of false discoveries of the list.

use super::grouping::Grouping;
use super::{Answer, Column, OF_COLUMN, OF_LINK};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::differences::{Contrast, Difference, ranked};
use rflvm::internal::posterior::fitted::DRAWS;

/// Default size of a difference that is worth mentioning.
pub const SIZE: f64 = 0.25;
/// Default level of the lists that are counted.
pub const LEVEL: f64 = 0.05;

/// What to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The groups.
    pub groups: Grouping,
    /// Two of them; otherwise each is compared with all others together.
    pub between: Option<[usize; 2]>,
    /// Differences up to this size do not count: on the scale of the link, of columns of real numbers in their standard deviations.
    pub size: f64,
    /// Only the list of each comparison whose expected share of false discoveries is at most this.
    pub level: Option<f64>,
}

/// The columns of one comparison, the most probable difference first.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The group.
    pub group: String,
    /// The group with which it is compared; `rest` for all others.
    pub against: String,
    /// Columns of the table, with their differences.
    pub columns: Vec<(usize, Difference)>,
    /// The expected share of false discoveries among the columns up to each.
    pub expected: Vec<f64>,
}

impl Compared {
    /// Number of columns of the longest list at a level.
    pub fn listed(&self, level: f64) -> usize {
        self.expected.iter().rposition(|expected| *expected <= level).map_or(0, |last| last + 1)
    }
}

/// Every comparison.
pub fn differences(fit: &Fit, drawn: &Drawn, asked: &Asked) -> Result<Vec<Compared>, Error> {
    check("size", asked.size, asked.size >= 0.0 && asked.size.is_finite(), "a size is a number from 0")?;
    let level = asked.level.unwrap_or(LEVEL);
    check("fdr", level, level > 0.0 && level < 1.0, "a false discovery rate lies between 0 and 1, such as 0.05")?;
    let groups = &asked.groups;
    let (pairs, contrasts): (Vec<_>, Vec<Contrast>) = match asked.between {
        Some([a, b]) => {
            let names = (groups.names[a].clone(), groups.names[b].clone());
            (vec![names], vec![Contrast { of: groups.rows(a), against: groups.rows(b) }])
        }
        None => (0..groups.names.len())
            .map(|a| {
                let names = (groups.names[a].clone(), "rest".to_string());
                (names, Contrast { of: groups.rows(a), against: groups.others(a) })
            })
            .unzip(),
    };
    let sizes: Vec<f64> = fit.model.units().iter().map(|unit| asked.size * unit.scale).collect();
    let offset = fit.mean_offset().unwrap_or(0.0);
    let found = drawn.fitted(fit, "differences").differences(&contrasts, &sizes, offset, DRAWS)?;
    let places = fit.places();
    let one = |((group, against), of): ((String, String), Vec<Difference>)| {
        let own: Vec<Difference> = places.iter().map(|&place| of[place]).collect();
        let units: Vec<f64> = places.iter().map(|&place| fit.model.units()[place].scale).collect();
        let (order, expected) = ranked(&own, &units);
        let columns = order.into_iter().map(|column| (column, own[column])).collect();
        let mut compared = Compared { group, against, columns, expected };
        if let Some(level) = asked.level {
            let listed = compared.listed(level);
            compared.columns.truncate(listed);
            compared.expected.truncate(listed);
        }
        compared
    };
    Ok(pairs.into_iter().zip(found).map(one).collect())
}

fn check(setting: &'static str, value: f64, is_right: bool, rule: &str) -> Result<(), SpecError> {
    if is_right { Ok(()) } else { Err(SpecError::Setting { setting, value: value.to_string(), rule: rule.into() }) }
}

/// `group,against,column,difference,sd,q05,q95,direction,probability,expected_fdr,mean,mean_against,data_difference,data_sd,data_q05,data_q95`.
pub fn columns(fit: &Fit, compared: &[Compared]) -> Answer {
    let lines = || compared.iter().flat_map(|c| c.columns.iter().map(move |line| (c, line)));
    let texts =
        |name: &str, of: &dyn Fn(&Compared) -> String| Column::texts(name, lines().map(|(c, _)| of(c)).collect());
    let numbers = |name: &str, unit, of: &dyn Fn(&Difference) -> f64| {
        Column::numbers(name, unit, lines().map(|(_, (_, difference))| of(difference)).collect())
    };
    Answer {
        columns: vec![
            texts("group", &|c| c.group.clone()),
            texts("against", &|c| c.against.clone()),
            Column::names("column", fit.table.columns.clone(), lines().map(|(_, (column, _))| *column).collect()),
            numbers("difference", OF_LINK, &|d| d.link.mean),
            numbers("sd", OF_LINK, &|d| d.link.sd),
            numbers("q05", OF_LINK, &|d| d.link.quantiles[0]),
            numbers("q95", OF_LINK, &|d| d.link.quantiles[1]),
            numbers("direction", "fraction", &|d| d.link.direction()),
            numbers("probability", "fraction", &|d| d.probability),
            Column::numbers("expected_fdr", "fraction", compared.iter().flat_map(|c| c.expected.clone()).collect()),
            numbers("mean", OF_COLUMN, &|d| d.means[0]),
            numbers("mean_against", OF_COLUMN, &|d| d.means[1]),
            numbers("data_difference", OF_COLUMN, &|d| d.cells.mean),
            numbers("data_sd", OF_COLUMN, &|d| d.cells.sd),
            numbers("data_q05", OF_COLUMN, &|d| d.cells.quantiles[0]),
            numbers("data_q95", OF_COLUMN, &|d| d.cells.quantiles[1]),
        ],
    }
}
