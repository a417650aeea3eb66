//! How sure groups of rows are: with which group each row is found, and which rows lie between groups.

use super::grouping::Grouping;
use super::{Answer, Column};
use crate::drawn::Drawn;
use crate::error::Error;
use crate::fit::Fit;
use rflvm::internal::error::SpecError;
use rflvm::internal::linalg::Mat;
use rflvm::internal::posterior::fitted::DRAWS;

/// Default number of nearest rows.
pub const NEIGHBORS: usize = 15;
/// A row lies between groups if another is at least this fraction as probable as its own.
const BETWEEN: f64 = 0.5;
/// Most rows: all pairs are looked at in every draw.
const MOST: usize = 20_000;

/// Where a row is relative to its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// With its own group.
    Inside,
    /// Between its own group and another, which is at least half as probable.
    Boundary,
    /// Rather with another group.
    Elsewhere,
    /// It has no group.
    Unknown,
}

impl Standing {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Inside => "inside",
            Standing::Boundary => "boundary",
            Standing::Elsewhere => "elsewhere",
            Standing::Unknown => "",
        }
    }
}

/// With which groups the rows are found.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// The groups.
    pub groups: Grouping,
    /// The probability of each group (column) for each row.
    pub probabilities: Mat,
}

/// Of every row: how probable it is that one of its `k` nearest rows, chosen at random, belongs to each group.
pub fn groups(fit: &Fit, drawn: &Drawn, groups: Grouping, k: usize) -> Result<Confidence, Error> {
    if fit.model.rows() > MOST {
        let rule = format!("groups can be judged of at most {MOST} rows");
        return Err(SpecError::Setting { setting: "rows", value: format!("{} rows", fit.model.rows()), rule }.into());
    }
    let known = groups.of.iter().flatten().count();
    if !(1..known).contains(&k) {
        let rule = format!("{known} rows have a group, so that a row has 1 to {} neighbors", known - 1);
        return Err(SpecError::Setting { setting: "neighbors", value: k.to_string(), rule }.into());
    }
    let probabilities = drawn.fitted(fit, "groups").together(&groups.of, groups.names.len(), k, DRAWS)?;
    Ok(Confidence { groups, probabilities })
}

impl Confidence {
    /// The most probable group of a row besides its own.
    pub fn other(&self, row: usize) -> usize {
        let shares = self.probabilities.row(row);
        let others = (0..shares.len()).filter(|&g| self.groups.of[row] != Some(g));
        // The first of several.
        others.rev().max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0)
    }

    /// The probability of a row's own group; NaN without one.
    pub fn own(&self, row: usize) -> f64 {
        self.groups.of[row].map_or(f64::NAN, |group| self.probabilities[(row, group)])
    }

    /// Where a row is.
    pub fn standing(&self, row: usize) -> Standing {
        let (own, other) = (self.own(row), self.probabilities[(row, self.other(row))]);
        match () {
            () if own.is_nan() => Standing::Unknown,
            () if other > own => Standing::Elsewhere,
            () if other >= BETWEEN * own => Standing::Boundary,
            () => Standing::Inside,
        }
    }

    /// `row,group,probability,other,other_probability,standing`, and one column per group, `P(group)`.
    pub fn rows(&self, fit: &Fit) -> Answer {
        let rows = 0..self.groups.of.len();
        let name = |group: Option<usize>| group.map_or(String::new(), |group| self.groups.names[group].clone());
        let others: Vec<usize> = rows.clone().map(|n| self.other(n)).collect();
        let of_other = others.iter().zip(rows.clone()).map(|(&other, n)| self.probabilities[(n, other)]).collect();
        let mut columns = vec![
            Column::texts("row", fit.table.ids.clone()),
            Column::texts("group", self.groups.of.iter().map(|&group| name(group)).collect()),
            Column::numbers("probability", "fraction", rows.clone().map(|n| self.own(n)).collect()),
            Column::names("other", self.groups.names.clone(), others),
            Column::numbers("other_probability", "fraction", of_other),
            Column::texts("standing", rows.map(|n| self.standing(n).name().to_string()).collect()),
        ];
        for (g, name) in self.groups.names.iter().enumerate() {
            columns.push(Column::numbers(format!("P({name})"), "fraction", self.probabilities.col(g)));
        }
        Answer { columns }
    }

    /// `group,rows,confidence,boundary,elsewhere,nearest,nearest_probability`: of each group the mean probability of its rows, how many of them lie between
    /// groups or with another, and the other group with which they are found most.
    pub fn summary(&self) -> Answer {
        let mut columns: [Vec<f64>; 2] = Default::default();
        let mut counts: [Vec<usize>; 3] = Default::default();
        let mut nearest = Vec::new();
        for group in 0..self.groups.names.len() {
            let rows = self.groups.rows(group);
            let mean = |g: usize| rows.iter().map(|&n| self.probabilities[(n, g)]).sum::<f64>() / rows.len() as f64;
            let others = (0..self.groups.names.len()).filter(|&g| g != group).rev();
            let other = others.max_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap_or(0);
            let how_many = |standing| rows.iter().filter(|&&n| self.standing(n) == standing).count();
            counts[0].push(rows.len());
            counts[1].push(how_many(Standing::Boundary));
            counts[2].push(how_many(Standing::Elsewhere));
            columns[0].push(mean(group));
            columns[1].push(mean(other));
            nearest.push(other);
        }
        let ([confidence, of_nearest], [rows, boundary, elsewhere]) = (columns, counts);
        Answer {
            columns: vec![
                Column::texts("group", self.groups.names.clone()),
                Column::counts("rows", rows),
                Column::numbers("confidence", "fraction", confidence),
                Column::counts("boundary", boundary),
                Column::counts("elsewhere", elsewhere),
                Column::names("nearest", self.groups.names.clone(), nearest),
                Column::numbers("nearest_probability", "fraction", of_nearest),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_between_groups_is_told_from_one_that_is_elsewhere() {
        let texts = ["a", "a", "a", "b", "", "c"].map(String::from);
        let groups = Grouping::of(&texts).unwrap();
        #[rustfmt::skip]
        let probabilities = Mat::from_vec(6, 3, vec![
            0.9, 0.1, 0.0,
            0.6, 0.3, 0.1,
            0.2, 0.3, 0.5,
            0.1, 0.8, 0.1,
            0.4, 0.3, 0.3,
            0.5, 0.0, 0.5,
        ]);
        let found = Confidence { groups, probabilities };
        let standings: Vec<&str> = (0..6).map(|n| found.standing(n).name()).collect();
        assert_eq!(standings, ["inside", "boundary", "elsewhere", "inside", "", "boundary"]);
        assert_eq!((0..6).map(|n| found.other(n)).collect::<Vec<_>>(), [1, 1, 2, 0, 0, 0]);
        let summary = found.summary();
        assert_eq!(summary.numbers("confidence")[1..], [0.8, 0.5]);
        assert!((summary.numbers("confidence")[0] - 1.7 / 3.0).abs() < 1e-12);
        assert_eq!(summary.csv().lines().nth(1).unwrap().split(',').collect::<Vec<_>>()[..2], ["a", "3"]);
        assert_eq!(summary.columns[3].text(0) + &summary.columns[4].text(0), "11");
    }
}
