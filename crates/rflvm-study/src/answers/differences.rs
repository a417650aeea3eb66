//! What differs between groups of rows: columns by their differences, with the rate of false discoveries at which each is listed.

use super::grouping::Grouping;
use super::{Answer, Column, OF_COLUMN, OF_LINK};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::SpecError;
use rflvm::internal::posterior::differences::{Contrast, Difference, Groups, adjusted, ranked};
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
    /// Only the list of each comparison at this rate of false discoveries.
    pub level: Option<f64>,
}

/// The columns of one comparison, first the one whose difference is at least the largest.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The group.
    pub group: String,
    /// The group with which it is compared; `rest` for all others.
    pub against: String,
    /// Columns of the table, with their differences.
    pub columns: Vec<(usize, Difference)>,
    /// The least rate of false discoveries at which each is listed.
    pub rates: Vec<f64>,
}

impl Compared {
    /// The columns of the list at a level.
    pub fn listed(&self, level: f64) -> impl Iterator<Item = usize> {
        self.columns.iter().zip(&self.rates).filter(move |(_, rate)| **rate <= level).map(|((column, _), _)| *column)
    }
}

/// Every comparison.
pub fn differences(fit: &Fit, drawn: &Drawn, asked: &Asked) -> Result<Vec<Compared>, Error> {
    check("size", asked.size, asked.size >= 0.0 && asked.size.is_finite(), "a size is a number from 0")?;
    let level = asked.level.unwrap_or(LEVEL);
    check("fdr", level, level > 0.0 && level < 1.0, "a false discovery rate lies between 0 and 1, such as 0.05")?;
    let groups = &asked.groups;
    let contrasts: Vec<Contrast> = match asked.between {
        Some([of, against]) => vec![Contrast { of, against: Some(against) }],
        None => (0..groups.names.len()).map(|of| Contrast { of, against: None }).collect(),
    };
    let of = Groups { of: &groups.of, count: groups.names.len() };
    let names = |contrast: &Contrast| {
        let against = contrast.against.map_or("rest", |against| &groups.names[against]);
        (groups.names[contrast.of].clone(), against.to_string())
    };
    if let Some(told) = contrasts.iter().find(|contrast| !of.are_apart_from_covariates(&fit.model, contrast)) {
        let (a, b) = names(told);
        let rule = "covariates of the fit tell these groups apart, so that no difference is free of them; group the rows otherwise, or fit without \
                    that covariate";
        return Err(
            SpecError::Setting { setting: "groups", value: format!("{a} against {b}"), rule: rule.into() }.into()
        );
    }
    let sizes: Vec<f64> = fit.model.units().iter().map(|unit| asked.size * unit.scale).collect();
    let offset = fit.mean_offset().unwrap_or(0.0);
    let found = drawn.fitted(fit, "differences").differences(of, &contrasts, &sizes, offset, DRAWS)?;
    let places = fit.places();
    let units: Vec<f64> = places.iter().map(|&place| fit.model.units()[place].scale).collect();
    let one = |(contrast, found): (&Contrast, Vec<Difference>)| {
        let own: Vec<Difference> = places.iter().map(|&place| found[place]).collect();
        let rates = adjusted(&own.iter().map(|difference| difference.p_value).collect::<Vec<_>>());
        let mut order = ranked(&own, &units);
        order.retain(|&column| asked.level.is_none_or(|level| rates[column] <= level));
        let (group, against) = names(contrast);
        let rates = order.iter().map(|&column| rates[column]).collect();
        Compared { group, against, columns: order.into_iter().map(|column| (column, own[column])).collect(), rates }
    };
    Ok(contrasts.iter().zip(found).map(one).collect())
}

fn check(setting: &'static str, value: f64, is_right: bool, rule: &str) -> Result<(), SpecError> {
    if is_right { Ok(()) } else { Err(SpecError::Setting { setting, value: value.to_string(), rule: rule.into() }) }
}

/// `group,against,column,difference,sd,q05,q95,direction,p_value,fdr,mean,mean_against,data_difference,data_sd,data_q05,data_q95`.
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
            numbers("p_value", "fraction", &|d| d.p_value),
            Column::numbers("fdr", "fraction", compared.iter().flat_map(|c| c.rates.clone()).collect()),
            numbers("mean", OF_COLUMN, &|d| d.means[0]),
            numbers("mean_against", OF_COLUMN, &|d| d.means[1]),
            numbers("data_difference", OF_COLUMN, &|d| d.cells.mean),
            numbers("data_sd", OF_COLUMN, &|d| d.cells.sd),
            numbers("data_q05", OF_COLUMN, &|d| d.cells.quantiles[0]),
            numbers("data_q95", OF_COLUMN, &|d| d.cells.quantiles[1]),
        ],
    }
}
