//! Sets of categories in a table.

use crate::model::Model;
use crate::model::family::Law;
use std::ops::Range;

/// Columns that are the categories of one multinomial.
#[derive(Debug, Clone, PartialEq)]
pub struct Categories {
    /// Its number among the sets of all processes that share the table.
    pub number: usize,
    /// The columns.
    pub columns: Range<usize>,
    /// N_n of each row; NaN for missing ones.
    pub totals: Vec<f64>,
}

/// The sets of categories of a model.
pub fn of(model: &Model) -> Vec<Categories> {
    let sets = model.blocks().iter().filter(|block| Law::of(block.family.as_ref()) == Some(Law::Multinomial));
    // A set is never divided: another process has it.
    let own = sets.enumerate().filter(|(_, set)| !set.columns.is_empty());
    let total = |n: usize, columns: &Range<usize>| model.y().row(n)[columns.clone()].iter().sum();
    let totals = |columns: &Range<usize>| (0..model.rows()).map(|n| total(n, columns)).collect();
    own.map(|(number, set)| Categories { number, columns: set.columns.clone(), totals: totals(&set.columns) }).collect()
}
